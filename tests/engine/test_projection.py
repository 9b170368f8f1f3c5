"""Rows with some of their members only, by decoders of which there are at most so many."""

import gc
import json
import tracemalloc
from collections.abc import Iterator
from itertools import combinations

import pytest

from service.engine import row_json as projection
from service.engine.row_json import project

RECORDS = [
    {"store_id": "s1", "city": "Örebro", "is_open": True, "latitude": None, "distance": 12.0, "created_at": "2024"},
    {"store_id": "s2", "city": 'a "b"', "is_open": False, "latitude": "43.70", "distance": 0.5},
]
ROWS = [json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"," for record in RECORDS]
ROWS[-1] = ROWS[-1][:-1]
COMBINATIONS = [names for size in range(1, 7) for names in combinations(RECORDS[0], size)]


@pytest.fixture(autouse=True)
def decoders() -> Iterator[None]:
    projection._decoders.clear()  # noqa: SLF001 - those of other tests
    yield
    projection._decoders.clear()  # noqa: SLF001


def expected(names: tuple[str, ...]) -> bytes:
    kept = [{name: record[name] for name in names if name in record} for record in RECORDS]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()[1:-1]


def test_members_are_copied_as_they_are_encoded_with_and_without_a_decoder_of_their_own() -> None:
    for names in COMBINATIONS:
        assert project(ROWS, names) == [expected(names)]
    for number in range(300):
        project(ROWS, (f"absent_{number}",))
    assert len(projection._decoders) == projection._MAX_DECODERS  # noqa: SLF001
    for names in COMBINATIONS:
        projection._decoders.pop(names, None)  # noqa: SLF001
    projection._decoders.update({(f"{number}",): list for number in range(projection._MAX_DECODERS)})  # noqa: SLF001
    for names in COMBINATIONS:
        assert project(ROWS, names) == [expected(names)]


def test_decoders_take_no_more_memory_than_their_bound() -> None:
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(300):
            project(ROWS, tuple(f"member_{place}_{number}" for place in range(17)))
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] <= 8 << 20
    finally:
        tracemalloc.stop()
