"""The cost of reading a file is linear in its length, whatever its content."""

import tracemalloc
from itertools import islice
from typing import Any

import pytest

from service.loading.compiler import Compiler
from service.model.records import STORES
from service.reading.batch import BATCH_SIZE
from service.reading.formats.json_file import open_json
from tests.loading.data_files import STORE_FIELDS, read_batches

pytestmark = pytest.mark.slow


class Scanned(bytes):
    """A text; knows how many of its bytes were looked at to count lines."""

    scanned = 0

    def count(self, sought: Any, start: Any = 0, stop: Any = None, /) -> int:
        type(self).scanned += len(self[start:stop])
        return super().count(sought, start, stop)


def test_lines_are_counted_once_where_every_batch_has_errors_of_several_kinds() -> None:
    text = Scanned(b"[" + b'1,{"unknown":2},\n' * 10_000 + b'{"created_at":"x"}]')
    compiler = Compiler(STORES, file="stores.json", companies=None)
    for batch in open_json(text).batches(STORE_FIELDS):
        compiler.add(batch)
    assert [error.line for error in compiler.errors if error.code == "date"] == [10_001]
    assert text.scanned <= 3 * len(text)  # for line feeds, carriage returns, and both


def test_rows_without_cells_cost_nothing_for_the_columns_of_the_header() -> None:
    header = "store_id,company_id,address_1,city,country," + ",".join(map(str, range(100_000)))
    batches = read_batches("csv", header.encode() + b"\n" * 3 * BATCH_SIZE, STORES)
    next(batches)
    tracemalloc.start()
    try:
        assert len(list(islice(batches, 1))) == 1
        assert tracemalloc.get_traced_memory()[1] < 8 * 100_000
    finally:
        tracemalloc.stop()
