"""The arrays of a table in a baked file: declared, stored, mapped, and checked, as checksums detect only damage."""

import operator
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import numpy as np

from service.background import Progress
from service.baking.arrays import Arrays, Lengths, Numbers, Structure, T, are_sorted, strings
from service.baking.layout import CHECKING_THREADS, Array, DamagedFile
from service.baking.records import check_rows, check_spellings
from service.engine.columns.column import Column, Rows
from service.engine.columns.ranking import ListTexts
from service.engine.columns.selection import count, least_dense, word_count
from service.engine.geography.grid import Floats, grid_cells
from service.engine.geography.locations import DIMENSIONS, Locations
from service.engine.geography.z_order import AXIS, UNITS_PER_DEGREE, ZOrder, build_z_order, zooms_of
from service.engine.opening_hours import DAY, TIME_BITS, WEEK, Exceptions, OpenTimes, Week
from service.engine.table import Table
from service.engine.text_index import DenseWords, TextIndex
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE
from service.model.records import CREATED_AT, Resource

_MAX_DEVIATION: Final = 1e-12  # of the square of a vector's length from 1
_LAST_BIT: Final = 63
_DAY_SECONDS: Final = 24 * 60 * 60
_CODES: Final = (np.uint8, np.uint16, np.uint32)
_I32, _I64, _F64 = (np.int32,), (np.int64,), (np.float64,)
_ROW: Final = Numbers(_I32, "rows", below="rows")
_POSITION: Final = Numbers(_I32, "rows")


def _check_column(name: str, column: Column) -> None:
    """Check that `order` has every row once, by code, ties by row, and that `starts` has the start of each code."""
    codes, order, starts = column.codes, column.order, column.starts
    length, ends = len(codes), starts[1:]
    if starts[0] != 0 or starts[-1] > length or (length and int(codes.max()) >= len(starts)):
        raise DamagedFile(f"the starts of {name} do not partition its rows")
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


COLUMN: Final = Structure(
    Column,
    _check_column,
    codes=Numbers(_CODES, "rows"),
    order=_ROW,
    starts=Numbers(_I32, "values", more=1, rises=operator.gt),
)
_FILTER: Final = Structure(Column, _check_column, **COLUMN.parts, values=strings("values", are_sorted))


def _check_lists(name: str, texts: ListTexts) -> None:
    """Check that the texts of each list ascend, and that each text has its lists."""
    rises = texts.texts[1:] > texts.texts[:-1]
    rises[texts.offsets[1:-1] - 1] = True
    if not rises.all() or not texts.is_inverse:
        raise DamagedFile(f"the {name} are not those of its lists")


_LISTS: Final = Structure(
    ListTexts,
    _check_lists,
    keys=strings("keys", are_sorted),
    offsets=Numbers(_I64, "lists", more=1, rises=operator.gt, ends="texts"),
    texts=Numbers(_I32, "texts", below="keys"),
    starts=Numbers(_I64, "keys", more=1, rises=operator.gt),
    lists=Numbers(_I32, "texts"),
)


def _check_text_index(name: str, index: TextIndex) -> None:
    """Check that each word has rows: many as a bitmap, else few, ascending."""
    starts, postings, least = index.starts, index.postings, least_dense(index.length)
    counts, are_dense = np.diff(starts.astype(np.int64)), np.zeros(len(index.words), np.bool_)
    are_dense[index.dense.numbers] = True
    if not np.where(are_dense, counts == 0, (counts > 0) & (counts < least)).all():
        raise DamagedFile(f"the starts of {name} are not ascending")
    for number, bitmap in zip(index.dense.counts.tolist(), index.dense_bitmaps, strict=True):
        if not least <= number == count(bitmap) or int(bitmap[-1]) >> (index.length & _LAST_BIT):
            raise DamagedFile(f"the bitmaps of {name} do not have as many rows as their counts")
    falls = (postings[1:] <= postings[:-1]).nonzero()[0] + 1
    if not np.isin(falls, starts, assume_unique=True).all():
        raise DamagedFile(f"the postings of {name} are not ascending")


TEXT: Final = Structure(
    TextIndex,
    _check_text_index,
    words=strings("words", are_sorted),
    starts=Numbers((np.uint32, np.int64), "words", more=1, ends="postings"),
    postings=Numbers(_I32, "postings", below="rows"),
    dense=Structure(
        DenseWords,
        numbers=Numbers(_I32, "dense", below="words", rises=operator.gt),
        counts=Numbers(_I32, "dense"),
        bitmaps=Numbers((np.uint64,), "dense", each="bitmap"),
    ),
)


def _check_positions(name: str, order: Rows, positions: Rows) -> None:
    """Check that positions are the inverse of an order, so that this has every row once."""
    if not np.array_equal(positions[order], np.arange(len(order), dtype=np.int32)):
        raise DamagedFile(f"the positions of {name} are not those of its order")


def _check_locations(name: str, locations: Locations) -> None:
    """Check that each row has one position, and that positions are sorted by their cells, with vectors of length 1."""
    order, cells, count = locations.order, locations.cells, locations.count
    _check_positions(name, order, locations.positions)
    if not np.array_equal(cells, grid_cells(locations.latitudes, locations.longitudes)):
        raise DamagedFile(f"the cells of {name} are not those of its coordinates")
    rows, others = order[:count], order[count:]
    sorted_by_cell = (cells[1:] > cells[:-1]) | ((cells[1:] == cells[:-1]) & (rows[1:] > rows[:-1]))
    if not (sorted_by_cell.all() and (others[1:] > others[:-1]).all()):
        raise DamagedFile(f"the order of {name} is not sorted by cell")
    check_vectors(name, locations.points)


def check_vectors(name: str, vectors: Floats) -> None:
    """Check that vectors have the length 1. Raises `DamagedFile`."""
    # Written so that NaN fails.
    if not (abs(np.einsum("ij,ij->i", vectors, vectors) - 1) <= _MAX_DEVIATION).all():
        raise DamagedFile(f"the vectors of {name} do not have the length 1")


_LOCATIONS: Final = Structure(
    Locations,
    _check_locations,
    order=_ROW,
    positions=_POSITION,
    cells=Numbers((np.uint32,), "located"),
    latitudes=Numbers(_F64, "located", within=MAX_LATITUDE),
    longitudes=Numbers(_F64, "located", within=MAX_LONGITUDE),
    vectors=Numbers(_F64, "located", each="vector"),
)


def _check_z_order(name: str, z_order: ZOrder) -> None:
    """Check that the Z-order has every row once, and what counting by cells relies on.

    That codes and coordinates are those of the locations is checked by `check_projection` only: of 1,000,000 rows it
    takes 250 ms, this takes 10. If they are not, counts are wrong, but nothing fails.
    """
    _check_positions(name, z_order.order, z_order.positions)
    if not np.array_equal(z_order.zooms, zooms_of(z_order.codes)):
        raise DamagedFile(f"the zooms of {name} are not those of its codes")


_Z_ORDER: Final = Structure(
    ZOrder,
    _check_z_order,
    order=_ROW,
    positions=_POSITION,
    codes=Numbers((np.uint64,), "located", below=AXIS**2, rises=operator.ge),
    zooms=Numbers((np.uint8,), "located"),
    latitudes=Numbers(_I32, "located", within=MAX_LATITUDE * UNITS_PER_DEGREE),
    longitudes=Numbers(_I32, "located", within=MAX_LONGITUDE * UNITS_PER_DEGREE),
)


def _check_times(name: str, times: OpenTimes) -> None:
    """Check that each zone has changes of its clock, the first in 1970."""
    zones, changes = times.zones, times.changes
    firsts = changes[changes & ((1 << TIME_BITS) - 1) == 0] >> TIME_BITS
    known = np.append(changes[:1], 0)[0] == 0 and np.array_equal(firsts, np.arange(len(firsts)))
    if not known or (changes[-1:] >> TIME_BITS >= len(firsts)).any() or (zones >= len(firsts)).any():
        raise DamagedFile(f"the changes of {name} are not those of its zones")


_U16: Final = (np.uint16,)
_OPEN_TIMES: Final = Structure(
    OpenTimes,
    _check_times,
    zones=Numbers(_U16, "values"),
    changes=Numbers(_I64, "changes", rises=operator.gt),
    offsets=Numbers(_I32, "changes", within=_DAY_SECONDS),
    week=Structure(
        Week,
        hours=Numbers(_I32, "intervals", below="values"),
        starts=Numbers(_U16, "intervals", below=WEEK, rises=operator.ge),
        lengths=Numbers(_U16, "intervals", below=DAY + 1),
    ),
    exceptions=Structure(
        Exceptions,
        hours=Numbers(_I32, "exceptions", below="values"),
        first=Numbers(_I32, "exceptions"),
        last=Numbers(_I32, "exceptions"),
        starts=Numbers(_U16, "exceptions", below=DAY),
        lengths=Numbers(_U16, "exceptions", below=DAY + 1),
    ),
)
_ROWS: Final = strings("rows")


def table_arrays(resource: Resource, table: Table) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of a table, with their names."""
    name = resource.name
    yield from _ROWS.arrays(f"{name}/rows", table.rows)
    yield from TEXT.arrays(f"{name}/text", table.text)
    for field, column in table.columns.items():
        yield from (COLUMN if column.values is None else _FILTER).arrays(f"{name}/{field}", column)
    for field, texts in table.lists.items():
        yield from _LISTS.arrays(f"{name}/{field}/texts", texts)
    if table.hours is not None:
        yield from _OPEN_TIMES.arrays(f"{name}/{table.hours.field}/times", table.hours)
    if table.locations is not None:
        yield from _LOCATIONS.arrays(f"{name}/locations", table.locations)
        yield from _Z_ORDER.arrays(f"{name}/z_order", table.locations.z_order)


class MappedTable:
    """A table whose arrays are those of a file, and how to check them."""

    def __init__(self, resource: Resource, arrays: Arrays) -> None:
        """Take the arrays of the table. Raises `DamagedFile` if one is missing, or has another type or length."""
        self._resource, self._arrays = resource, arrays
        self._checks: list[Callable[[], None]] = []
        rows = self._take("rows", _ROWS, {})
        lengths = {"rows": len(rows), "bitmap": word_count(len(rows)), "vector": DIMENSIONS}
        text = self._take("text", TEXT, lengths.copy(), length=len(rows))
        columns, lists = {}, {}
        for field in resource.fields:
            name = field.name
            if field.has_values:
                columns[name] = self._take(name, _FILTER, lengths.copy())
            elif field.is_column:
                columns[name] = self._take(name, COLUMN, lengths.copy(), values=None)
            if field.is_list and field.is_column:
                lists[name] = self._take(f"{name}/texts", _LISTS, {"lists": columns[name].null_code})
        hours = locations = None
        if declared := resource.hours:
            values = {"values": columns[declared.name].null_code}
            hours = self._take(f"{declared.name}/times", _OPEN_TIMES, values, field=declared.name)
        if resource.coordinates:
            z_order = self._take("z_order", _Z_ORDER, lengths)
            locations = self._take("locations", _LOCATIONS, lengths, z_order=z_order)
        key = resource.identifier
        self.table = Table(
            rows, columns, order_by=CREATED_AT, key=key, text=text, locations=locations, lists=lists, hours=hours
        )

    def _take(self, part: str, structure: Structure[T], lengths: Lengths, **others: object) -> T:
        name = f"{self._resource.name}/{part}"
        value = structure.take(name, self._arrays, lengths, **others)
        self._checks.append(partial(structure.check, name, value, lengths))
        return value

    def check(self, progress: Progress) -> None:
        """Check that each row is a record, and the arrays are consistent. Raises `DamagedFile`."""
        resource, table = self._resource, self.table
        where_rows_are, *others = self._checks
        where_rows_are()
        with ThreadPoolExecutor(CHECKING_THREADS) as pool:
            rows = pool.submit(check_rows, resource, table.rows, progress)
            for each in (rows, *map(pool.submit, others)):
                each.result()  # raises the first error
        for field in table.lists:
            check_spellings(f"{resource.name}/{field}/texts", table, field)
        if (locations := table.locations) is not None:
            unlocated = locations.positions.take(locations.z_order.order[locations.count :])
            if len(unlocated) and int(unlocated.min()) < locations.count:
                raise DamagedFile(f"the order of {resource.name}/z_order does not have the located rows first")
        _check_numbering(resource.name, table)


def _check_numbering(name: str, table: Table) -> None:
    """Check that identifiers are unique and that rows are numbered in the default order."""
    order_by, key = table.columns[table.order_by], table.columns[table.key]
    if len(key.starts) - 1 != len(table):
        raise DamagedFile(f"an identifier of {name} is missing or repeated")
    time, identifier = order_by.codes, key.codes
    if not ((time[1:] > time[:-1]) | ((time[1:] == time[:-1]) & (identifier[1:] > identifier[:-1]))).all():
        raise DamagedFile(f"the rows of {name} are not in the default order")


def check_hours(stored: OpenTimes, built: OpenTimes) -> None:
    """Check that opening hours are those that are built of the records, whatever the changes of the clocks of today.

    Raises `DamagedFile`.
    """
    name = f"{stored.field}/times"
    expected = dict(_OPEN_TIMES.arrays(name, built))
    for part, array in _OPEN_TIMES.arrays(name, stored):
        if not part.endswith(("/changes", "/offsets")) and not np.array_equal(array, expected[part]):
            raise DamagedFile(f"{part} are not those of the records")


def check_projection(resource: Resource, table: Table) -> None:
    """Check that the Z-order is that of the locations, if there are any. Raises `DamagedFile`."""
    if (locations := table.locations) is None:
        return
    rows, others = np.sort(locations.order[: locations.count]), locations.order[locations.count :]
    positions = locations.positions.take(rows)
    built = build_z_order(rows, others, locations.latitudes.take(positions), locations.longitudes.take(positions))
    for part in ZOrder.__struct_fields__:
        if not np.array_equal(getattr(locations.z_order, part), getattr(built, part)):
            raise DamagedFile(f"{resource.name}/z_order/{part} is not that of the locations")
