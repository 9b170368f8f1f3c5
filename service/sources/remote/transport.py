"""The interface of a transport: a request for a remote file, and its response."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from service.sources.source import Unavailable


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
