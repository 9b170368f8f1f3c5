"""Why a request to an origin or an object store failed: one table for both clients, aiohttp and obstore."""

import os
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from service.publishing.source import Unavailable
from service.texts import status_line

# What the operator must set, by scheme.
_CREDENTIALS: Final = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS",
    "az": "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
PREFIXES: Final = {"s3": "AWS", "gs": "GOOGLE", "az": "AZURE"}
# The reason by the code in the response of a store, by the name of an exception, or of one that it is a kind of.
_REASONS: Final = {
    "NoSuchBucket": "the bucket does not exist",
    "ContainerNotFound": "the container does not exist",
    "InvalidAccessKeyId": "the access key is unknown",
    "SignatureDoesNotMatch": "the secret key is wrong",
    "AuthenticationFailed": "the credentials are wrong",
    "ExpiredToken": "the credentials have expired",
    "InvalidToken": "the session token is wrong",
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    "PermanentRedirect": "the bucket is in another region: set AWS_REGION",
    "AuthorizationHeaderMalformed": "the bucket is in another region: set AWS_REGION",
    "FileNotFoundError": "there is no such object",
    "PermissionDeniedError": "access denied",
    "UnauthenticatedError": "access denied: the credentials are missing or wrong",
    "PanicException": "the client failed",  # not an Exception
    "TooManyRedirects": "too many redirects",
    "RedirectClientError": "it redirects to a URL that is not http or https",
    "InvalidUrlRedirectClientError": "it redirects to a URL that is not http or https",
    "InvalidURL": "the URL is not valid",
    "ClientHttpProxyError": "cannot connect: the proxy refused",
    "ClientResponseError": "the response is not valid HTTP",
    "ConnectionTimeoutError": "cannot connect: timed out",
    "TimeoutError": "timed out",
    "ServerDisconnectedError": "the connection was closed without a response",
    "ClientPayloadError": "the response was cut off",
}
# What is in the message of obstore, and the reason; the first match counts. Most is how Rust shows a value.
_PATTERNS: Final = (
    (r"BadScheme", "the endpoint is not https: set {prefix}_ALLOW_HTTP=true to allow that"),
    (r"MissingAccount", "no account: set AZURE_STORAGE_ACCOUNT_NAME"),
    (r"169\.254\.|/latest/api/token|performing token request|Missing\w*Key|OpenCredentials", "{credentials}"),
    (r"TimedOut|kind: Timeout", "timed out"),
    (r"dns error", "cannot connect: the name of the host is unknown"),
    (
        r"certificate|InvalidContentType|CorruptMessage",
        "cannot connect: TLS failed, such as for an unknown certificate",
    ),
    (r"kind: Connect,[\s\S]*Os \{\s*code: (?P<errno>\d+)", "cannot connect: {errno}"),
    (r"Os \{\s*code: (?P<errno>\d+)", "{errno}"),
    (r"request or response body error", "the response was cut off"),
    (r"IncompleteMessage", "the connection was closed without a response"),
    (r"Header missing|Parse\(", "the response is not that of an object store"),
    (r"BareRedirect", "it redirects to nowhere: the endpoint or the region is wrong"),
    (r"Status \{\s*status: (?P<status>\d+)", "{status}"),
)


@contextmanager
def failures(
    scheme: str, kind: type[Exception] = Unavailable, *, otherwise: str = "the request failed"
) -> Iterator[None]:
    """Raise `Unavailable`, or another kind, for every error of a client; with `otherwise` if it is new."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ in _REASONS:
            raise kind(_reason(error, scheme) or f"{otherwise} ({type(error).__name__})") from None
        raise


def _reason(error: BaseException, scheme: str) -> str | None:
    """Return the reason, without the texts of the client, which may have secrets."""
    for name in (*re.findall(r"<Code>(\w+)</Code>", str(error))[:1], *(each.__name__ for each in type(error).__mro__)):
        if name in _REASONS:
            return _REASONS[name]
    if cause := getattr(error, "certificate_error", None) or getattr(error, "os_error", None):
        return f"cannot connect: {_system_reason(cause) or type(cause).__name__}"
    return _system_reason(error) or _client_reason(str(error), scheme)


def _system_reason(error: BaseException) -> str | None:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason}"
    if isinstance(error, socket.gaierror):
        return error.strerror
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno is not None else None


def _client_reason(message: str, scheme: str) -> str | None:
    for pattern, reason in _PATTERNS:
        if match := re.search(pattern, message):
            numbers = match.groupdict()
            return reason.format(
                prefix=PREFIXES.get(scheme),
                credentials=f"no valid credentials: {_CREDENTIALS.get(scheme)}",
                errno=os.strerror(int(numbers.get("errno", 0))),
                status=status_line(int(numbers.get("status", 0))),
            )
    return None
