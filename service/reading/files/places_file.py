"""The operator's list of places: CSV with a header, or the dump of postal codes of GeoNames."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import compress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import numpy as np

from service.engine.geography.grid import Floats, unit_vector
from service.engine.geography.means import mean_vectors
from service.engine.places import Address
from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE, NUMBER_PATTERN, POSTAL, fold, trim
from service.model.places import CITY, POSTAL_CODE
from service.reading.diagnostics import Diagnostic, FileError
from service.reading.formats.csv_file import open_csv
from service.reading.text import copy_stored, plain_text
from service.spool import FileBytes, Spools, open_bytes
from service.texts import truncate

MAX_ROWS: Final = 2_000_000
_REQUIRED: Final = ("name", "kind", "country", "latitude", "longitude")
_OPTIONAL: Final = ("city", "province")
_COMPRESSIONS: Final = {".gz": "gz", ".zst": "zst"}
_GEONAMES_COLUMNS: Final = 12
_BEGINNING: Final = 1 << 16  # bytes, in which the first line ends
_NOWHERE: Final = "needs a latitude and a longitude in decimal degrees"

PlaceKey: TypeAlias = tuple[bool, str, str | None]
# A row: its line, and the cells of what it may be, by column, or why it cannot be read.
_Row: TypeAlias = tuple[int | None, Mapping[str, str] | str]


class PlaceList(msgspec.Struct, frozen=True, eq=False):
    """The places of a list, each once, with a point.

    places   whether each is a city, and what its first row calls it, in the order of these rows
    vectors  the unit vector of each, a row for each
    errors   of rows that are left out
    digest   of the bytes of the file
    """

    places: Sequence[tuple[bool, Address]]
    vectors: Floats
    errors: Sequence[Diagnostic]
    digest: str


def folded(text: str | None) -> str | None:
    """Return the key of a text, if there is one."""
    return None if text is None else fold(text)


def key_of(address: Address, *, is_city: bool) -> PlaceKey:
    """Return what is the same for places of one kind, name and country."""
    name = fold(address.city or "") if is_city else POSTAL.normalize(address.postal_code or "")
    return is_city, name, folded(address.country)


def read_places(path: str, spools: Spools) -> PlaceList:
    """Return the places of a file. Raises FileError."""
    stored = copy_stored(Path(path), spools)
    text = plain_text(stored, _COMPRESSIONS.get(Path(path).suffix.lower()), spools=spools)
    first_line = text[:_BEGINNING].split(b"\n", 1)[0]
    rows = _dump_rows(text) if first_line.count(b"\t") == _GEONAMES_COLUMNS - 1 else _csv_rows(text)
    numbers: dict[tuple[PlaceKey, str | None], int] = {}
    listed: list[tuple[bool, Address]] = []
    errors: list[Diagnostic] = []
    groups, latitudes, longitudes = array("i"), array("d"), array("d")
    for line, cells in rows:
        address = cells if isinstance(cells, str) else _address(cells)
        if isinstance(cells, str) or isinstance(address, str):
            errors.append(Diagnostic("places", path, line, None, None, None, str(address)))
            continue
        is_city = cells["kind"].strip() == CITY
        key = key_of(address, is_city=is_city), folded(address.province) if is_city else None
        number = numbers.setdefault(key, len(listed))
        if number == len(listed):
            listed.append((is_city, address))
        groups.append(number)
        latitudes.append(float(cells["latitude"]))
        longitudes.append(float(cells["longitude"]))
    errors.sort(key=lambda error: error.line or 0)
    vectors = np.column_stack(unit_vector(np.array(latitudes), np.array(longitudes)))
    means, have_point = mean_vectors(np.array(groups, np.int32), vectors, len(listed))
    located = list(compress(listed, have_point.tolist()))
    return PlaceList(located, means[have_point], errors, sha256(stored).hexdigest())


def _address(cells: Mapping[str, str]) -> Address | str:
    """Return what a row calls its place, or why it has none."""
    values = {name: trim(cells.get(name) or "") for name in (*_REQUIRED, *_OPTIONAL)}
    if missing := next((name for name in _REQUIRED[:3] if not values[name]), None):
        return f"a place needs a {missing}"
    kind = values["kind"]
    if kind not in (CITY, POSTAL_CODE):
        return f"the kind must be {CITY} or {POSTAL_CODE}, not {truncate(kind)!r}"
    if not all(map(_is_within, (values["latitude"], values["longitude"]), (MAX_LATITUDE, MAX_LONGITUDE))):
        return f"a place {_NOWHERE}"
    code, city = (None, values["name"]) if kind == CITY else (values["name"], values["city"] or None)
    return Address(city, values["province"] or None, values["country"], code)


def _is_within(degrees: str, most: int) -> bool:
    return NUMBER_PATTERN.fullmatch(degrees) is not None and abs(float(degrees)) <= most


def _csv_rows(text: FileBytes) -> Iterator[_Row]:
    file = open_csv(text, finds=lambda names: set(_REQUIRED) <= set(names))
    if missing := [name for name in _REQUIRED if name not in file.names]:
        raise FileError(f"a list of places has the columns {', '.join(_REQUIRED)}; missing: {', '.join(missing)}", 1)
    columns = [name for name in (*_REQUIRED, *_OPTIONAL) if name in file.names]
    count = 0
    for batch in file.batches(columns):
        yield from ((each.line, each.issue.why) for each in batch.unreadable)
        count += len(batch.numbers) + len(batch.unreadable)
        _check_count(count)
        cells = zip(*(batch.columns[name] for name in columns), strict=True)
        for line, row in zip(batch.lines(), cells, strict=True):
            yield line, {name: str(cell or "") for name, cell in zip(columns, row, strict=True)}


def _dump_rows(text: FileBytes) -> Iterator[_Row]:
    """Yield the postal code and the city of each line of a dump."""
    for number, line in enumerate(open_bytes(text), 1):
        _check_count(number)
        cells = line.decode().rstrip("\r\n").split("\t")
        if len(cells) != _GEONAMES_COLUMNS:
            yield number, f"expected {_GEONAMES_COLUMNS} columns, separated by tabs"
            continue
        country, code, city, region, abbreviation = cells[:5]
        shared = {
            "country": country,
            "province": abbreviation if trim(abbreviation).isalpha() else region,
            "latitude": cells[9],
            "longitude": cells[10],
        }
        if not trim(code) or not trim(city):
            yield number, "a place needs a postal code and a city"
        else:
            both = {**shared, "kind": POSTAL_CODE, "name": code, "city": city}, {**shared, "kind": CITY, "name": city}
            # An error of the line is one.
            yield from ((number, cells) for cells in (both[:1] if isinstance(_address(both[0]), str) else both))


def _check_count(count: int) -> None:
    if count > MAX_ROWS:
        raise FileError(f"more than {MAX_ROWS:,} rows")
