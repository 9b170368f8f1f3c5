"""An object store as a transport."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from service.object_stores.object_store import open_store
from service.object_stores.object_url import parse_object_url
from service.object_stores.store_errors import store_errors
from service.sources.remote.origin_validators import conditions, fingerprint
from service.sources.remote.transport import CutOff, RemoteFile
from service.sources.source import Unavailable

if TYPE_CHECKING:
    from obstore import GetResult

_PIECE: Final = 1 << 18  # bytes


class ObjectTransport:
    """GET requests for one object, or for those in a folder, with conditions.

    Raises ValueError, without secrets, for a URL or settings in the environment that are not valid. Neither the
    client's own attempts nor its ranges are used: what continues a broken response may be of another object.
    """

    def __init__(self, url: str, settings: Mapping[str, str] = {}) -> None:
        self._url = parse_object_url(url)
        self._store = open_store(self._url, settings)

    @asynccontextmanager
    async def get(self, known: str, name: str = "") -> AsyncIterator[RemoteFile | None]:
        """Request an object once; see `Transport`."""
        from obstore.exceptions import NotModifiedError  # noqa: PLC0415 - an extra

        tag = conditions(known).get("If-None-Match")
        with store_errors(self._url.scheme, Unavailable):
            try:
                key = self._url.key + name
                result = await self._store.get_async(key, options={"if_none_match": tag} if tag else None)
            except NotModifiedError:
                if not tag:
                    raise
                result = None
        yield None if result is None else self._remote_file(result, known)

    def _remote_file(self, result: "GetResult", known: str) -> RemoteFile | None:
        """Return the response; None if a store that ignores conditions has sent what is known."""
        received = fingerprint({"ETag": result.meta["e_tag"] or ""})
        if known and received == known:
            return None
        pieces = aiter(result.stream(_PIECE))

        async def read() -> bytes:
            with store_errors(self._url.scheme, CutOff):
                return bytes(await anext(pieces, b""))

        return RemoteFile(received, result.meta["size"], is_framed=True, read=read)
