"""The messages from a process that reads a file, whatever its format."""

from typing import Final

import msgspec

LENGTH_BYTES: Final = 8  # of the file, and of a message, before it


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The file cannot be used."""

    why: str


class End(msgspec.Struct, frozen=True, tag=True):
    """There is no more of what was requested."""
