"""The interface of a transport: a request for a remote file, and its response."""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol

import msgspec

from service.publishing.source import Unavailable


class CutOff(Unavailable):
    """The body of a response ended early, or takes too long. Another attempt may succeed."""


class RemoteFile(msgspec.Struct, frozen=True):
    """A response with the whole file.

    fingerprint  by the validators of the origin; "" if it sent none
    length       of the body in bytes, if the origin sent it
    is_framed    whether the body has an end of its own, which a broken connection does not look like
    read         returns the next piece of the body, b"" at its end; raises `CutOff`
    """

    fingerprint: str
    length: int | None
    is_framed: bool
    read: Callable[[], Awaitable[bytes]]


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
