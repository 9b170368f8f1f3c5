"""Clean the texts of cells: strip outer white space, and repair characters that were decoded wrongly."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

import msgspec

from service.model.kinds import trim

_C1: Final = range(0x80, 0xA0)  # control characters, which no text of people has


class Cleaning(msgspec.Struct, frozen=True):
    """How each cell is cleaned before all else.

    trim    whether outer white space is stripped
    repair  the encoding whose bytes C1 characters (U+0080 to U+009F) are; "" if they stay
    """

    trim: bool = False
    repair: str = ""

    @property
    def clean(self) -> Callable[[str], str] | None:
        """The function that cleans a text; None if texts stay as they are."""
        if not self.repair:
            return trim if self.trim else None
        meant = meant_by_c1(self.repair)
        # In this order: U+0080 to U+009F may mean white space.
        return lambda text: trim(text.translate(meant)) if self.trim else text.translate(meant)


@cache
def meant_by_c1(encoding: str) -> Mapping[int, str]:
    """Return what a known encoding means by the bytes of C1 characters; those that mean nothing else are left out."""
    meant = {code: bytes([code]).decode(encoding, "ignore") for code in _C1}
    return {code: text for code, text in meant.items() if text and ord(text) not in _C1}


def has_c1(text: str) -> bool:
    """Return whether a text has a C1 character."""
    return not text.isascii() and any(ord(character) in _C1 for character in text)
