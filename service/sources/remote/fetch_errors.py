"""Reasons of failed fetches, in one line. The messages of libraries may quote a URL with its secrets."""

import os
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientHttpProxyError,
    ClientPayloadError,
    ClientResponseError,
    ConnectionTimeoutError,
    InvalidURL,
    RedirectClientError,
    ServerDisconnectedError,
    TooManyRedirects,
)

from service.sources.source import Unavailable

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
