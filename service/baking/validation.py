"""Validate the arrays of a baked file: checksums detect damage, but not a file that was written wrongly."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.baking.layout import CHECKING_THREADS, DamagedFile
from service.engine.column import Column, Rows
from service.engine.grid import cells_of
from service.engine.locations import DIMENSIONS, Locations
from service.engine.mercator import codes_of
from service.engine.string_array import StringArray
from service.engine.table import Table
from service.engine.text_index import TextIndex
from service.engine.z_order import fixed, zooms_of
from service.model.place import MAX_LATITUDE, MAX_LONGITUDE
from service.model.records import Resource

_WORD: Final = 8  # bytes compared at once
_CHUNK: Final = 1 << 15  # items checked at once: they fit the processor's cache, which halves the time
_ROW_BITS: Final = 32
_MAX_DEVIATION: Final = 1e-12  # of the square of a vector's length from 1
_ROW_START: Final = b"{"
_ROW_END: Final = b"},"
# The mask of the first n bytes of a word, for n from 0 to 8.
_MASKS: Final = np.array([((1 << 8 * n) - 1) << 8 * (_WORD - n) for n in range(_WORD + 1)], np.uint64)


def check_table(name: str, table: Table) -> None:
    """Check that the arrays of a table are consistent: ranges, orders, offsets. Raises `DamagedFile`.

    Only the ends of a row are checked, not its JSON, which takes seconds for a million rows: see `check_records`.
    """
    names = [f"{name}/{field}" for field in table.columns]
    with ThreadPoolExecutor(CHECKING_THREADS) as pool:
        rows = pool.submit(_check_rows, f"{name}/rows", table.rows)
        text = pool.submit(_check_text_index, f"{name}/text", table.text)
        columns = pool.map(_check_column, names, table.columns.values())
        rows.result()
        if table.locations is not None:
            check_locations(f"{name}/locations", table.locations)
            check_z_order(f"{name}/z_order", table.locations)
        list(columns)  # raises the first error
        text.result()
    _check_numbering(name, table)


def check_records(resource: Resource, table: Table) -> None:
    """Check that each row is a record in JSON, with the identifier in its column. Raises `DamagedFile`."""
    decode = msgspec.json.Decoder(resource.record, strict=True).decode
    key = table.columns[resource.identifier]
    for row in range(len(table)):
        try:
            record = decode(table.rows[row][:-1])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedFile(f"row {row} of {resource.name} is not a record: {error}") from None
        if key.values is not None and key.values[key.codes[row]] != getattr(record, resource.identifier).encode():
            raise DamagedFile(f"row {row} of {resource.name} has another identifier than its column")


def _check_text_index(name: str, index: TextIndex) -> None:
    """Check that words are sorted and distinct, and each has rows, ascending and in range."""
    _check_sorted(f"{name}/words", index.words)
    starts, postings = index.starts, index.postings
    if not (starts[1:] > starts[:-1]).all():
        raise DamagedFile(f"the starts of {name} are not ascending")
    if len(postings) and not 0 <= int(postings.min()) <= int(postings.max()) < index.length:
        raise DamagedFile(f"the postings of {name} have rows that do not exist")
    falls = (postings[1:] <= postings[:-1]).nonzero()[0] + 1
    if not np.isin(falls, starts, assume_unique=True).all():
        raise DamagedFile(f"the postings of {name} are not ascending")


def _check_rows(name: str, rows: StringArray) -> None:
    _check_offsets(name, rows)
    data, start, end = np.frombuffer(rows.data, np.uint8), rows.offsets[:-1], rows.offsets[1:]
    if len(start) and int((end - start).min()) < len(_ROW_START) + len(_ROW_END):
        raise DamagedFile(f"a row of {name} is not a record")
    for offset, byte in ((start, _ROW_START[0]), (end - 2, _ROW_END[0]), (end - 1, _ROW_END[1])):
        if not (data[offset] == byte).all():
            raise DamagedFile(f"a row of {name} is not a record")


def _check_offsets(name: str, strings: StringArray) -> None:
    if not (strings.offsets[1:] >= strings.offsets[:-1]).all():
        raise DamagedFile(f"the offsets of {name} are not ascending")


def _check_column(name: str, column: Column) -> None:
    _check_order(name, column)
    if column.values is not None:
        _check_sorted(f"{name}/values", column.values)


def _check_sorted(name: str, strings: StringArray) -> None:
    """Check that strings are sorted and distinct. Raises `DamagedFile`."""
    _check_offsets(name, strings)
    if not is_sorted(strings):
        raise DamagedFile(f"the strings of {name} are not sorted")


def _check_order(name: str, column: Column) -> None:
    """Check that `order` has every row once, by code, ties by row, and that `starts` has the start of each code."""
    codes, order, starts = column.codes, column.order, column.starts
    length = len(codes)
    # Compared before they are subtracted or counted: a difference may overflow, and a large code may exhaust memory.
    increasing = starts[0] == 0 and starts[-1] <= length and bool((starts[1:] > starts[:-1]).all())
    if not increasing or (length and int(codes.max()) >= len(starts)):
        raise DamagedFile(f"the starts of {name} do not partition its rows")
    if not np.array_equal(np.bincount(codes, minlength=len(starts)), np.diff(starts, append=length)):
        raise DamagedFile(f"the starts of {name} do not partition its rows")
    last = -1
    for begin in range(0, length, _CHUNK):
        rows = order[begin : begin + _CHUNK]
        if int(rows.min()) < 0 or int(rows.max()) >= length:
            raise DamagedFile(f"the order of {name} has rows that do not exist")
        ranks = codes.take(rows).astype(np.int64) << _ROW_BITS | rows
        if int(ranks[0]) <= last or not (ranks[1:] > ranks[:-1]).all():
            raise DamagedFile(f"the order of {name} is not sorted by value")
        last = int(ranks[-1])


def check_locations(name: str, locations: Locations) -> None:
    """Check that each row has one place, and that places are sorted by cells, in range, with vectors of length 1."""
    order, places, count = locations.order, locations.places, locations.count
    _check_places(name, order, places)
    latitudes, longitudes = locations.latitudes, locations.longitudes
    if not ((abs(latitudes) <= MAX_LATITUDE) & (abs(longitudes) <= MAX_LONGITUDE)).all():
        raise DamagedFile(f"the coordinates of {name} are out of range")
    if not np.array_equal(locations.cells, cells_of(latitudes, longitudes)):
        raise DamagedFile(f"the cells of {name} are not those of its coordinates")
    cells, rows, others = locations.cells, order[:count], order[count:]
    sorted_by_cell = (cells[1:] > cells[:-1]) | ((cells[1:] == cells[:-1]) & (rows[1:] > rows[:-1]))
    if not (sorted_by_cell.all() and (others[1:] > others[:-1]).all()):
        raise DamagedFile(f"the order of {name} is not sorted by cell")
    vectors = locations.vectors.reshape(-1, DIMENSIONS)
    # Written so that NaN fails.
    if not (abs(np.einsum("ij,ij->i", vectors, vectors) - 1) <= _MAX_DEVIATION).all():
        raise DamagedFile(f"the vectors of {name} do not have the length 1")


def check_z_order(name: str, locations: Locations) -> None:
    """Check that the Z-order is that of the located rows along the curve. Raises `DamagedFile`."""
    z_order, count = locations.z_order, locations.count
    _check_places(name, z_order.order, z_order.places)
    codes, rows, others = z_order.codes, z_order.order[:count], z_order.order[count:]
    places = locations.places[rows]
    if count and int(places.max()) >= count:
        raise DamagedFile(f"the order of {name} does not have the located rows first")
    latitudes, longitudes = locations.latitudes[places], locations.longitudes[places]
    if not np.array_equal(codes, codes_of(latitudes, longitudes)):
        raise DamagedFile(f"the codes of {name} are not those of its coordinates")
    for part, degrees in (("latitudes", latitudes), ("longitudes", longitudes)):
        if not np.array_equal(getattr(z_order, part), fixed(degrees)):
            raise DamagedFile(f"the {part} of {name} are not those of its coordinates")
    along = (codes[1:] > codes[:-1]) | ((codes[1:] == codes[:-1]) & (rows[1:] > rows[:-1]))
    if not (along.all() and (others[1:] > others[:-1]).all()):
        raise DamagedFile(f"the order of {name} is not sorted by code")
    if not np.array_equal(z_order.zooms, zooms_of(codes)):
        raise DamagedFile(f"the zooms of {name} are not those of its codes")


def _check_places(name: str, order: Rows, places: Rows) -> None:
    """Check that an order has every row once, and that places are its inverse."""
    length = len(order)
    if length and (int(order.min()) < 0 or int(order.max()) >= length):
        raise DamagedFile(f"the order of {name} has rows that do not exist")
    if not np.array_equal(places[order], np.arange(length, dtype=np.int32)):
        raise DamagedFile(f"the places of {name} are not those of its order")


def _check_numbering(name: str, table: Table) -> None:
    """Check that identifiers are unique and that rows are numbered in the default order."""
    order_by, key = table.columns[table.order_by], table.columns[table.key]
    if len(key.starts) - 1 != len(table):
        raise DamagedFile(f"an identifier of {name} is missing or repeated")
    time, identifier = order_by.codes, key.codes
    if not ((time[1:] > time[:-1]) | ((time[1:] == time[:-1]) & (identifier[1:] > identifier[:-1]))).all():
        raise DamagedFile(f"the rows of {name} are not in the default order")


def is_sorted(strings: StringArray) -> bool:
    """Return whether the strings are sorted and distinct, by bytes."""
    data = strings.data if len(strings.data) >= _WORD else memoryview(bytes(strings.data).ljust(_WORD, b"\0"))
    words = np.ndarray(len(data) - _WORD + 1, ">u8", data, strides=(1,))  # one word starting at each byte
    chunks = range(0, len(strings) - 1, _CHUNK)
    return all(_is_sorted(words, strings.offsets[begin : begin + _CHUNK + 2]) for begin in chunks)


def _is_sorted(words: NDArray[Any], offsets: NDArray[np.int64]) -> bool:
    """Return whether the strings between offsets are sorted and distinct.

    Neighbours are compared in words of 8 bytes, padded with NUL; pairs that are equal so far go on to the next word.
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
    """Return the big-endian words at some offsets; bytes past a length are 0."""
    offset = np.minimum(start, len(words) - 1)
    shift = (8 * np.minimum(start - offset, _WORD - 1)).astype(np.uint64)
    shifted: NDArray[np.uint64] = (words[offset].astype(np.uint64) << shift) & _MASKS.take(length.clip(0, _WORD))
    return shifted
