"""Lines of CSV by the bytes of rows: the same as those by decoding each record."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import orjson
import pytest

from service.engine.row_csv import csv_lines, decoded_lines
from service.model.records import COMPANIES, STORES
from tests.baking.random_datasets import random_dataset
from tests.loaded import accepted

NAMES: Final = ("identifier", "name", "is_open", "created_at", "updated_at")
ROW: Final = {"identifier": "a", "name": "b", "is_open": True, "created_at": "c", "updated_at": "d"}


def by_bytes(records: Sequence[object]) -> bytes | None:
    rows = [orjson.dumps(record) + b"," for record in records]
    return csv_lines(bytearray().join(rows), np.cumsum([len(row) for row in rows]), NAMES)


def part(*lacking: str, **changes: object) -> dict[str, object]:
    return {name: value for name, value in (ROW | changes).items() if name not in lacking}


@pytest.mark.parametrize(
    "value",
    ["", "x", ",", ",,", "a,b", "{", "}", "},{", ":", ":,:", "a:", "é,ü", "null", "true", "[]", None, "n" * 999],
)
def test_a_value_of_any_kind(value: str | None) -> None:
    records = [part(), part(name=value), part(identifier=value or "", updated_at=value or ""), part(name=value)]
    text = by_bytes(records)
    assert text is not None
    read = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert read == [["true" if cell is True else cell or "" for cell in record.values()] for record in records]
    assert text.count(b'"') == 2 * sum("," in str(cell) for record in records for cell in record.values())


@pytest.mark.parametrize("lacking", [(), ("updated_at",), ("created_at", "updated_at")])
def test_rows_that_lack_their_last_members(lacking: Sequence[str]) -> None:
    records = [part(), part(*lacking), part(*lacking, name=None), part("updated_at", created_at="1,2"), part(*lacking)]
    text = by_bytes(records)
    assert text is not None
    read = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert read == [
        ["true" if cell is True else cell or "" for cell in (record.get(name) for name in NAMES)] for record in records
    ]


@pytest.mark.parametrize(
    "other",
    [part(name='"'), part(name="a\nb"), part(name="\\"), part("created_at"), part("name"), {**ROW, "x": 1}, {"x": 1}],
)
def test_what_it_does_not_write(other: object) -> None:
    assert by_bytes([ROW, other, ROW]) is None
    assert by_bytes([other]) is None


@pytest.mark.parametrize("seed", range(6))
def test_it_equals_the_other_way_for_any_rows(tmp_path: Path, seed: int) -> None:
    dataset, written = accepted(random_dataset((300, 40, 30, seed)).write(tmp_path / "data")), 0
    chance = np.random.default_rng(seed)
    for resource, table in ((STORES, dataset.stores), (COMPANIES, dataset.companies)):
        for length in (1, 2, 3, 50, 300):
            rows = chance.integers(len(table), size=length).astype(np.int32)
            found = csv_lines(*table.rows.joined(rows), resource.members)
            written += found is not None
            assert found in (None, decoded_lines(table, resource, resource.members, rows, None))
    assert written
