"""Validate the arrays of a baked file: checksums detect damage, but not a file that was written wrongly."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.background import Progress, silent
from service.baking.layout import CHECKING_THREADS, DamagedFile
from service.engine.columns.column import Column, Rows, StringArray
from service.engine.columns.ranking import ListTexts
from service.engine.columns.selection import count, least_dense
from service.engine.facets import read_spellings
from service.engine.geography.grid import grid_cells
from service.engine.geography.locations import DIMENSIONS, Locations
from service.engine.geography.z_order import AXIS, UNITS_PER_DEGREE, Fixed, MortonCodes, Zooms, ZOrder, build_z_order
from service.engine.table import ROW_END, Table
from service.engine.text_index import TextIndex
from service.model.coordinates import MAX_ZOOM
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE
from service.model.records import Resource
from service.texts import printable, truncate

Words = NDArray[np.uint64]

_WORD: Final = 8  # bytes compared at once
_WORD_BITS: Final = np.uint64(64)
_LAST_BIT: Final = 63
_CHUNK: Final = 1 << 13  # strings compared at once: they fit the processor's cache, which halves the time
_MAX_DEVIATION: Final = 1e-12  # of the square of a vector's length from 1
_NO_RECORD: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ROW_START: Final = b"{"
_RECORD_END: Final = b"}" + ROW_END
_LINE_END: Final = b"\n"  # in no JSON of one line
_RECORDS: Final = 512  # decoded at once: no other thread runs meanwhile, for a third of a millisecond
_TURN_SECONDS: Final = 1e-5  # for other threads, which would wait for 5 ms otherwise
# The mask of the first n bytes of a word, for n from 0 to 8.
_MASKS: Final = np.array([((1 << 8 * n) - 1) << 8 * (_WORD - n) for n in range(_WORD + 1)], np.uint64)

# Two codes that are first in different cells at a zoom differ by a number below its bound, not below the next one.
_CODE_BOUNDS: Final = np.array(
    [AXIS**2, *(4 ** (MAX_ZOOM + 1 - zoom) for zoom in range(1, MAX_ZOOM + 2)), 0], np.uint64
)


def check_table(resource: Resource, table: Table, progress: Progress = silent) -> None:
    """Check that each row is a record, and the arrays are consistent: ranges, orders, offsets. Raises `DamagedFile`."""
    name = resource.name
    names = [f"{name}/{field}" for field in table.columns]
    with ThreadPoolExecutor(CHECKING_THREADS) as pool:
        rows = pool.submit(_check_rows, resource, table.rows, progress)
        text = pool.submit(_check_text_index, f"{name}/text", table.text)
        columns = pool.map(check_column, names, table.columns.values())
        rows.result()
        if table.locations is not None:
            check_locations(f"{name}/locations", table.locations)
            check_z_order(f"{name}/z_order", table.locations)
        list(columns)  # raises the first error
        text.result()
    for field, texts in table.lists.items():
        check_list_texts(f"{name}/{field}/texts", texts)
        check_spellings(f"{name}/{field}/texts", table, field)
    _check_numbering(name, table)


def check_list_texts(name: str, texts: ListTexts) -> None:
    """Check that texts are sorted, each list has some, ascending, and each text its lists. Raises `DamagedFile`."""
    _check_sorted(f"{name}/keys", texts.keys)
    offsets, count = texts.offsets, len(texts.texts)
    if offsets[0] != 0 or offsets[-1] != count or not (offsets[1:] > offsets[:-1]).all():
        raise DamagedFile(f"the offsets of {name} are not ascending")
    if not (texts.starts[1:] > texts.starts[:-1]).all():
        raise DamagedFile(f"the starts of {name} are not ascending")
    if not _in_range(texts.texts, len(texts.keys)):
        raise DamagedFile(f"the {name} have numbers that do not exist")
    rises = texts.texts[1:] > texts.texts[:-1]
    rises[offsets[1:-1] - 1] = True
    if not rises.all() or not texts.is_inverse:
        raise DamagedFile(f"the {name} are not those of its lists")


def check_spellings(name: str, table: Table, field: str) -> None:
    """Check that the first record with each text of lists has it, where facets read it. Raises `DamagedFile`."""
    count = len(table.lists[field].keys)
    for begin in range(0, count, _RECORDS):
        try:
            read_spellings(table, field, np.arange(begin, min(begin + _RECORDS, count)))
        except (*_NO_RECORD, KeyError):
            raise DamagedFile(f"the {name} are not those of its records") from None
        sleep(_TURN_SECONDS)


def check_identifiers(resource: Resource, table: Table) -> None:
    """Check that each row has the identifier in its column. Raises `DamagedFile`."""
    decode, key = msgspec.json.Decoder(resource.record).decode, table.columns[resource.identifier]
    for number in range(len(table)):
        identifier: str = getattr(decode(table.row(number)), resource.identifier)
        if key.values is not None and key.values[key.codes[number]] != identifier.encode():
            raise DamagedFile(f"row {number} of {resource.name} has another identifier than its column")


def check_projection(resource: Resource, table: Table) -> None:
    """Check that the Z-order is that of the locations, if there are any. Raises `DamagedFile`."""
    if (locations := table.locations) is None:
        return
    rows, others = np.sort(locations.order[: locations.count]), locations.order[locations.count :]
    places = locations.places.take(rows)
    built = build_z_order(rows, others, locations.latitudes.take(places), locations.longitudes.take(places))
    for part in ZOrder.__struct_fields__:
        if not np.array_equal(getattr(locations.z_order, part), getattr(built, part)):
            raise DamagedFile(f"{resource.name}/z_order/{part} is not that of the locations")


def _check_text_index(name: str, index: TextIndex) -> None:
    """Check that words are sorted and distinct, and each has rows in range: many as a bitmap, else few, ascending."""
    _check_sorted(f"{name}/words", index.words)
    starts, postings, numbers, least = index.starts, index.postings, index.dense.numbers, least_dense(index.length)
    if not _in_range(numbers, len(index.words)) or not (numbers[1:] > numbers[:-1]).all():
        raise DamagedFile(f"the dense words of {name} are not ascending")
    counts, are_dense = np.diff(starts.astype(np.int64)), np.zeros(len(index.words), np.bool_)
    are_dense[numbers] = True
    if not np.where(are_dense, counts == 0, (counts > 0) & (counts < least)).all():
        raise DamagedFile(f"the starts of {name} are not ascending")
    for number, bitmap in zip(index.dense.counts.tolist(), index.dense_bitmaps, strict=True):
        if not least <= number == count(bitmap) or int(bitmap[-1]) >> (index.length & _LAST_BIT):
            raise DamagedFile(f"the bitmaps of {name} do not have as many rows as their counts")
    if not _in_range(postings, index.length):
        raise DamagedFile(f"the postings of {name} have rows that do not exist")
    falls = (postings[1:] <= postings[:-1]).nonzero()[0] + 1
    if not np.isin(falls, starts, assume_unique=True).all():
        raise DamagedFile(f"the postings of {name} are not ascending")


def _check_rows(resource: Resource, rows: StringArray, progress: Progress) -> None:
    """Check that each row is a record in JSON, followed by `ROW_END`.

    Many at once, as lines: what begins and ends like an object cannot be parts of one value on several lines.
    """
    _check_offsets(f"{resource.name}/rows", rows)
    strict = msgspec.defstruct("Record", (), bases=(resource.record,), kw_only=True, forbid_unknown_fields=True)
    decoder = msgspec.json.Decoder(strict)
    for begin in range(0, len(rows), _RECORDS):
        some = rows.part(begin, begin + _RECORDS)
        if not _are_records(decoder, some):
            number, why = next(_invalid(decoder, some))
            raise DamagedFile(f"row {begin + number:,} of {resource.name} is not a record: {why}")
        progress(f"Checking {resource.name}", begin + len(some), len(rows))
        sleep(_TURN_SECONDS)


def _are_records(decoder: msgspec.json.Decoder[Any], rows: StringArray) -> bool:
    data, starts, ends = np.frombuffer(rows.data, np.uint8).copy(), rows.offsets[:-1], rows.offsets[1:]
    if int((ends - starts).min()) < len(_ROW_START) + len(_RECORD_END):
        return False
    places = ((starts, _ROW_START[0]), (ends - 2, _RECORD_END[0]), (ends - 1, _RECORD_END[1]))
    if not all((data.take(place) == byte).all() for place, byte in places):
        return False
    data[ends - 1] = _LINE_END[0]
    try:
        return len(decoder.decode_lines(data.data)) == len(rows)
    except _NO_RECORD:
        return False


def _invalid(decoder: msgspec.json.Decoder[Any], rows: StringArray) -> Iterator[tuple[int, str]]:
    """Yield the number of each row that is not a record and a comma, and why."""
    for number, row in enumerate(rows):
        try:
            decoder.decode(row[: -len(ROW_END)])
        except _NO_RECORD as error:
            yield number, printable(truncate(str(error)))
        else:
            if not (row.startswith(_ROW_START) and row.endswith(_RECORD_END)):
                yield number, "it is not enclosed in braces, with a comma"


def _check_offsets(name: str, strings: StringArray) -> None:
    if not (strings.offsets[1:] >= strings.offsets[:-1]).all():
        raise DamagedFile(f"the offsets of {name} are not ascending")


def check_column(name: str, column: Column) -> None:
    """Check the codes, order, starts and values of a column. Raises `DamagedFile`."""
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
    length, ends = len(codes), starts[1:]
    # Compared before they are used as indices or subtracted: a difference may overflow.
    increasing = starts[0] == 0 and starts[-1] <= length and bool((ends > starts[:-1]).all())
    if not increasing or (length and int(codes.max()) >= len(starts)):
        raise DamagedFile(f"the starts of {name} do not partition its rows")
    if not _in_range(order, length):
        raise DamagedFile(f"the order of {name} has rows that do not exist")
    sorted_codes = codes.take(order)
    # Codes that ascend, with each code at the first and the last of its rows, are the same in between.
    expected = np.arange(len(ends) + int(starts[-1] < length), dtype=np.uint32)
    firsts, lasts = sorted_codes.take(starts[: len(expected)]), sorted_codes.take(ends - 1)
    if not (np.array_equal(firsts, expected) and np.array_equal(lasts, expected[: len(ends)])):
        raise DamagedFile(f"the starts of {name} do not partition its rows")
    # Rows that ascend within each code differ, so with the length of the table they are all its rows.
    ascending = order[1:] > order[:-1]
    ascending[ends[ends < length] - 1] = True
    if not (ascending.all() and (sorted_codes[1:] >= sorted_codes[:-1]).all()):
        raise DamagedFile(f"the order of {name} is not sorted by value")


def _in_range(rows: Rows, length: int) -> bool:
    return len(rows) == 0 or 0 <= int(rows.min()) <= int(rows.max()) < length


def check_locations(name: str, locations: Locations) -> None:
    """Check that each row has one place, and that places are sorted by cells, in range, with vectors of length 1."""
    order, places, count = locations.order, locations.places, locations.count
    _check_places(name, order, places)
    latitudes, longitudes = locations.latitudes, locations.longitudes
    if not ((abs(latitudes) <= MAX_LATITUDE) & (abs(longitudes) <= MAX_LONGITUDE)).all():
        raise DamagedFile(f"the coordinates of {name} are out of range")
    if not np.array_equal(locations.cells, grid_cells(latitudes, longitudes)):
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
    """Check that the Z-order has every row once, and what counting by cells relies on. Raises `DamagedFile`.

    That codes and coordinates are those of the locations is checked by `check_projection` only: of 1,000,000 rows it
    takes 250 ms, this takes 10. If they are not, counts are wrong, but nothing fails.
    """
    z_order = locations.z_order
    _check_places(name, z_order.order, z_order.places)
    others = locations.places.take(z_order.order[locations.count :])
    if len(others) and int(others.min()) < locations.count:
        raise DamagedFile(f"the order of {name} does not have the located rows first")
    if not (_are_within(z_order.latitudes, MAX_LATITUDE) and _are_within(z_order.longitudes, MAX_LONGITUDE)):
        raise DamagedFile(f"the coordinates of {name} are out of range")
    codes, zooms = z_order.codes, z_order.zooms
    if not (codes[1:] >= codes[:-1]).all() or (len(codes) and int(codes[-1]) >= _CODE_BOUNDS[0]):
        raise DamagedFile(f"the codes of {name} are not ascending, or out of range")
    if len(zooms) and (zooms[0] != 0 or not _are_zooms(zooms, codes)):
        raise DamagedFile(f"the zooms of {name} are not those of its codes")


def _are_within(units: Fixed, degrees: int) -> bool:
    limit = degrees * UNITS_PER_DEGREE
    return len(units) == 0 or -limit <= int(units.min()) <= int(units.max()) <= limit


def _are_zooms(zooms: Zooms, codes: MortonCodes) -> bool:
    """Return whether each zoom but the first is the least at which the code before is in another cell."""
    least, differing = zooms[1:], codes[1:] ^ codes[:-1]
    below = differing < _CODE_BOUNDS.take(least, mode="clip")
    return bool((below & (differing >= _CODE_BOUNDS[1:].take(least, mode="clip"))).all())


def _check_places(name: str, order: Rows, places: Rows) -> None:
    """Check that an order has every row once, and that places are its inverse."""
    length = len(order)
    if not _in_range(order, length):
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
    chunks = range(0, len(strings) - 1, _CHUNK)
    offsets = strings.offsets
    return all(_is_sorted(strings.data, offsets[begin : begin + _CHUNK + 2].astype(np.int64)) for begin in chunks)


def _is_sorted(data: memoryview, offsets: NDArray[np.int64]) -> bool:
    """Return whether the strings between offsets are sorted and distinct.

    Neighbours are compared in words of 8 bytes, padded with NUL; pairs that are equal so far go on to the next word.
    """
    aligned = _aligned(data[offsets[0] : offsets[-1]])
    start, length = offsets[:-1] - offsets[0], np.diff(offsets)
    pairs, at = np.arange(len(start) - 1), 0
    while len(pairs):
        one, other = _neighbours(aligned, start + at, length - at, pairs)
        if (one > other).any():
            return False
        pairs = pairs[one == other]
        shorter, longer = length.take(pairs), length.take(pairs + 1)
        ended = np.minimum(shorter, longer) <= at + _WORD
        if not (shorter < longer)[ended].all():
            return False
        pairs, at = pairs[~ended], at + _WORD
    return True


def _neighbours(
    aligned: Words, start: NDArray[np.int64], length: NDArray[np.int64], pairs: NDArray[np.intp]
) -> tuple[Words, Words]:
    """Return the words of the first and of the second string of each pair; computed once if most strings are both."""
    if len(pairs) * 2 < len(start):
        one, other = (_words(aligned, start.take(each), length.take(each)) for each in (pairs, pairs + 1))
        return one, other
    words = _words(aligned, start, length)
    return words.take(pairs), words.take(pairs + 1)


def _aligned(data: memoryview) -> Words:
    """Return a copy of bytes as little-endian words, followed by at least a word of NUL."""
    words = np.zeros(len(data) // _WORD + 2, "<u8")
    words.view(np.uint8)[: len(data)] = data
    return words


def _words(aligned: Words, start: NDArray[np.int64], length: NDArray[np.int64]) -> Words:
    """Return the big-endian words that start at some bytes; bytes past a length, or the data, are 0."""
    place, shift = start >> 3, (start << 3 & _LAST_BIT).view(np.uint64)
    words: Words = aligned.take(place, mode="clip") >> shift
    words |= aligned.take(place + 1, mode="clip") << (_WORD_BITS - shift)  # 0 if nothing is shifted
    return words.byteswap(inplace=True) & _MASKS.take(length, mode="clip")
