"""HTTP as a transport."""

import os
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientHttpProxyError,
    ClientPayloadError,
    ClientResponse,
    ClientResponseError,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    InvalidURL,
    RedirectClientError,
    ServerDisconnectedError,
    TooManyRedirects,
)

from service import __version__
from service.publishing.source import Unavailable
from service.publishing.transport import CutOff, RemoteFile, conditions, fingerprint
from service.texts import status_line

# The first match counts.
_REASONS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (TooManyRedirects, "too many redirects"),
    (RedirectClientError, "it redirects to a URL that is not http or https"),
    (InvalidURL, "the URL is not valid"),
    (ClientHttpProxyError, "cannot connect: the proxy refused"),
    (ClientResponseError, "the response is not valid HTTP"),
    (ConnectionTimeoutError, "cannot connect: timed out"),
    (TimeoutError, "timed out"),
    (ServerDisconnectedError, "the connection was closed without a response"),
    (ClientPayloadError, "the response was cut off"),
)


@contextmanager
def unavailable(kind: type[Unavailable] = Unavailable) -> Iterator[None]:
    """Raise `Unavailable`, or a kind of it, for every error of the connection to an origin."""
    try:
        yield
    except (ClientError, OSError, ValueError) as error:
        raise kind(_reason(error)) from None


def _reason(error: Exception) -> str:
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, ClientConnectorCertificateError):
        return f"cannot connect: {_cause(error.certificate_error)}"
    if isinstance(error, ClientConnectorError):
        return f"cannot connect: {_cause(error.os_error)}"
    return _cause(error)


def _cause(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason}"
    if isinstance(error, socket.gaierror):
        return f"{error.strerror}"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno)
    return f"the request failed ({type(error).__name__})"


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
