"""The work and the memory for a header are in proportion to its length, whatever is in it."""

import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType

import pytest

from service.model.records import STORES
from service.reading.diagnostics import FileError
from tests.loading.data_files import read_batches
from tests.thoroughness import is_thorough

pytestmark = pytest.mark.slow

REQUIRED = "store_id,company_id,address_1,city,country"
ROWS = "s1,c1,a,b,c\n" * 1_100  # more than a batch


def numbered(columns: int, form: str = "{}") -> str:
    return ",".join(map(form.format, range(columns)))


HEADERS: dict[str, Callable[[int], str]] = {
    "commas": lambda columns: f"{REQUIRED},{numbered(columns)}",
    "semicolons": lambda columns: f"{REQUIRED},{numbered(columns)}".replace(",", ";"),
    "quotes": lambda columns: f"{REQUIRED},{numbered(columns, chr(34) + '{},x' + chr(34))}".replace(",", ";"),
    "several delimiters": lambda columns: f"{REQUIRED},{numbered(columns)};|\t",
    "unclear": lambda columns: numbered(columns, "{};{}|{}\t{}".replace("{}", "{0}")),
    "missing": numbered,
    "duplicates": lambda columns: f"{REQUIRED},{numbered(columns)},{numbered(columns)}",
    "alike": lambda columns: REQUIRED + ",Name,NAME" * columns,
    "empty names at the end": lambda columns: REQUIRED + "," * columns,
    "empty names before others": lambda columns: f"{REQUIRED}{',' * columns}x",
    "one name": lambda columns: f"{REQUIRED},{'x' * columns};y",
    "quotes alone": lambda columns: '"' * columns + ";",
    "an open quote": lambda columns: ';"' + "a," * columns,
    "blank rows": lambda columns: ";;\n" * columns,
    "blank lines": lambda columns: "\n" * columns,
    "blank rows at the end": lambda columns: f"{REQUIRED}\n{',,;,' * columns}",
}


def outcome(text: bytes) -> int | str:
    """Return how many records a text has, or why it is refused."""
    try:
        return sum(len(batch.numbers) + len(batch.unreadable) for batch in read_batches("csv", text, STORES))
    except FileError as error:
        return error.why


def calls(text: bytes) -> int:
    """Return how many functions are called to read a text, those in C included."""
    count = 0

    def observe(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(observe)
    try:
        outcome(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("header", HEADERS)
def test_twice_the_columns_take_at_most_twice_the_calls(header: str) -> None:
    few, many = (calls(f"{HEADERS[header](columns)}\n{ROWS}".encode()) for columns in (150, 300))
    assert many <= 2.1 * few


@pytest.mark.parametrize("header", HEADERS)
def test_memory_is_in_proportion_to_the_header_and_the_reason_for_a_refusal_is_short(header: str) -> None:
    text = f"{HEADERS[header](3_000)}\n{ROWS}".encode()
    tracemalloc.start()
    try:
        assert len(str(outcome(text))) < 3_000
        assert tracemalloc.get_traced_memory()[1] < 40 * len(text) + 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("row", ["\n", "\r\n", ",,\n", ",\r"])
@pytest.mark.parametrize("said", ["", "sep=,\n"])
def test_blank_rows_before_the_header_take_no_calls_and_are_counted_as_lines(row: str, said: str) -> None:
    few, many = (f"{said}{row * count}{REQUIRED},x\nbad\n".encode() for count in (1, 1_000))
    assert calls(few) == calls(many)
    (batch,) = read_batches("csv", many, STORES)
    assert batch.unreadable[0].line == 1_002 + bool(said)


def test_hundreds_of_thousands_of_columns_are_read() -> None:
    assert outcome(f"{HEADERS['semicolons'](1_000_000 if is_thorough() else 100_000)}\ns1;c1;a\n".encode()) == 1
