"""Choose the columns that a mapping is proposed for: by their names, or by the values that they have."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE
from service.model.records import COMPANIES, STORES
from service.reading.batch import Cell, RecordFile
from service.reading.columns.dates import RFC_3339, possible_formats
from service.reading.columns.field_names import column_key, end_of_path, suggest_field
from service.reading.columns.flags import IS_OPEN, flag_of, has_status_word, is_closed_name, mentions_status
from service.reading.formats.geometry import LATITUDE, LONGITUDE
from service.reading.mapping.toml import quoted

MAX_COLUMNS: Final = 1_000  # that are read; a header may have millions
_MAX_TEXT: Final = 200  # characters of a name and of a cell
# What people write for no value. Words that may be values are not here: NA is Namibia.
_NO_VALUE: Final = frozenset(
    {"-", "--", "–", "—", "?", "n/a", "#n/a", "#nv", "n.a.", "k.a.", "k. a.", "null", "(null)", r"\n"}  # noqa: RUF001 - dashes
    | {"unknown", "unbekannt", "inconnu", "desconocido", "sconosciuto", "onbekend"}
)


class ColumnSample(msgspec.Struct, frozen=True):
    """A column: its name, and its cells in the first records, texts without the white space around them.

    cells     None for those without a value
    no_value  the texts among them that mean "no value", as they are written
    """

    name: str
    cells: Sequence[Cell]
    no_value: Sequence[str] = ()

    @property
    def texts(self) -> list[str]:
        """The distinct texts."""
        return list(dict.fromkeys(cell for cell in self.cells if isinstance(cell, str)))

    @property
    def has_values(self) -> bool:
        """Whether it has texts or flags; arrays and objects are not the values of a field."""
        return any(isinstance(cell, str | bool) for cell in self.cells)


class FirstRecords(msgspec.Struct, frozen=True):
    """The first columns of a file by name, in order, and how many records they have."""

    columns: Mapping[str, ColumnSample]
    count: int = 0

    def count_missing(self, names: Sequence[str]) -> int:
        """Return how many of the records have no value in any of some columns."""
        cells = [self.columns[name].cells for name in names]
        return self.count - sum(any(cell is not None for cell in record) for record in zip(*cells, strict=True))


def read_first_records(file: RecordFile) -> FirstRecords:
    """Return the first records of a file. Raises FileError."""
    names = list(islice(filter(_is_name, file.names), MAX_COLUMNS))
    batch = next(file.batches(names), None)
    if batch is None:
        return FirstRecords({name: ColumnSample(name, ()) for name in names})
    return FirstRecords({name: _sample(name, batch.columns[name]) for name in names}, len(batch.numbers))


def _is_name(name: str) -> bool:
    return len(name) <= _MAX_TEXT and not name.isspace() and name != ""


def _sample(name: str, cells: Sequence[Cell]) -> ColumnSample:
    stripped = [cell.strip()[:_MAX_TEXT] if isinstance(cell, str) else cell for cell in cells]
    none = {""} | {cell for cell in stripped if isinstance(cell, str) and cell.casefold() in _NO_VALUE}
    return ColumnSample(name, [None if cell in none else cell for cell in stripped], sorted(none - {""}))


_TIME: Final = re.compile(",? h.*")


def prove_formats(texts: Sequence[str], first: FirstRecords) -> tuple[list[tuple[str, ...]], str]:
    """Return the formats that dates may have, a single one if a column proves it, and which; "" without a proof.

    A column with only one possible format does, if the dates are written like it, and no other contradicts it.
    """
    possible = possible_formats(texts)
    if len(possible) > 1:
        proven = {_date(each): column.name for column in first.columns.values() for each in _own_formats(column.texts)}
        fitting = [found for found in possible if all(_date(each) in proven for each in found if each != RFC_3339)]
        if len(fitting) == 1:
            return fitting, f"as {quoted(proven[_date(fitting[0][0])])} proves"
    return possible, ""


def _own_formats(texts: Sequence[str]) -> Sequence[str]:
    possible = possible_formats(texts) if possible_formats(texts[:1]) else []  # most columns have no dates
    return possible[0] if len(possible) == 1 else ()


def _date(declared: str) -> str:
    """Return the part of a format before the time."""
    return _TIME.sub("", declared)


COORDINATES: Final = ("latitude", "longitude")
_FIELDS_BY_KEY: Final = {column_key(field.name): field.name for field in STORES.fields}
_ENOUGH: Final = 3  # fields, with which names are those of a file of stores
_DEGREES: Final = re.compile(r"[+-]?[0-9]{1,3}[.,]([0-9]+)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[.,][0-9]+)?")
_PROOF: Final = 10  # one latitude in so many is beyond 90 degrees if it is a longitude: fewer are misspelt
_PRECISE: Final = 4  # decimals: a number with fewer may be a price, or have separated thousands


def recognizes(names: Sequence[str]) -> bool:
    """Return whether some names are like those of the columns of stores."""
    return len(columns_by_nearest_name(list(islice(names, MAX_COLUMNS)), paths=False)) >= _ENOUGH


def columns_by_nearest_name(names: Sequence[str], *, paths: bool) -> dict[str, str]:
    """Return the column of each field that has one: of its name, else of the nearest. `paths` if names are paths."""
    guesses: tuple[Mapping[str, str | None], ...] = (
        {name: name for name in names if name in _FIELDS_BY_KEY.values()},
        {name: _FIELDS_BY_KEY.get(column_key(name)) for name in names},
        {name: suggest_field(name, STORES) for name in names},
        {name: suggest_field(end_of_path(name), STORES) for name in names if paths and "." in name},
    )
    chosen: dict[str, str] = {}
    for guess in guesses:
        for name, field in guess.items():
            if field is not None and field not in chosen and name not in chosen.values():
                chosen[field] = name
    geometry = dict(zip(COORDINATES, (LATITUDE, LONGITUDE), strict=True))
    return chosen if geometry.items().isdisjoint(chosen.items()) else chosen | geometry  # a pair of one source


def are_exchanged(columns: Mapping[str, ColumnSample], chosen: Mapping[str, str]) -> bool:
    """Return whether the column chosen for latitudes has longitudes, and the other one latitudes."""
    if not chosen.keys() >= set(COORDINATES):
        return False
    latitudes, longitudes = ([*_degrees(columns[chosen[field]])] for field in COORDINATES)
    beyond = sum(degrees > MAX_LATITUDE for degrees in latitudes)
    fit = max(latitudes, default=0) <= MAX_LONGITUDE and max(longitudes, default=MAX_LONGITUDE) <= MAX_LATITUDE
    return fit and _PROOF * beyond > len(latitudes)


def columns_by_values(columns: Sequence[ColumnSample], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the columns, of those that are not chosen, whose values are coordinates, or say what is open.

    The latter replaces a column that is chosen by its name alone, such as `Open` with opening hours.
    """
    others = [column for column in columns if column.name not in chosen.values() and column.texts]
    found = _coordinates(list(filter(_has_degrees, others)), [field for field in COORDINATES if field not in chosen])
    named = next((column for column in columns if column.name == chosen.get(IS_OPEN.name)), None)
    if named is not None and not (named.texts and _count_unknown(named) == len(named.texts)):
        return found
    flags = find_flags(others)
    return found | ({IS_OPEN.name: flags.name} if flags else {})


def find_flags(columns: Iterable[ColumnSample]) -> ColumnSample | None:
    """Return the column that says what is open, if there is one: the one with the fewest unknown words."""
    return min(filter(_says_what_is_open, columns), key=_count_unknown, default=None)


def find_company_name(names: Sequence[str]) -> str | None:
    """Return the column, of those that are no fields, that names the company, if there is one."""
    return next((name for name in names if suggest_field(name, STORES) == COMPANIES.identifier), None)


def _says_what_is_open(column: ColumnSample) -> bool:
    """Return whether a column has words for open and closed, or is one of states with words for yes and no."""
    has_states = bool(column.texts) and has_status_word(column.name) and not _count_unknown(column)
    return not is_closed_name(column.name) and (has_states or mentions_status(end_of_path(column.name), column.cells))


def _count_unknown(column: ColumnSample) -> int:
    return sum(flag_of(text) is None for text in column.texts)


def _has_degrees(column: ColumnSample) -> bool:
    decimals = [found[1] for text in column.texts if (found := _DEGREES.fullmatch(text))]
    if len(decimals) < len(column.texts) or _largest(column) > MAX_LONGITUDE:
        return False
    return 2 * sum(len(digits) >= _PRECISE for digits in decimals) >= len(decimals)


def _coordinates(columns: Sequence[ColumnSample], missing: Sequence[str]) -> dict[str, str]:
    """Return the columns of missing coordinates among columns of degrees: latitudes come first, unless they cannot."""
    fitting = columns[: len(missing)]
    if len(fitting) < len(missing):
        return {}
    if len(fitting) == len(COORDINATES) and _largest(fitting[0]) > MAX_LATITUDE:
        fitting = fitting[::-1]
    found = dict(zip(missing, fitting, strict=True))
    if any(_largest(column) > MAX_LATITUDE for field, column in found.items() if field == COORDINATES[0]):
        return {}
    return {field: column.name for field, column in found.items()}


def _largest(column: ColumnSample) -> float:
    return max(_degrees(column))


def _degrees(column: ColumnSample) -> Iterator[float]:
    """Yield the size of each number of a column."""
    return (abs(float(text.replace(",", ".", 1))) for text in column.texts if _NUMBER.fullmatch(text))
