"""Whether the arrays of a baked file mean what they should: checksums prove that they are whole, not who wrote them."""

from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.baking.layout import DamagedFile
from service.engine.column import Column
from service.engine.table import Table
from service.engine.texts import Texts
from service.records import Resource

_WORD: Final = 8  # bytes that are compared at once
_STRETCH: Final = 1 << 15  # items that are checked at once: they stay in the processor's cache, which halves the time
_ROW_BITS: Final = 32
_ROW_START: Final = b"{"
_ROW_END: Final = b"},"
# The bits of a word that its first n bytes take, for n from 0 to 8.
_MASKS: Final = np.array([((1 << 8 * n) - 1) << 8 * (_WORD - n) for n in range(_WORD + 1)], np.uint64)


def check_table(name: str, table: Table) -> None:
    """Check that the arrays of a table have a meaning: ranges, orders, offsets. Raises `DamagedFile`.

    Of a row only the ends are read, not the JSON within, which takes seconds for a million: see `check_records`.
    """
    _check_rows(f"{name}/rows", table.rows)
    for field, column in table.columns.items():
        _check_column(f"{name}/{field}", column)
        if column.values is not None:
            _check_offsets(f"{name}/{field}/values", column.values)
            if not is_rising(column.values):
                raise DamagedFile(f"the values of {name}/{field} are not in order")
    _check_numbering(name, table)


def check_records(resource: Resource, table: Table) -> None:
    """Check that each row is a record in JSON, with the identifier that finds it. Raises `DamagedFile`."""
    decode = msgspec.json.Decoder(resource.record, strict=True).decode
    key = table.columns[resource.identifier]
    for row in range(len(table)):
        try:
            record = decode(table.rows[row][:-1])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedFile(f"row {row} of {resource.name} is not a record: {error}") from None
        if key.values is not None and key.values[key.codes[row]] != getattr(record, resource.identifier).encode():
            raise DamagedFile(f"row {row} of {resource.name} is found by another identifier than its own")


def _check_rows(name: str, rows: Texts) -> None:
    _check_offsets(name, rows)
    data, start, end = np.frombuffer(rows.data, np.uint8), rows.offsets[:-1], rows.offsets[1:]
    if len(start) and int((end - start).min()) < len(_ROW_START) + len(_ROW_END):
        raise DamagedFile(f"a row of {name} is no record")
    for offset, byte in ((start, _ROW_START[0]), (end - 2, _ROW_END[0]), (end - 1, _ROW_END[1])):
        if not (data[offset] == byte).all():
            raise DamagedFile(f"a row of {name} is no record")


def _check_offsets(name: str, texts: Texts) -> None:
    if not (texts.offsets[1:] >= texts.offsets[:-1]).all():
        raise DamagedFile(f"the offsets of {name} do not rise")


def _check_column(name: str, column: Column) -> None:
    """Check that `order` has every row once, by code and then by row, and that `starts` says where each code begins."""
    codes, order, starts = column.codes, column.order, column.starts
    length = len(codes)
    # Compared before they are subtracted or counted: a difference may overflow, and a large code take all memory.
    rise = starts[0] == 0 and starts[-1] <= length and bool((starts[1:] > starts[:-1]).all())
    if not rise or (length and int(codes.max()) >= len(starts)):
        raise DamagedFile(f"the values of {name} do not divide its rows")
    counts = np.bincount(codes, minlength=len(starts))
    if not np.array_equal(counts, np.diff(starts, append=length)):
        raise DamagedFile(f"the values of {name} do not divide its rows")
    last = -1
    for begin in range(0, length, _STRETCH):
        rows = order[begin : begin + _STRETCH]
        if int(rows.min()) < 0 or int(rows.max()) >= length:
            raise DamagedFile(f"the order of {name} names rows that there are not")
        ranks = codes.take(rows).astype(np.int64) << _ROW_BITS | rows
        if int(ranks[0]) <= last or not (ranks[1:] > ranks[:-1]).all():
            raise DamagedFile(f"the order of {name} is not that of its values")
        last = int(ranks[-1])


def _check_numbering(name: str, table: Table) -> None:
    """Check that identifiers are unique and that rows are numbered in the default order."""
    order_by, key = table.columns[table.order_by], table.columns[table.key]
    if len(key.starts) - 1 != len(table):
        raise DamagedFile(f"an identifier of {name} is missing or repeated")
    time, identifier = order_by.codes, key.codes
    if not ((time[1:] > time[:-1]) | ((time[1:] == time[:-1]) & (identifier[1:] > identifier[:-1]))).all():
        raise DamagedFile(f"the rows of {name} are not in the default order")


def is_rising(texts: Texts) -> bool:
    """Return whether each text is greater than the one before it, byte by byte."""
    data = texts.data if len(texts.data) >= _WORD else memoryview(bytes(texts.data).ljust(_WORD, b"\0"))
    words = np.ndarray(len(data) - _WORD + 1, ">u8", data, strides=(1,))  # from every byte on
    stretches = range(0, len(texts) - 1, _STRETCH)
    return all(_is_rising(words, texts.offsets[begin : begin + _STRETCH + 2]) for begin in stretches)


def _is_rising(words: NDArray[Any], offsets: NDArray[np.int64]) -> bool:
    """Return whether each text between offsets is greater than the one before it.

    Neighbours are compared by words of 8 bytes, padded with NUL; pairs that are equal so far go on to the next words.
    """
    start, length = offsets[:-1], np.diff(offsets)
    pairs, at = np.arange(len(start) - 1), 0
    while len(pairs):
        one, other = (_words(words, start[each] + at, length[each] - at) for each in (pairs, pairs + 1))
        if (one > other).any():
            return False
        pairs = pairs[one == other]
        shorter, longer = length[pairs], length[pairs + 1]
        ended = np.minimum(shorter, longer) <= at + _WORD
        if not (shorter < longer)[ended].all():
            return False
        pairs, at = pairs[~ended], at + _WORD
    return True


def _words(words: NDArray[Any], start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the words at some places, the first byte the highest; bytes past a length are 0."""
    place = np.minimum(start, len(words) - 1)
    shift = (8 * np.minimum(start - place, _WORD - 1)).astype(np.uint64)
    shifted: NDArray[np.uint64] = (words[place].astype(np.uint64) << shift) & _MASKS.take(length.clip(0, _WORD))
    return shifted
