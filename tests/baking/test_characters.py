"""A file that one Python baked is served by any other that folds its characters alike, and refused by the others.

The standard library has Unicode's tables of release 3.2, too: they represent those of another Python.
"""

import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given, strategies as st

from service.baking.baked_file import read_baked, write_baked
from service.baking.characters import Characters, UnicodeMismatch, UnicodeTables
from tests.baking.forging import Forge, refusal
from tests.baking.random_datasets import contents, loaded
from tests.directory import store, write_directory

OLD: Final[UnicodeTables] = unicodedata.ucd_3_2_0
NEW: Final[UnicodeTables] = unicodedata
PYTHON: Final = f"Python {sys.version_info.major}.{sys.version_info.minor}"

# Assigned since 1.1, in 6.1, never (a noncharacter), not yet, and for private use.
LONG_KNOWN, EMOJI, NO_CHARACTER, UNKNOWN, PRIVATE = "Ωß東İ", "\U0001f600", "\ufffe\U0010ffff", "\u0378", "\ue000"

Baker = Callable[[str, UnicodeTables], Path]


@pytest.fixture
def baked(tmp_path: Path) -> Baker:
    """Bake a store of a name by some tables."""

    def make(name: str, tables: UnicodeTables) -> Path:
        dataset = loaded(write_directory(tmp_path / "data", [store("s1", name=name, city="Ada")]))
        write_baked(dataset, tmp_path / "set.baked", tables=tables)
        return tmp_path / "set.baked"

    return make


def why(file: Path, tables: UnicodeTables) -> tuple[str, str]:
    """Return why a file is refused by a Python with some tables, and what to do."""
    with pytest.raises(UnicodeMismatch) as caught:
        read_baked(file, tables=tables)
    return str(caught.value), caught.value.remedy


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_the_characters_of_texts_are_those_beyond_ascii(texts: list[str]) -> None:
    characters = Characters.of([memoryview(text.encode()) for text in texts])
    known, unknown = ("".join(map(chr, part)) for part in (characters.assigned, characters.unassigned))
    assert known == "".join(c for c in sorted(set("".join(texts))) if c > "\x7f" and unicodedata.category(c) != "Cn")
    assert unknown == "".join(c for c in sorted(set("".join(texts))) if unicodedata.category(c) == "Cn")


@pytest.mark.parametrize("shift", range(4))
def test_characters_are_found_at_any_offset_of_long_texts(shift: int) -> None:
    text = "a" * shift + "東" * 500_000 + "é" + EMOJI * 300_000
    assert Characters.of([memoryview(text.encode())]).assigned.tolist() == sorted(map(ord, {"東", "é", EMOJI}))


@pytest.mark.parametrize("name", [LONG_KNOWN, NO_CHARACTER, UNKNOWN, PRIVATE, "Ada"])
def test_characters_that_both_or_neither_python_knows_are_served(baked: Baker, name: str) -> None:
    by_old = baked(name, OLD).read_bytes()
    file = baked(name, NEW)
    assert file.read_bytes() == by_old
    one, other = (read_baked(file, tables=tables) for tables in (OLD, NEW))
    assert contents(one) == contents(other)


@pytest.mark.parametrize(
    ("baking", "serving", "reason", "remedy"),
    [
        (NEW, OLD, "which {} (Unicode 3.2.0) does not know", "serve it with a newer Python, or bake it again with {}"),
        (OLD, NEW, "which {} (Unicode {}) knows, but the Python that baked it did not", "bake it again with {}"),
    ],
    ids=["to the serving Python", "to the baking Python"],
)
def test_an_unknown_character_is_named_with_the_remedy(
    baked: Baker, baking: UnicodeTables, serving: UnicodeTables, reason: str, remedy: str
) -> None:
    file = baked(LONG_KNOWN + EMOJI, baking)
    reason = reason.format(PYTHON, unicodedata.unidata_version)
    assert why(file, serving) == (f"it has the character U+1F600, {reason}", remedy.format(PYTHON))
    read_baked(file, tables=baking)


def test_a_refused_file_is_rejected_with_reason_and_remedy(baked: Baker) -> None:
    file = baked(EMOJI, OLD)
    assert refusal(file) == "; ".join(why(file, NEW))


class Recategorized:
    """The tables of this Python, but for one character."""

    unidata_version = unicodedata.unidata_version

    def __init__(self, character: str, category: str) -> None:
        self._character, self._category = character, category

    def category(self, character: str, /) -> str:
        return self._category if character == self._character else unicodedata.category(character)


@pytest.mark.parametrize(("character", "category"), [("é", "So"), ("€", "Lo"), ("€", "Mn")])
def test_a_character_that_splits_words_in_one_python_only_is_named(baked: Baker, character: str, category: str) -> None:
    other = Recategorized(character, category)
    runtime = f"{PYTHON} (Unicode {unicodedata.unidata_version})"
    reason = f"splits words at the character U+{ord(character):04X} differently than the Python that baked it"
    expected = (f"{runtime} {reason}", f"bake it again with {PYTHON}")
    assert why(baked("é€", NEW), other) == expected
    assert why(baked("é€", other), NEW) == expected


def test_other_changes_of_categories_are_served(baked: Baker) -> None:
    read_baked(baked("é€", NEW), tables=Recategorized("é", "Mn"))
    read_baked(baked("é€", NEW), tables=Recategorized("€", "Po"))


def test_words_have_only_characters_of_words() -> None:
    used = [memoryview("aé€\u0301½".encode())]
    assert "".join(map(chr, Characters.of(used).in_words)) == "½é\u0301"


@pytest.mark.parametrize("points", [[233, 233], [8486, 233], [0x110000], [2**32 - 1]])
@pytest.mark.parametrize("part", ["assigned", "unassigned", "in_words"])
def test_invalid_lists_of_characters_are_refused(baked: Baker, part: str, points: list[int]) -> None:
    why = Forge(baked("Ada", NEW)).refusal({f"characters/{part}": np.array(points, np.uint32)})
    assert re.match(f"the array characters/{part} is (not ascending|out of range)", why)


# Corrigendum 4 mended these five before normalization was made stable, in Unicode 4.1.
MENDED: Final = {"\U0002f868", "\U0002f874", "\U0002f91f", "\U0002f95f", "\U0002f9bf"}


def test_unicode_releases_normalize_common_characters_alike() -> None:
    known = [character for character in map(chr, range(sys.maxunicode + 1)) if OLD.category(character) != "Cn"]
    normalized = unicodedata.ucd_3_2_0.normalize
    differing = {c for c in known if normalized("NFKC", f"a{c}b") != unicodedata.normalize("NFKC", f"a{c}b")}
    assert differing <= MENDED
