"""Choose the columns that a mapping is proposed for: by their names, or by the values that they have."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from itertools import islice
from typing import Final

import msgspec

from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE, parse_instant
from service.reading.batch import BATCH_SIZE, Batch, Cell, RecordFile, WrongType
from service.reading.columns.dates import RFC_3339, day_parser, possible_formats
from service.reading.columns.field_names import COORDINATES, columns_by_nearest_name, end_of_path
from service.reading.columns.flags import IS_OPEN, flag_of, has_status_word, is_closed_name, mentions_status
from service.reading.diagnostics import FileError
from service.reading.formats.json_file import paths_of
from service.reading.mapping.toml import quoted
from service.texts import truncate

MAX_COLUMNS: Final = 1_000  # that are read; a header may have millions
MAX_NAME: Final = 200  # characters, of a cell too
# What people write for no value. Words that may be values are not here: NA is Namibia.
_NO_VALUE: Final = frozenset(
    {"-", "--", "–", "—", "?", "n/a", "#n/a", "#nv", "n.a.", "k.a.", "k. a.", "null", "(null)", r"\n"}  # noqa: RUF001 - dashes
    | {"unknown", "unbekannt", "inconnu", "desconocido", "sconosciuto", "onbekend"}
)
# Digits with zeros in front, or a plus sign, are those of codes and telephone numbers.
_PLAIN: Final = r"-?(?:0|[1-9][0-9]{0,14})(?:[.,][0-9]+)?"
NUMBER: Final = re.compile(_PLAIN)
_NUMBERS: Final = re.compile(rf"(?:(?:{_PLAIN})?\n)*")  # one in a line
_MAX_WORDS: Final = 20  # distinct texts of a column of words; another has free text
_MAX_SHAPES: Final = 10_000  # of nested values; later ones are not looked at
_OF_FEATURES: Final = ("feature", "geometry")  # no members
_TIME: Final = re.compile(",? h.*")  # the part of a format from its time on
_ENOUGH: Final = 3  # fields, with which names are those of a file of stores
_DEGREES: Final = re.compile(r"[+-]?[0-9]{1,3}[.,]([0-9]+)")
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[.,][0-9]+)?")
_PROOF: Final = 10  # one latitude in so many is beyond 90 degrees if it is a longitude: fewer are misspelt
_PRECISE: Final = 4  # decimals: a number with fewer may be a price, or have separated thousands


class ColumnSample(msgspec.Struct, frozen=True):
    """A column: its name, and its cells in the first records, texts without the white space around them.

    cells     None for those without a value
    no_value  the texts among them that mean "no value", as they are written
    late      values of later records that are not like these -> the number of the first such record
    is_late   whether only later records have the column
    """

    name: str
    cells: Sequence[Cell]
    no_value: Sequence[str] = ()
    late: Mapping[Cell, int] = {}
    is_late: bool = False

    @property
    def values(self) -> list[Cell]:
        """All cells, those of later records too."""
        return [*self.cells, *self.late]

    @property
    def texts(self) -> list[str]:
        """The distinct texts."""
        return list(dict.fromkeys(cell for cell in self.values if isinstance(cell, str)))

    @property
    def has_values(self) -> bool:
        """Whether it has texts or flags; arrays and objects are not the values of a field."""
        return any(isinstance(cell, str | bool) for cell in self.values)

    @property
    def first(self) -> "ColumnSample":
        """The column in the first records."""
        return ColumnSample(self.name, self.cells, self.no_value)


class FirstRecords(msgspec.Struct, frozen=True):
    """The first columns of a file by name, in order, and how many records they have."""

    columns: Mapping[str, ColumnSample]
    count: int = 0

    def count_missing(self, names: Sequence[str]) -> int:
        """Return how many of the records have no value in any of some columns."""
        cells = [self.columns[name].cells for name in names]
        return self.count - sum(any(cell is not None for cell in record) for record in zip(*cells, strict=True))


def read_columns(file: RecordFile) -> FirstRecords:
    """Return the columns of a file by its first records, with what others show that these do not. Raises FileError.

    Members of JSON that only later records have are read once more, by the paths that are found in them.
    """
    named = (name for name in file.names if len(name) <= MAX_NAME and name.strip())
    pending, columns, count = list(islice(named, MAX_COLUMNS)), dict[str, ColumnSample](), 0
    names = dict.fromkeys(pending)
    if not (file.is_table or names):
        _check_objects(file)
    while pending:
        is_complete = file.is_table or file.is_costly
        groups = () if is_complete else {name.partition(".")[0] for name in pending if "." in name} - {*_OF_FEATURES}
        finder = _MemberFinder({*file.names, *names, *groups})
        samples: list[_Sampler] = []
        for batch in file.batches([*pending, *groups]):
            count = count or len(batch.numbers)
            samples = samples or [_Sampler(name, batch.columns[name][: 0 if columns else count]) for name in pending]
            for sampler in samples:
                sampler.add(batch)
            if not is_complete:
                finder.add(batch)
        found = [each.sample(count, is_late=bool(columns)) for each in samples] or [
            ColumnSample(name, ()) for name in pending
        ]
        columns |= {sample.name: sample for sample in found}
        pending = [name for name in finder.found if name not in names][: MAX_COLUMNS - len(names)]
        names |= dict.fromkeys(pending)
    return FirstRecords(columns, count)


def _check_objects(file: RecordFile) -> None:
    """Raise FileError if the first record is no object."""
    batch = next(file.batches([]), None)
    for each in batch.unreadable[:1] if batch is not None else ():
        raise FileError(f"{each.issue.why}, found {truncate(each.text or '')}", each.line)


class _MemberFinder:
    """Finds the members of JSON that are not `known`: their paths, as the `found` ones."""

    def __init__(self, known: AbstractSet[str]) -> None:
        self._known, self._shapes = known, set[object]()
        self.found: dict[str, None] = {}

    def add(self, batch: Batch) -> None:
        """Look for other members in a batch."""
        self.found |= dict.fromkeys(each.name for each in batch.unused if each.name not in self._known)
        for name, cells in batch.columns.items():
            for text in (cell.text for cell in cells if isinstance(cell, WrongType)):
                shape = name, _shape(msgspec.json.decode(text))
                if shape not in self._shapes and len(self._shapes) < _MAX_SHAPES:
                    self._shapes.add(shape)
                    member = msgspec.json.encode({name: msgspec.Raw(text.encode())})
                    self.found |= dict.fromkeys(path for path in paths_of([member]) if path not in self._known)


def _shape(value: object) -> object:
    """Return the names in a JSON value."""
    if isinstance(value, list):
        return ("0", _shape(value[0])) if value else None
    return tuple((name, _shape(each)) for name, each in value.items()) if isinstance(value, dict) else None


def _sample(name: str, cells: Sequence[Cell]) -> ColumnSample:
    stripped = [cell.strip()[:MAX_NAME] if isinstance(cell, str) else cell for cell in cells]
    none = {""} | {cell for cell in stripped if isinstance(cell, str) and cell.casefold() in _NO_VALUE}
    return ColumnSample(name, [None if cell in none else cell for cell in stripped], sorted(none - {""}))


class _Sampler:
    """Collects the values of a column that are not like those before."""

    def __init__(self, name: str, cells: Sequence[Cell]) -> None:
        self._name, self._sample = name, _sample(name, cells)
        self._learn()

    def _learn(self) -> None:
        texts = self._sample.texts
        self._is_other, self._numbers = _other_tester(texts), bool(texts) and all(map(NUMBER.fullmatch, texts))

    def add(self, batch: Batch) -> None:
        """Add the values of a batch."""
        cells, is_other, late = batch.columns[self._name], self._is_other, self._sample.late
        if is_other is None or len(late) >= BATCH_SIZE or (self._numbers and _are_numbers(cells)):
            return
        distinct = list(dict.fromkeys(cells))
        read = _sample(self._name, distinct)
        found = {
            cell: batch.numbers[cells.index(written)]
            for written, cell in zip(distinct, read.cells, strict=True)
            if cell is not None and (is_other(cell) if isinstance(cell, str) else not self._sample.values.count(cell))
        }
        if found or not set(read.no_value) <= set(self._sample.no_value):
            no_value = sorted({*self._sample.no_value, *read.no_value})
            self._sample = msgspec.structs.replace(self._sample, no_value=no_value, late=found | dict(late))
            self._learn()

    def sample(self, count: int, *, is_late: bool) -> ColumnSample:
        """Return the column, with cells in the first records."""
        found = self._sample
        cells = [*found.cells, *[None] * (count - len(found.cells))]
        return ColumnSample(found.name, cells, found.no_value, found.late, is_late)


def _other_tester(texts: Sequence[str]) -> Callable[[str], bool] | None:
    """Return what tells whether a text is of another kind than some, True if there are none; None: they are texts."""
    if not texts:
        return lambda _: True
    if all(map(NUMBER.fullmatch, texts)):
        return lambda text: NUMBER.fullmatch(text) is None
    if parsers := [day_parser(formats) for formats in possible_formats(texts)]:
        return lambda text: any(parse(text) is None for parse in parsers)
    if all(parse_instant(text) is not None for text in texts):
        return lambda text: parse_instant(text) is None
    if len(texts) <= _MAX_WORDS:
        return lambda text: text not in texts
    return (lambda text: not text.startswith("http")) if all(text.startswith("http") for text in texts) else None


def _are_numbers(cells: Sequence[Cell]) -> bool:
    try:
        return _NUMBERS.fullmatch("\n".join(cells) + "\n") is not None  # type: ignore[arg-type]
    except TypeError:  # one is no text
        return False


def prove_formats(texts: Sequence[str], first: FirstRecords) -> tuple[list[tuple[str, ...]], str]:
    """Return the formats that dates may have, a single one if a column proves it, and which; "" without a proof.

    A column with only one possible format does, if the dates are written like it, and no other contradicts it.
    """
    possible = possible_formats(texts)
    if len(possible) > 1:
        proven: dict[str, str] = {}  # without times
        for column in first.columns.values():  # most of which have no dates
            own = possible_formats(column.texts) if possible_formats(column.texts[:1]) else []
            proven |= {_TIME.sub("", each): column.name for each in own[0]} if len(own) == 1 else {}
        dates = {found: [_TIME.sub("", each) for each in found if each != RFC_3339] for found in possible}
        fitting = [found for found, declared in dates.items() if all(each in proven for each in declared)]
        if len(fitting) == 1:
            return fitting, f"as {quoted(proven[dates[fitting[0]][0]])} proves"
    return possible, ""


def recognizes(names: Sequence[str]) -> bool:
    """Return whether some names are like those of the columns of stores."""
    return len(columns_by_nearest_name(list(islice(names, MAX_COLUMNS)), paths=False)) >= _ENOUGH


def are_exchanged(columns: Mapping[str, ColumnSample], chosen: Mapping[str, str]) -> bool:
    """Return whether the column chosen for latitudes has longitudes, and the other one latitudes."""
    if not chosen.keys() >= set(COORDINATES):
        return False
    latitudes, longitudes = ([*_all_degrees(columns[chosen[field]])] for field in COORDINATES)
    beyond = sum(each > MAX_LATITUDE for each in latitudes)
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


def _says_what_is_open(column: ColumnSample) -> bool:
    """Return whether a column has words for open and closed, or is one of states with words for yes and no."""
    has_states = bool(column.texts) and has_status_word(column.name) and not _count_unknown(column)
    return not is_closed_name(column.name) and (has_states or mentions_status(end_of_path(column.name), column.values))


def _count_unknown(column: ColumnSample) -> int:
    return sum(flag_of(text) is None for text in column.texts)


def _has_degrees(column: ColumnSample) -> bool:
    decimals = [found[1] for text in column.texts if (found := _DEGREES.fullmatch(text))]
    if len(decimals) < len(column.texts) or max(_all_degrees(column)) > MAX_LONGITUDE:
        return False
    return 2 * sum(len(digits) >= _PRECISE for digits in decimals) >= len(decimals)


def _coordinates(columns: Sequence[ColumnSample], missing: Sequence[str]) -> dict[str, str]:
    """Return the columns of missing coordinates among columns of degrees: latitudes come first, unless they cannot."""
    fitting = columns[: len(missing)]
    if len(fitting) < len(missing):
        return {}
    if len(fitting) == len(COORDINATES) and max(_all_degrees(fitting[0])) > MAX_LATITUDE:
        fitting = fitting[::-1]
    found = dict(zip(missing, fitting, strict=True))
    if any(max(_all_degrees(column)) > MAX_LATITUDE for field, column in found.items() if field == COORDINATES[0]):
        return {}
    return {field: column.name for field, column in found.items()}


def _all_degrees(column: ColumnSample) -> Iterator[float]:
    return (degrees(text) for text in column.texts if _NUMBER.fullmatch(text))


def degrees(number: str) -> float:
    """Return the size of a number, which may have a decimal comma."""
    return abs(float(number.replace(",", ".", 1)))
