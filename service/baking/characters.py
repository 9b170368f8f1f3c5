"""Check that two Python versions fold the characters of a data set alike.

Values are compared folded, with the Unicode tables of Python, which grow with its releases. A later table never changes
the normalization and case folding of an assigned character (https://www.unicode.org/policies/stability_policy.html),
and unassigned characters are not folded. So two Python versions fold a text alike if each of its characters is assigned
in both tables or in neither. The category of a character may change, though, and words are split by categories, so the
characters of words must be the same in both.
"""

import sys
import unicodedata
from codecs import getincrementaldecoder
from collections.abc import Iterable
from typing import Final, Protocol

import msgspec
import numpy as np

from service.baking.layout import Array, DamagedFile
from service.model.words import is_in_word

_BEYOND_ASCII: Final = 128
_CHUNK: Final = 1 << 20
_UNASSIGNED: Final = "Cn"  # noncharacters have it too, in every release; private-use characters have "Co"
_PYTHON: Final = f"Python {sys.version_info.major}.{sys.version_info.minor}"


class UnicodeTables(Protocol):
    """The Unicode tables of one release, such as `unicodedata` and `unicodedata.ucd_3_2_0`."""

    @property
    def unidata_version(self) -> str:
        """The release."""

    def category(self, character: str, /) -> str:
        """Return the general category of a character."""


class UnicodeMismatch(DamagedFile):
    """The file is intact, but this Python and the one that baked it disagree on a character."""


class Characters(msgspec.Struct, frozen=True, eq=False):
    """The characters of a data set beyond ASCII, as ascending code points, uint32.

    assigned    characters that were assigned in the tables that folded its values
    unassigned  characters that were not
    in_words    characters that words consist of; all others separate words
    """

    assigned: Array
    unassigned: Array
    in_words: Array

    @classmethod
    def of(cls, texts: Iterable[memoryview], tables: UnicodeTables = unicodedata) -> "Characters":
        """Return the characters of texts in UTF-8 whose keys are folded with `tables`."""
        return cls._of_points(_used(texts), tables)

    @classmethod
    def _of_points(cls, used: Array, tables: UnicodeTables) -> "Characters":
        categories = [tables.category(chr(point)) for point in used.tolist()]
        assigned = np.array([each != _UNASSIGNED for each in categories], np.bool_)
        in_words = np.array(list(map(is_in_word, categories)), np.bool_)
        return cls(used[assigned], used[~assigned], used[in_words])

    def check(self, tables: UnicodeTables = unicodedata) -> None:
        """Raise UnicodeMismatch unless `tables` fold these characters like the tables of the file."""
        here = self._of_points(np.union1d(self.assigned, self.unassigned), tables)
        runtime, remedy = f"{_PYTHON} (Unicode {tables.unidata_version})", f"bake it again with {_PYTHON}"
        for point in np.setdiff1d(self.assigned, here.assigned):
            why = f"it has the character U+{point:04X}, which {runtime} does not know"
            raise UnicodeMismatch(why, remedy=f"serve it with a newer Python, or {remedy}")
        for point in np.setdiff1d(self.unassigned, here.unassigned):
            why = f"it has the character U+{point:04X}, which {runtime} knows, but the Python that baked it did not"
            raise UnicodeMismatch(why, remedy=remedy)
        for point in np.setxor1d(self.in_words, here.in_words):
            why = f"{runtime} splits words at the character U+{point:04X} differently than the Python that baked it"
            raise UnicodeMismatch(why, remedy=remedy)


def _used(texts: Iterable[memoryview]) -> Array:
    used = np.zeros(sys.maxunicode + 1, np.bool_)
    for text in texts:
        decoder = getincrementaldecoder("utf-8")()
        for start in range(0, len(text), _CHUNK):
            characters = np.frombuffer(text[start : start + _CHUNK], np.uint8)
            beyond_ascii = characters[characters >= _BEYOND_ASCII].tobytes()
            used[np.frombuffer(decoder.decode(beyond_ascii).encode("utf-32-le"), "<u4")] = True
    return np.flatnonzero(used).astype(np.uint32)
