"""Results that are the same on every Python, compared with recorded values.

A Python with other Unicode tables, or one that splits or folds texts in another way, fails here.
"""

import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from service.baking.baked_file import write_baked
from service.engine.results import page
from service.loading.dataset import load
from service.model.kinds import fold
from service.model.query import QueryParser
from service.model.records import STORES
from service.sampling.sample_dataset import write_sample
from tests.baking.random_datasets import baked_file, loaded
from tests.baking.scripts import PLACES, write_scripts
from tests.engine.ranked_keys import IN_FILES
from tests.recording import check_recorded, fingerprint

WHITE_SPACE = [
    *(*range(0x9, 0xE), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_scripts(tmp_path / "data")


def test_a_dataset_has_one_version_and_gives_one_baked_file(folder: Path, tmp_path: Path) -> None:
    """They follow from the format of the file: a change of the format changes `FORMAT` and what is recorded."""
    content = baked_file(folder, tmp_path / "set.baked").read_bytes()
    header = msgspec.json.decode(content[8 : 8 + int.from_bytes(content[:8], "little")])
    texts = header.pop("__metadata__")
    lines = [f"version: {loaded(folder).version}", f"file: {fingerprint(content)}"]
    lines += [f"{name}: {text if len(text) < 100 else fingerprint(text.encode())}" for name, text in texts.items()]
    check_recorded("baked_file", lines + [f"{name}: {entry}" for name, entry in header.items()])


def test_a_sample_whose_records_wait_in_files_gives_one_baked_file(tmp_path: Path) -> None:
    write_sample(tmp_path / "data", stores=200, companies=10, seed=1, file_format="csv")
    dataset, file = load(tmp_path / "data", spools=IN_FILES).dataset, tmp_path / "set.baked"
    assert dataset is not None
    write_baked(dataset, file)
    check_recorded("baked_sample", [f"version: {dataset.version}", f"file: {fingerprint(file.read_bytes())}"])


def test_a_query_has_one_result(folder: Path) -> None:
    dataset, reader, answers = load(folder).dataset, QueryParser(STORES), list[str]()
    assert dataset is not None
    asking = [(name, text.swapcase()) for text in PLACES for name in ("city", "province", "country")]
    asking += [("postal_code", f"{text}1".title()) for text in PLACES] + [
        ("sort_by", name) for name in STORES.sort_keys
    ]
    for pair in asking:
        found = page(dataset.stores, reader.parse([pair], strict=True))
        body = b"".join(found.rows)
        first = [record["store_id"] for record in msgspec.json.decode(b"[" + body + b"]")[:3]]
        answers.append(f"{pair!a}: {found.total_count}, {fingerprint(body)}, first {first!a}")
    check_recorded("answers", answers)


def test_characters_of_unicode_3_2_fold_alike() -> None:
    blocks = defaultdict[int, list[str]](list)
    for c in map(chr, range(sys.maxunicode + 1)):
        if unicodedata.ucd_3_2_0.category(c) not in {"Cn", "Cs"}:
            blocks[ord(c) >> 10].append(fold(f"a{c}b"))
    lines = (f"U+{block << 10:05X} {fingerprint(''.join(each).encode())}" for block, each in blocks.items())
    check_recorded("folded", lines)


def test_white_space_is_the_same() -> None:
    characters = list(map(chr, range(sys.maxunicode + 1)))
    assert [ord(c) for c in characters if not c.split()] == WHITE_SPACE
    assert [ord(c) for c in characters if not c.strip()] == WHITE_SPACE
