"""A transport: a request for a remote file, over HTTP or from an object store, its response, and receiving its body."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from io import FileIO
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec
from aiohttp import ClientResponse, ClientSession, ClientTimeout

from service import __version__
from service.baking.layout import ArrivingFile
from service.files import CompressionError, Decompressor
from service.publishing.failures import failures
from service.publishing.object_store import open_store, parse_object_url
from service.publishing.source import Unavailable, run_to_end
from service.texts import status_line

if TYPE_CHECKING:
    from obstore import GetResult


class CutOff(Unavailable):
    """The body of a response ended early, or takes too long. Another attempt may succeed."""


class Undecodable(CutOff):
    """The body of a response is compressed, and damaged or truncated."""


class RemoteFile(msgspec.Struct, frozen=True):
    """A response with the whole file.

    fingerprint  by the validators of the origin; "" if it sent none
    length       of the body in bytes, if the origin sent it
    is_framed    whether the body has an end of its own, which a broken connection does not look like
    read         returns the next piece of the body, b"" at its end; raises `CutOff`
    coding       what was decompressed already: "gz", "zst" or ""
    """

    fingerprint: str
    length: int | None
    is_framed: bool
    read: Callable[[], Awaitable[bytes]]
    coding: str = ""

    def decompressed(self, coding: str) -> "RemoteFile":
        """Return the response with what is in its body, whose length is not known; `read` raises `Undecodable`."""
        decompressor = Decompressor(coding)
        parts = decompressor.parts(b"")

        async def read() -> bytes:
            nonlocal parts
            try:
                while not (part := await run_to_end(next, parts, b"")):
                    if not (piece := await self.read()):
                        decompressor.end()
                        break
                    parts = decompressor.parts(piece)
            except CompressionError as error:
                raise (Undecodable if self.is_framed else CutOff)(str(error)) from None
            return part

        return RemoteFile(self.fingerprint, None, self.is_framed, read, coding)


class Transport(Protocol):
    """How a remote file is requested."""

    def get(self, known: str, name: str = "") -> AbstractAsyncContextManager[RemoteFile | None]:
        """Request the file at the URL, or one in the folder at the URL by its name; once.

        Return None if its fingerprint is still `known`. Raises `Unavailable`, without secrets.
        """


# An entity tag (RFC 9110, section 8.8.3), but ASCII only: not every library passes other bytes on unchanged. Bounded,
# as the name of the last good copy has the fingerprint.
_ENTITY_TAG: Final = re.compile(r'(W/)?"[!#-~]{0,100}"')
_LAST_MODIFIED: Final = "last-modified: "
_DATE: Final = re.compile(r"[ -~]{1,60}")


def fingerprint(headers: Mapping[str, str]) -> str:
    """Return the fingerprint in response headers: the entity tag, else Last-Modified, else ""."""
    tag, modified = headers.get("ETag", ""), headers.get("Last-Modified", "")
    if _ENTITY_TAG.fullmatch(tag):
        return tag
    return _LAST_MODIFIED + modified if _DATE.fullmatch(modified) else ""


def conditions(known: str) -> dict[str, str]:
    """Return the request headers for a file unless its fingerprint is `known` (RFC 9110, section 13.1), if any."""
    if _ENTITY_TAG.fullmatch(known):
        return {"If-None-Match": known}
    modified = known.removeprefix(_LAST_MODIFIED)
    return {"If-Modified-Since": modified} if modified != known and _DATE.fullmatch(modified) else {}


_HEADERS: Final = {"User-Agent": f"store-directory/{__version__}"}
# By the tokens of content codings (RFC 9110, section 8.4.1).
_CODINGS: Final = {"zstd": "zst", "gzip": "gz", "x-gzip": "gz", "identity": "", "": ""}
# An hour is enough for two gigabytes at 5 Mbit/s, but an origin that trickles bytes is left.
_TIMEOUT: Final = ClientTimeout(total=3600, sock_connect=10, sock_read=30)


class HttpTransport:
    """GET requests for one URL, or for files in the folder at it, with conditions."""

    def __init__(self, url: str, *, timeout: ClientTimeout = _TIMEOUT) -> None:
        self._url, self._timeout = url, timeout

    @asynccontextmanager
    async def get(self, known: str, name: str = "") -> AsyncIterator[RemoteFile | None]:
        """Request a file once; see `Transport`."""
        scheme, host, path, query, fragment = urlsplit(self._url)
        url = urlunsplit((scheme, host, path + quote(name, safe=""), query, fragment)) if name else self._url
        headers = {"Accept-Encoding": "identity" if name else "zstd, gzip", **conditions(known)}
        async with ClientSession(
            trust_env=True, auto_decompress=False, timeout=self._timeout, headers=_HEADERS
        ) as session:
            with failures("http"):
                response = await session.get(url, headers=headers)
            async with response:
                yield None if _is_unchanged(response, known) else _http_file(response)


def _is_unchanged(response: ClientResponse, known: str) -> bool:
    """Return whether the file is still `known`. An origin that ignores conditions sends it with its fingerprint."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return bool(conditions(known))
    return response.status == HTTPStatus.OK and known != "" and fingerprint(response.headers) == known


def _http_file(response: ClientResponse) -> RemoteFile:
    if response.status != HTTPStatus.OK:
        raise Unavailable(status_line(response.status))
    if (coding := _CODINGS.get(response.headers.get("Content-Encoding", "").strip().lower())) is None:
        raise Unavailable("the response has a content coding that was not asked for")
    is_chunked = "chunked" in response.headers.get("Transfer-Encoding", "")
    length = response.content_length

    async def read() -> bytes:
        with failures("http", CutOff):
            return await response.content.readany()

    remote = RemoteFile(fingerprint(response.headers), length, is_chunked or length is not None, read)
    return remote.decompressed(coding) if coding else remote


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
        with failures(self._url.scheme):
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
            with failures(self._url.scheme, CutOff):
                return bytes(await anext(pieces, b""))

        return RemoteFile(received, result.meta["size"], is_framed=True, read=read)


def open_transport(url: str) -> Transport:
    """Return the transport for a URL. Raises ValueError, without secrets; see `ObjectTransport`."""
    return HttpTransport(url) if url[:4].lower() == "http" else ObjectTransport(url)


async def receive(
    remote: RemoteFile, file: FileIO, progress: Callable[[int, int], None], *, is_baked: bool = False
) -> None:
    """Write the body into an empty file, if the disk has room for it.

    Raises `DamagedFile` as soon as it cannot be a baked file though it should be one, or has another length than in its
    header; `CutOff`, OSError.
    """
    arriving = ArrivingFile(file, remote.length, is_baked=is_baked)
    while piece := await remote.read():
        await run_to_end(arriving.write, piece)
        progress(arriving.received, max(arriving.received, arriving.length or 0))
    if not remote.is_framed and arriving.received < (arriving.length or 0):
        raise CutOff("the response was cut off")


async def receive_whole(remote: RemoteFile, most: int) -> bytes:
    """Return the body. Raises `Unavailable` if it has more than so many bytes."""
    content = bytearray()
    while piece := await remote.read():
        content.extend(piece)
        if len(content) > most:
            raise Unavailable(f"the file has more than {most:,} bytes")
    return bytes(content)
