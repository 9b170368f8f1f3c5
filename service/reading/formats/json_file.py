"""JSON and JSON Lines as a file of records by path."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.reading.batch import BATCH_SIZE, Batch, Cell, RecordFile, UnusedName
from service.reading.columns.field_names import MAX_UNUSED
from service.reading.diagnostics import FileError
from service.reading.formats.json_batches import BatchDecoder, Columns, check_json, describe_json_error
from service.reading.formats.typed_reader import (
    BLANK,
    LineFinder,
    any_column,
    array_batches,
    elements,
    file_error,
    line_batches,
)
from service.spool import FileBytes, open_bytes

MAX_PATHS: Final = 1_000  # that are listed of a file; records with identifiers as names must not exhaust memory
MAX_DEPTH: Final = 8  # of the listed paths
_NULL: Final = Raw(b"null")
_ABSENT: Final = Raw(b"")
_ARRAYS: Final = msgspec.json.Decoder(list[Raw])
_OBJECTS: Final = msgspec.json.Decoder(dict[str, Raw])
INDEX: Final = re.compile(r"[0-9]{1,9}")
_UNDECLARABLE: Final = re.compile(r'["\\\x00-\x1f]')  # msgspec does not accept these in the name of a member


class PathMembers:
    """Decodes those members of objects that some paths and unused names begin with.

    decode  returns the raw members of an object; raises ValidationError for another value, DecodeError if it is no JSON
    """

    def __init__(self, paths: Sequence[str], unused: Mapping[str, int]) -> None:
        """Take the paths that are used, and the names of members that are not, with the line of the first."""
        self._paths, self._unused = paths, unused
        names = [*dict.fromkeys(name for path in paths for name in (path, *heads(path))), *unused]
        self._indexes = {name: index for index, name in enumerate(dict.fromkeys(names))}
        self.decode = _decoder_of(tuple(self._indexes))

    def columns(self, records: Sequence[tuple[Raw, ...]]) -> dict[str, Sequence[Cell]]:
        """Return the cells of each path, from the decoded members of some objects."""
        members = list(zip(*records, strict=True)) or [()] * len(self._indexes)
        return {path: any_column([value or _NULL for value in self._values(path, members)]) for path in self._paths}

    def unused(self, records: Sequence[tuple[Raw, ...]]) -> list[UnusedName]:
        """Return the unused names, and how many of some objects have each."""
        indexes = [(name, line, self._indexes[name]) for name, line in self._unused.items()]
        return [
            UnusedName(name, line, sum(record[index] is not _ABSENT for record in records))
            for name, line, index in indexes
        ]

    def _values(self, path: str, members: Sequence[Sequence[Raw]]) -> Iterable[Raw]:
        whole = members[self._indexes[path]]
        nested = [(members[self._indexes[head]], path[len(head) + 1 :]) for head in heads(path)]
        if not nested:
            return whole
        return [
            value if value is not _ABSENT else _first((column[index], rest) for column, rest in nested)
            for index, value in enumerate(whole)
        ]


class Paths:
    """Collects the paths of the members of objects, in order of appearance.

    members  the member that each path begins with
    first    the index of the first object with each of these members
    """

    def __init__(self) -> None:
        self.members: dict[str, str] = {}
        self.first: dict[str, int] = {}

    def add(self, index: int, value: Raw | bytes) -> None:
        """Add the paths of an object: those in nested objects, and in the first elements of arrays."""
        with suppress(DecodeError, RecursionError):  # reported when the values are read
            for name, member in _OBJECTS.decode(value).items():
                for path in _paths(name, member, MAX_DEPTH):
                    if len(self.members) == MAX_PATHS:
                        return
                    self.members.setdefault(path, name)
                self.first.setdefault(name, index)

    def unused(self, used: Iterable[str]) -> dict[str, int]:
        """Return the members that no used path begins with, with the index of the first object with each."""
        begun = {name for path in used for name in (path, *heads(path))}
        return {name: index for name, index in self.first.items() if name not in begun}


def heads(path: str) -> list[str]:
    """Return the names that a path may begin with, other than the whole path: `a.b.c` → `a`, `a.b`."""
    return [path[: found.start()] for found in re.finditer(r"\.", path)]


def _first(candidates: Iterable[tuple[Raw, str]]) -> Raw:
    return next((found for value, rest in candidates if (found := _value_at(value, rest)) is not _ABSENT), _ABSENT)


def _value_at(value: Raw, path: str) -> Raw:
    """Return the value at a path in a JSON value."""
    match bytes(memoryview(value)[:1]):
        case b"[":
            index, _, rest = path.partition(".")
            elements = _ARRAYS.decode(value)
            found = elements[int(index)] if INDEX.fullmatch(index) and int(index) < len(elements) else _ABSENT
            return _value_at(found, rest) if rest else found
        case b"{":
            members = _OBJECTS.decode(value)
            candidates = ((members[head], path[len(head) + 1 :]) for head in heads(path) if head in members)
            return members[path] if path in members else _first(candidates)
    return _ABSENT


def _decoder_of(names: Sequence[str]) -> Callable[[Raw | bytes], tuple[Raw, ...]]:
    if any(map(_UNDECLARABLE.search, names)):

        def look_up(value: Raw | bytes) -> tuple[Raw, ...]:
            members = _OBJECTS.decode(value)
            return tuple(members.get(name, _ABSENT) for name in names)

        return look_up
    fields = [(f"member_{index}", Raw, _ABSENT) for index in range(len(names))]
    rename = {field[0]: name for field, name in zip(fields, names, strict=True)}
    decoder = msgspec.json.Decoder[Any](msgspec.defstruct("Members", fields, rename=rename, eq=False, gc=False))
    return lambda value: astuple(decoder.decode(value))


def _paths(name: str, value: Raw, depth: int) -> Iterator[str]:
    nested = _members(value) if depth else {}
    for member, each in nested.items():
        yield from _paths(f"{name}.{member}", each, depth - 1)
    if not nested:
        yield name


def _members(value: Raw) -> Mapping[str, Raw]:
    """Return the members of an object, or the first element of an array as the member `0`."""
    try:
        return _OBJECTS.decode(value)
    except ValidationError:
        pass
    try:
        return {"0": members[0]} if (members := _ARRAYS.decode(value)) else {}
    except ValidationError:
        return {}


SAMPLE: Final = BATCH_SIZE  # the first records, from which the paths are known
_EXPECTED: Final = "expected an array of records, or an object with one array"


class JsonFile(RecordFile):
    """The records of a JSON array, or of the only array that is a member of an object."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError."""
        self._text, self._elements = text, elements(text, _array_name(text))
        self._paths = Paths()
        for index, value in enumerate(self._elements[:SAMPLE]):
            self._paths.add(index, value)
        self.names, self.assumed = list(self._paths.members), ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        unused = first_lines(self._paths, columns, LineFinder(self._text).lines(self._elements[:SAMPLE]))
        return array_batches(self._text, self._elements, PathDecoder([*columns, *also], unused))


class JsonLinesFile(RecordFile):
    """The records of JSON Lines."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError if one of its first lines is not JSON."""
        self._text, self._paths, self._lines = text, Paths(), []
        for line, value in sample_texts(numbered_lines(text)):
            self._paths.add(len(self._lines), value)
            self._lines.append(line)
        self.names, self.assumed = list(self._paths.members), ()

    _lines: list[int]

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        unused = first_lines(self._paths, columns, self._lines)
        return line_batches(self._text, PathDecoder([*columns, *also], unused))


class PathDecoder(BatchDecoder):
    """Decodes records into columns by path."""

    def __init__(self, paths: Sequence[str], unused: Mapping[str, int]) -> None:
        """Take the paths, and the unused members with the line of the first."""
        self._members = PathMembers(paths, unused)

    def _decode_one(self, value: Raw | bytes) -> Any:
        try:
            return self._members.decode(value)
        except ValidationError:
            check_json(value)
            return None

    def _columns(self, records: Sequence[Any]) -> Columns:
        return Columns(self._members.columns(records), self._members.unused(records))


def numbered_lines(text: FileBytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a text that are not empty, with their numbers."""
    return ((line, value) for line, value in enumerate(open_bytes(text), 1) if value.strip(BLANK))


def sample_texts(values: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Yield the first texts with the lines on which they begin. Raises FileError if one is not JSON."""
    for line, value in islice(values, SAMPLE):
        try:
            check_json(value)
        except (DecodeError, RecursionError) as error:
            raise FileError(describe_json_error(error, value), line) from None
        yield line, value


def first_lines(paths: Paths, used: Sequence[str], lines: Sequence[int]) -> dict[str, int]:
    """Return the first unused members, and the line of the first record with each."""
    return {name: lines[index] for name, index in islice(paths.unused(used).items(), MAX_UNUSED)}


def _array_name(text: FileBytes) -> str:
    """Return the name of the only array in an object, "" if the text is no object."""
    try:
        members = msgspec.json.decode(text, type=dict[str, Raw])
    except ValidationError:
        return ""
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error) from None
    arrays = [name for name, value in members.items() if bytes(memoryview(value)[:1]) == b"["]
    if len(arrays) != 1:
        found = f"; found {len(arrays)}: {', '.join(map(repr, arrays[:MAX_UNUSED]))}" if arrays else ""
        raise FileError(_EXPECTED + found)
    return arrays[0]
