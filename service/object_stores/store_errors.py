"""Reasons of failed requests to an object store, in one line. The messages of its client quote URLs and answers."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from service.texts import status_line

# What the operator must set, by scheme.
_CREDENTIALS: Final = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS",
    "az": "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
PREFIXES: Final = {"s3": "AWS", "gs": "GOOGLE", "az": "AZURE"}
_CODES: Final = {
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
}
_KINDS: Final = {
    "FileNotFoundError": "there is no such object",
    "PermissionDeniedError": "access denied",
    "UnauthenticatedError": "access denied: the credentials are missing or wrong",
    "PanicException": "the client failed",  # not an Exception
}
# What is in the message of the client, and the reason; the first match counts. Most is how Rust shows a value.
_PATTERNS: Final[tuple[tuple[str, str | Callable[[str], str]], ...]] = (
    (r"BadScheme", "the endpoint is not https: set {prefix}_ALLOW_HTTP=true to allow that"),
    (r"MissingAccount", "no account: set AZURE_STORAGE_ACCOUNT_NAME"),
    (r"169\.254\.|/latest/api/token|performing token request|Missing\w*Key|OpenCredentials", "{credentials}"),
    (r"TimedOut|kind: Timeout", "timed out"),
    (r"dns error", "cannot connect: the name of the host is unknown"),
    (
        r"certificate|InvalidContentType|CorruptMessage",
        "cannot connect: TLS failed, such as for an unknown certificate",
    ),
    (r"kind: Connect,[\s\S]*Os \{\s*code: (\d+)", lambda code: f"cannot connect: {os.strerror(int(code))}"),
    (r"Os \{\s*code: (\d+)", lambda code: os.strerror(int(code))),
    (r"request or response body error", "the response was cut off"),
    (r"IncompleteMessage", "the connection was closed without a response"),
    (r"Header missing|Parse\(", "the response is not that of an object store"),
    (r"BareRedirect", "it redirects to nowhere: the endpoint or the region is wrong"),
    (r"Status \{\s*status: (\d+)", lambda status: status_line(int(status))),
)


class StoreError(Exception):
    """A request to an object store failed. The message says why, without secrets."""


@contextmanager
def store_errors(
    scheme: str, kind: type[Exception] = StoreError, *, otherwise: str = "the request failed"
) -> Iterator[None]:
    """Raise `StoreError`, or another kind, for every error of the client of a store; with `otherwise` if it is new."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ in _KINDS:
            raise kind(_reason(error, scheme) or f"{otherwise} ({type(error).__name__})") from None
        raise


def _reason(error: BaseException, scheme: str) -> str | None:
    message = str(error)
    code = re.search(r"<Code>(\w+)</Code>", message)
    if code and code[1] in _CODES:
        return _CODES[code[1]]
    if kind := _KINDS.get(type(error).__name__):
        return kind
    for pattern, reason in _PATTERNS:
        if found := re.search(pattern, message):
            text = reason if isinstance(reason, str) else reason(found[1])
            return text.format(prefix=PREFIXES[scheme], credentials=f"no valid credentials: {_CREDENTIALS[scheme]}")
    return None
