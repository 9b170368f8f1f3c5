"""HTTP as a transport."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from aiohttp import ClientResponse, ClientSession, ClientTimeout

from service import __version__
from service.sources.fetch_errors import unavailable
from service.sources.origin_validators import conditions, fingerprint
from service.sources.source import Unavailable
from service.sources.transport import CutOff, RemoteFile

_HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": f"store-directory/{__version__}"}
# An hour is enough for two gigabytes at 5 Mbit/s, but an origin that trickles bytes is left.
_TIMEOUT: Final = ClientTimeout(total=3600, sock_connect=10, sock_read=30)


class HttpTransport:
    """GET requests for one URL, with conditions."""

    def __init__(self, url: str, *, timeout: ClientTimeout = _TIMEOUT) -> None:
        self._url, self._timeout = url, timeout

    @asynccontextmanager
    async def get(self, known: str) -> AsyncIterator[RemoteFile | None]:
        """Request the file once; see `Transport`."""
        async with ClientSession(
            trust_env=True, auto_decompress=False, timeout=self._timeout, headers=_HEADERS
        ) as session:
            with unavailable():
                response = await session.get(self._url, headers=conditions(known))
            async with response:
                yield None if _is_unchanged(response, known) else _remote_file(response)


def _is_unchanged(response: ClientResponse, known: str) -> bool:
    """Return whether the file is still `known`. An origin that ignores conditions sends it with its fingerprint."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return bool(conditions(known))
    return response.status == HTTPStatus.OK and known != "" and fingerprint(response.headers) == known


def _remote_file(response: ClientResponse) -> RemoteFile:
    if response.status != HTTPStatus.OK:
        raise Unavailable(_status_line(response.status))
    is_chunked = "chunked" in response.headers.get("Transfer-Encoding", "")
    length = response.content_length

    async def read() -> bytes:
        with unavailable(CutOff):
            return await response.content.readany()

    return RemoteFile(fingerprint(response.headers), length, is_chunked or length is not None, read)


def _status_line(status: int) -> str:
    """Return a status and its standard phrase: the phrase of the origin could quote the URL."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status}"
