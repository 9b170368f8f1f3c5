"""Results that are the same on every Python, compared with recorded values.

A Python with other Unicode tables, or one that splits or folds texts in another way, fails here.
"""

import sys
import unicodedata
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from service.engine.page import page
from service.loading.dataset import load
from service.model.kinds import fold
from service.model.query import QueryParser
from service.model.records import STORES
from tests.baking.random_data_sets import baked_file, loaded
from tests.baking.scripts import PLACES, write_scripts

# They follow from the format of the file: a change of the format changes `FORMAT` and these.
VERSION = "02ca3e37d51c0821"
FILE = "8c65fe469cc3233a37d78c3ee48b89d0c5a243e7191fbe1feeafd0b0faa75ee1"
ANSWERS = "7c283d6e4fc36fcb1c37eba1b46d7334bc3e6896e360d18d5564e29002779e66"
FOLDED = "0daaf9a6d568e2d90148ca4f9235cf51c73841aeba3a07221e126c1624f7704d"
WHITE_SPACE = [
    *(*range(0x9, 0xE), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_scripts(tmp_path / "data")


def test_a_data_set_has_one_version(folder: Path) -> None:
    assert loaded(folder).version == VERSION


def test_a_data_set_gives_one_baked_file(folder: Path, tmp_path: Path) -> None:
    assert sha256(baked_file(folder, tmp_path / "set.baked").read_bytes()).hexdigest() == FILE


def test_a_query_has_one_result(folder: Path) -> None:
    dataset, reader, answers = load(folder).dataset, QueryParser(STORES), sha256()
    assert dataset is not None
    asking = [(name, text.swapcase()) for text in PLACES for name in ("city", "province", "country")]
    asking += [("postal_code", f"{text}1".title()) for text in PLACES] + [
        ("sort_by", name) for name in STORES.sort_keys
    ]
    for pair in asking:
        found = page(dataset.stores, reader.parse([pair], strict=True))
        answers.update(b"".join([msgspec.json.encode((pair, found.total_count)), *found.rows]))
    assert answers.hexdigest() == ANSWERS


def test_characters_of_unicode_3_2_fold_alike() -> None:
    known = (c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.ucd_3_2_0.category(c) not in {"Cn", "Cs"})
    assert sha256("".join(f"{fold(f'a{c}b')}\n" for c in known).encode()).hexdigest() == FOLDED


def test_white_space_is_the_same() -> None:
    characters = list(map(chr, range(sys.maxunicode + 1)))
    assert [ord(c) for c in characters if not c.split()] == WHITE_SPACE
    assert [ord(c) for c in characters if not c.strip()] == WHITE_SPACE
