"""The characters of a data set, and whether two Pythons fold them alike.

Values are compared in folded form, by the Unicode tables of Python, which grow with its releases. What a table says of
the normalization and the case folding of an assigned character is never changed by a later one
(https://www.unicode.org/policies/stability_policy.html). So two Pythons fold the same text alike if each of its
characters is assigned in the tables of both, or in neither: those it does not know, a table leaves as they are.
"""

import sys
import unicodedata
from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import Final, Protocol

import msgspec
import numpy as np

from service.baking.layout import Array, DamagedFile

_ASCII: Final = bytes(range(128))
_PIECE: Final = 1 << 20
_UNASSIGNED: Final = "Cn"  # also of noncharacters, in every release; private characters have "Co"
_PYTHON: Final = f"Python {sys.version_info.major}.{sys.version_info.minor}"


class Tables(Protocol):
    """Unicode's tables of one release, such as `unicodedata` and `unicodedata.ucd_3_2_0`."""

    @property
    def unidata_version(self) -> str:
        """The release."""

    def category(self, character: str, /) -> str:
        """Return the general category of a character."""


class OtherTables(DamagedFile):
    """A file that is sound, but folded by tables that do not agree with those at hand on one of its characters."""


class Characters(msgspec.Struct, frozen=True, eq=False):
    """The characters that a data set has beyond ASCII, as ascending code points, uint32.

    assigned    those that were assigned in the tables by which its values were folded
    unassigned  those that were not
    """

    assigned: Array
    unassigned: Array

    @classmethod
    def of(cls, texts: Iterable[memoryview], tables: Tables = unicodedata) -> "Characters":
        """Return the characters of texts in UTF-8 that are folded by `tables`."""
        used = _used(texts)
        assigned = np.fromiter((_is_assigned(point, tables) for point in used.tolist()), np.bool_, len(used))
        return cls(used[assigned], used[~assigned])

    def check(self, tables: Tables = unicodedata) -> None:
        """Raise DamagedFile unless values that are folded by `tables` are folded as these were."""
        for points in (self.assigned, self.unassigned):
            if (points[1:] <= points[:-1]).any() or (points > sys.maxunicode).any():
                raise DamagedFile("the characters are not those of a data set")
        at_hand = f"{_PYTHON} (Unicode {tables.unidata_version})"
        for point in self.assigned.tolist():
            if not _is_assigned(point, tables):
                raise OtherTables(
                    f"it has the character U+{point:04X}, which {at_hand} does not know",
                    remedy=f"serve it with a newer Python, or bake it again with {_PYTHON}",
                )
        for point in self.unassigned.tolist():
            if _is_assigned(point, tables):
                raise OtherTables(
                    f"it has the character U+{point:04X}, which {at_hand} knows, but the Python that baked it did not",
                    remedy=f"bake it again with {_PYTHON}",
                )


def _used(texts: Iterable[memoryview]) -> Array:
    used = np.zeros(sys.maxunicode + 1, np.bool_)
    for text in texts:
        decoder = getincrementaldecoder("utf-8")()
        for start in range(0, len(text), _PIECE):
            beyond_ascii = bytes(text[start : start + _PIECE]).translate(None, _ASCII)
            used[np.frombuffer(decoder.decode(beyond_ascii).encode("utf-32-le"), "<u4")] = True
    return np.flatnonzero(used).astype(np.uint32)


def _is_assigned(point: int, tables: Tables) -> bool:
    return tables.category(chr(point)) != _UNASSIGNED
