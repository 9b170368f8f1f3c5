"""HTTP as a transport."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from aiohttp import ClientResponse, ClientSession, ClientTimeout

from service import __version__
from service.sources.remote.fetch_errors import unavailable
from service.sources.remote.origin_validators import conditions, fingerprint
from service.sources.remote.transport import CutOff, RemoteFile
from service.sources.source import Unavailable
from service.texts import status_line

_HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": f"store-directory/{__version__}"}
# An hour is enough for two gigabytes at 5 Mbit/s, but an origin that trickles bytes is left.
_TIMEOUT: Final = ClientTimeout(total=3600, sock_connect=10, sock_read=30)


class HttpTransport:
    """GET requests for one URL, or for files in the folder at it, with conditions."""

    def __init__(self, url: str, *, timeout: ClientTimeout = _TIMEOUT) -> None:
        self._url, self._timeout = url, timeout

    @asynccontextmanager
    async def get(self, known: str, name: str = "") -> AsyncIterator[RemoteFile | None]:
        """Request a file once; see `Transport`."""
        async with ClientSession(
            trust_env=True, auto_decompress=False, timeout=self._timeout, headers=_HEADERS
        ) as session:
            with unavailable():
                response = await session.get(self._url_of(name), headers=conditions(known))
            async with response:
                yield None if _is_unchanged(response, known) else _remote_file(response)

    def _url_of(self, name: str) -> str:
        scheme, host, path, query, fragment = urlsplit(self._url)
        return urlunsplit((scheme, host, path + quote(name, safe=""), query, fragment)) if name else self._url


def _is_unchanged(response: ClientResponse, known: str) -> bool:
    """Return whether the file is still `known`. An origin that ignores conditions sends it with its fingerprint."""
    if response.status == HTTPStatus.NOT_MODIFIED:
        return bool(conditions(known))
    return response.status == HTTPStatus.OK and known != "" and fingerprint(response.headers) == known


def _remote_file(response: ClientResponse) -> RemoteFile:
    if response.status != HTTPStatus.OK:
        raise Unavailable(status_line(response.status))
    is_chunked = "chunked" in response.headers.get("Transfer-Encoding", "")
    length = response.content_length

    async def read() -> bytes:
        with unavailable(CutOff):
            return await response.content.readany()

    return RemoteFile(fingerprint(response.headers), length, is_chunked or length is not None, read)
