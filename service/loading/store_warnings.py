"""Warnings about all stores together: their locations, countries and postal codes, each with a count and an example."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from service.engine.columns.column import Column, Rows, StringArray, union
from service.engine.geography.grid import Floats, are_in_box
from service.engine.geography.locations import Locations
from service.engine.table import Table
from service.model.coordinates import Box
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE, fold, key_number
from service.reading.characters import INVISIBLE
from service.reading.columns.countries import Country, countries_by_name
from service.reading.diagnostics import Diagnostic, DiagnosticCode
from service.texts import counted, truncate

_COORDINATES: Final = ("latitude", "longitude")
_EARTH: Final = Box(-MAX_LONGITUDE, -MAX_LATITUDE, MAX_LONGITUDE, MAX_LATITUDE)
_TEXTS: Final = b"3"  # sorts after the normalized keys of decimals, and not after those of other texts
# A few stores are without a location in most data, because their address was not found.
_MANY: Final = 10  # stores
_LARGE: Final = 0.1  # of all stores
_NEARLY_ALL: Final = 0.9  # of the stores outside of a country
_EXTENSION: Final = 5  # characters after the first part of a code such as 02108-1234


class _Finding(msgspec.Struct, frozen=True, eq=False):
    """Stores to warn about: `rows` out of `total`, what they have in common (`what`), and the end of the sentence."""

    code: DiagnosticCode
    field: str | None
    rows: Rows
    total: int
    what: str
    end: str = ""

    def diagnostic(self, stores: Table, file: str) -> Diagnostic:
        """Return the warning, with the first row as an example."""
        record = _record(stores, self.rows[0])
        value = record[self.field] if self.field else None
        example = f"such as {stores.key} {truncate(record[stores.key])!r}"
        why = f"{len(self.rows):,} of {counted(self.total, 'store')} {self.what}, {example}{self.end}"
        return Diagnostic(self.code, file, None, None, self.field, value and truncate(value), why)


def store_warnings(stores: Table, locations: Locations, file: str) -> Iterator[Diagnostic]:
    """Yield the warnings about the stores of a file."""
    yield from (finding.diagnostic(stores, file) for finding in _findings(stores, locations) if len(finding.rows))


def _findings(stores: Table, locations: Locations) -> Iterator[_Finding]:
    coordinates = _coordinates(stores, locations)
    yield from _alike(stores, stores.key)
    yield from _alike(stores, "company_id")
    yield from _without_location(stores)
    yield _at_zero(coordinates)
    column, rows_by_country = stores.columns["country"], dict[Country, Rows]()
    for country, codes in _countries(column).items():
        rows = rows_by_country[country] = union(map(column.postings, codes))
        yield from _outside(rows, coordinates, country.boxes)
        yield from _spellings(stores, codes)
    yield from _short_codes(stores.columns["postal_code"], rows_by_country)


def _alike(stores: Table, field: str) -> Iterator[_Finding]:
    """Yield the rows whose identifier differs from another one in case, spaces and invisible characters only."""
    column = stores.columns[field]
    keys = _values(column)
    joined = bytes(keys.data)
    if joined.isascii() and b" " not in joined and joined in (joined.lower(), joined.upper()):
        return
    digests = np.fromiter(map(hash, map(_look, keys)), np.int64, len(keys))  # smaller than texts
    _, first, groups = np.unique(digests, return_index=True, return_inverse=True)
    codes = np.flatnonzero(first[groups] != np.arange(len(keys)))
    rows = union([column.postings(code) for code in codes.tolist()])
    if len(rows):
        other = keys[first[groups[column.codes[rows[0]]]]].decode()
        what = f"with an identifier that differs from another one, {truncate(other)!r}"
        yield _Finding("spelling", field, rows, len(stores), f"{what}, in case, spaces or invisible characters only")


def _look(key: bytes) -> str | bytes:
    """Return what identifiers have in common that look alike."""
    return key.strip().lower() if key.isascii() else fold(INVISIBLE.sub("", key.decode()))


def _without_location(stores: Table) -> Iterator[_Finding]:
    """Yield the stores without coordinates, if they are many but not all, and those with only one."""
    columns, total = {name: stores.columns[name] for name in _COORDINATES}, len(stores)
    neither = np.arange(total, dtype=np.int32)
    for column in columns.values():
        neither = neither[column.codes[neither] >= _decimals(column)]
    if max(_MANY, _LARGE * total) <= len(neither) < total:
        yield _Finding(
            "unlocated", None, neither, total, "without a location", ": maps and searches by location omit them"
        )
    for field, other in (_COORDINATES, _COORDINATES[::-1]):
        missing = columns[field].order[columns[field].non_null_count :]
        rows = missing[columns[other].codes[missing] < _decimals(columns[other])]
        yield _Finding("location", field, rows, total, f"with a {other} but no {field}")


def _at_zero(coordinates: tuple[Floats, Floats]) -> _Finding:
    """Return the stores at 0, 0, and remove their coordinates."""
    latitudes, longitudes = coordinates
    rows = np.flatnonzero((latitudes == 0) & (longitudes == 0)).astype(np.int32)
    latitudes[rows] = longitudes[rows] = np.nan
    what, end = "at latitude 0 and longitude 0", ": leave them empty if the location is unknown"
    return _Finding("location", None, rows, len(latitudes), what, end)


def _outside(rows: Rows, coordinates: tuple[Floats, Floats], boxes: Sequence[Box]) -> Iterator[_Finding]:
    """Yield the rows outside of all boxes, and whether most are inside with latitude and longitude exchanged.

    Coordinates out of range only count if they are inside then: they have another warning.
    """
    latitudes, longitudes = coordinates
    located = rows[~np.isnan(latitudes[rows])]
    outside = _beyond(located, latitudes, longitudes, boxes)
    misplaced = _beyond(outside, longitudes, latitudes, boxes)
    unreal = _beyond(misplaced, latitudes, longitudes, (_EARTH,))
    outside = np.setdiff1d(outside, unreal, assume_unique=True)
    if len(outside):
        end = f" at {latitudes[outside[0]]:g}, {longitudes[outside[0]]:g}"
        if len(misplaced) - len(unreal) <= (1 - _NEARLY_ALL) * len(outside):
            end += "; latitude and longitude seem to be exchanged"
        yield _Finding("outside", "country", outside, len(rows), "located outside this country", end)


def _beyond(rows: Rows, latitudes: Floats, longitudes: Floats, boxes: Sequence[Box]) -> Rows:
    """Return the rows with coordinates that are in none of the boxes."""
    for box in boxes:
        rows = rows[~are_in_box(box, latitudes[rows], longitudes[rows])]
    return rows


def _spellings(stores: Table, codes: Sequence[int]) -> Iterator[_Finding]:
    """Yield the rows that spell their country in another way than most."""
    column = stores.columns["country"]
    *rare, most = sorted(codes, key=column.count)
    name = truncate(_record(stores, column.postings(most)[0])["country"])
    what, end = f"with this country spelled differently from {name!r}", "; a filter matches one spelling only"
    for code in rare:
        total = column.count(code) + column.count(most)
        yield _Finding("spelling", "country", column.postings(code), total, what, end)


def _short_codes(column: Column, rows_by_country: Mapping[Country, Rows]) -> Iterator[_Finding]:
    """Yield the rows whose postal codes have one or two digits too few.

    Zeros that a mapping adds are for all rows: only if no country gets them that has fewer digits, they are advised.
    """
    for country, rows in rows_by_country.items():
        digits = country.postal_digits
        if digits and len(short := _of_digits(column, rows, digits - 2, digits - 1)):
            alike = union(rows for each, rows in rows_by_country.items() if each.postal_digits == digits)
            if np.isin(_of_digits(column, column.order, 1, digits - 1), alike).all():
                pad = f"fields.postal_code = {{ from = …, pad = {digits} }} under [stores] of the mapping"
                end = f": leading zeros seem to be missing; declare {pad}"
            else:
                end = ": zeros in front may be lost; correct the file"
            what = f"in {country.names[0]} with fewer than {digits} digits"
            yield _Finding("postal", "postal_code", short, len(rows), what, end)


def _of_digits(column: Column, rows: Rows, least: int, most: int) -> Rows:
    """Return the rows whose postal codes have so many digits, and the four of an extension or not."""
    values, lengths = _values(column), range(least, most + 1)
    wanted = [*lengths, *(length + _EXTENSION for length in lengths)]
    possible = rows[np.isin(np.append(np.diff(values.offsets), 0).take(column.codes[rows]), wanted)]
    pattern = re.compile(rb"[0-9]{%d,%d}(?:-[0-9]{4})?" % (least, most))
    codes = column.codes[possible]
    return possible[np.isin(codes, [code for code in np.unique(codes).tolist() if pattern.fullmatch(values[code])])]


def _countries(column: Column) -> Mapping[Country, list[int]]:
    """Return the known countries, and the codes of their names in a column."""
    known, found = countries_by_name(), defaultdict[Country, list[int]](list)
    for code, key in enumerate(_values(column)):
        if key in known:
            found[known[key]].append(code)
    return found


def _coordinates(stores: Table, locations: Locations) -> tuple[Floats, Floats]:
    """Return latitude and longitude of each row in degrees, out of range or not; NaN if one of them is no decimal."""
    latitudes, longitudes = np.full((2, len(stores)), np.nan)
    located, others = np.split(locations.order, [locations.count])
    latitudes[located], longitudes[located] = locations.latitudes, locations.longitudes
    columns = [stores.columns[name] for name in _COORDINATES]
    for column in columns:
        others = others[column.codes[others] < _decimals(column)]
    latitudes[others], longitudes[others] = (_numbers(column, others) for column in columns)
    return latitudes, longitudes


def _decimals(column: Column) -> int:
    """Return the number of distinct decimals, which come before other texts."""
    return _values(column).bisect(_TEXTS)


def _numbers(column: Column, rows: Rows) -> Floats:
    """Return the numbers of rows with decimals."""
    codes, inverse = np.unique(column.codes[rows], return_inverse=True)
    numbers: Floats = np.array([key_number(_values(column)[code]) for code in codes.tolist()], float)[inverse]
    return numbers


def _values(column: Column) -> StringArray:
    return column.values or StringArray.of(())


def _record(stores: Table, row: int) -> dict[str, Any]:
    record: dict[str, Any] = msgspec.json.decode(stores.row(int(row)))
    return record
