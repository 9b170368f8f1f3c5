"""The first records of a file by column, and what later records have that these do not."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import msgspec

from service.model.kinds import parse_instant
from service.reading.batch import BATCH_SIZE, Batch, Cell, RecordFile, TextCells, WrongType
from service.reading.characters import needed_repairs
from service.reading.columns.dates import day_parser, possible_formats
from service.reading.diagnostics import FileError
from service.reading.formats.json_file import paths_in
from service.reading.mapping.points import propose_notation
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
_EDGES: Final = (" \n", "\n ", "\t\n", "\n\t")  # spaces around texts, one in a line
FIRST: Final = ".0"  # the end of the path of the first element of an array
_ARRAY: Final = re.compile(r"(.+?)\.0(?:\.|\Z)")
_OF_FEATURES: Final = ("feature", "geometry")  # no members


class ColumnSample(msgspec.Struct, frozen=True):
    """A column: its name, and its cells in the first records, texts without the white space around them.

    cells     None for those without a value
    no_value  the texts among them that mean "no value", as they are written
    late      values of later records that are not like these -> the number of the first such record
    is_late   whether only later records have the column
    repairs   those of wrong characters in all records that would change it -> whether texts without them are errors;
              also `trim`
    """

    name: str
    cells: Sequence[Cell]
    no_value: Sequence[str] = ()
    late: Mapping[Cell, int] = {}
    is_late: bool = False
    repairs: Mapping[str, bool] = {}

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


class FirstRecords(msgspec.Struct, frozen=True):
    """The first columns of a file by name, in order, and how many records they have.

    arrays  those of JSON that have more than one element, whose first one columns are
    """

    columns: Mapping[str, ColumnSample]
    count: int = 0
    arrays: Sequence[str] = ()

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
    if not (file.is_table or names) and (empty := next(file.batches([]), None)) is not None:
        for each in empty.unreadable[:1]:  # no objects
            raise FileError(f"{each.issue.why}, found {truncate(each.text or '')}", each.line)
    while pending:
        is_complete = file.is_table or file.is_costly
        groups = () if is_complete else {name.partition(".")[0] for name in pending if "." in name} - {*_OF_FEATURES}
        known, others = {*file.names, *names, *groups}, dict[str, None]()
        samples: list[_Sampler] = []
        for batch in file.batches([*pending, *groups]):
            count = count or len(batch.numbers)
            samples = samples or [_Sampler(name, batch.columns[name][: 0 if columns else count]) for name in pending]
            for sampler in samples:
                sampler.add(batch)
            if not is_complete and len(others) < MAX_COLUMNS:
                others |= dict.fromkeys(name for name in _members(batch) if name not in known)
        found = [each.sample(count, is_late=bool(columns)) for each in samples]
        columns |= {each.name: each for each in found or [ColumnSample(name, ()) for name in pending]}
        pending = [name for name in others if name not in names][: MAX_COLUMNS - len(names)]
        names |= dict.fromkeys(pending)
    return FirstRecords(columns, count) if file.is_table else _with_arrays(file, FirstRecords(columns, count))


def array_of(name: str) -> str:
    """Return the path of the first array on a path, "" if there is none: `phones` of `phones.0.number`."""
    return found[1] if (found := _ARRAY.match(name)) else ""


def _with_arrays(file: RecordFile, first: FirstRecords) -> FirstRecords:
    """Return columns, with arrays that are points as texts of JSON instead of their first elements."""
    columns, several = dict(first.columns), list[str]()
    arrays = list(filter(None, dict.fromkeys(map(array_of, columns))))
    batch = next(file.batches(arrays), None) if arrays else None
    for name, cells in batch.columns.items() if batch is not None else ():
        texts = [cell.text for cell in cells if isinstance(cell, WrongType) and cell.text.startswith("[")]
        if any(len(each) > 1 for each in msgspec.json.decode(f"[{','.join(texts)}]", type=list[list[msgspec.Raw]])):
            several.append(name)
        column = columns.get(name + FIRST)
        if column is not None and column.texts and all(map(NUMBER.fullmatch, column.texts)):
            array = _sample(name, [cell.text if isinstance(cell, WrongType) else cell for cell in cells])
            columns[name + FIRST] = array if propose_notation(name, array.texts) else column
    return FirstRecords({each.name: each for each in columns.values()}, first.count, several)


def _members(batch: Batch) -> Iterator[str]:
    """Yield the names that a batch has beside its columns, and the paths in these."""
    yield from (each.name for each in batch.unused)
    for name, cells in batch.columns.items():
        nested = (msgspec.Raw(cell.text.encode()) for cell in cells if isinstance(cell, WrongType))
        yield from chain.from_iterable(paths_in(name, value) for value in nested)


def _sample(name: str, cells: Sequence[Cell]) -> ColumnSample:
    stripped = [cell.strip()[:MAX_NAME] if isinstance(cell, str) else cell for cell in cells]
    none = {""} | {cell for cell in stripped if isinstance(cell, str) and cell.casefold() in _NO_VALUE}
    return ColumnSample(name, [None if cell in none else cell for cell in stripped], sorted(none - {""}))


class _Sampler:
    """Collects the values of a column that are not like those before."""

    def __init__(self, name: str, cells: Sequence[Cell]) -> None:
        self._name, self._sample, self._repairs = name, _sample(name, cells), dict[str, bool]()
        self._learn()

    def _learn(self) -> None:
        texts = self._sample.texts
        self._is_other, self._numbers = _other_tester(texts), bool(texts) and all(map(NUMBER.fullmatch, texts))

    def add(self, batch: Batch) -> None:
        """Add the values of a batch."""
        cells, is_other, late = batch.columns[self._name], self._is_other, self._sample.late
        texts = TextCells.of(cells)
        lines = (TextCells([cell for cell in cells if isinstance(cell, str)]) if texts is None else texts).lines
        for name, is_error in needed_repairs(lines):
            self._repairs[name] = is_error or self._repairs.get(name, False)
        if any(edge in lines for edge in _EDGES):
            self._repairs["trim"] = True
        are_numbers = self._numbers and texts is not None and _NUMBERS.fullmatch(lines)
        if is_other is None or len(late) >= BATCH_SIZE or are_numbers:
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
        return ColumnSample(found.name, cells, found.no_value, found.late, is_late, self._repairs)


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
