"""JSON and JSON Lines as a file of records by path."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import compress, repeat
from typing import Any, ClassVar, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.reading.batch import Batch, Cell, RecordFile, UnreadableRecord, UnusedName, WrongType
from service.reading.columns.field_names import MAX_UNUSED
from service.reading.diagnostics import Issue
from service.reading.formats.json_text import (
    Chunk,
    JsonValue,
    JsonValues,
    array_values,
    check_depth,
    check_json,
    json_errors,
)
from service.spool import FileBytes

MAX_PATHS: Final = 1_000  # that are listed of a file; records with identifiers as names must not exhaust memory
MAX_DEPTH: Final = 8  # of the listed paths
_ABSENT: Final = Raw(b"null")  # no other null is this object
_PARENT: Final = msgspec.json.Decoder(dict[str, Raw] | list[Raw])
_PARENTS: Final = msgspec.json.Decoder(list[dict[str, Raw] | list[Raw] | None])
_OBJECTS: Final = msgspec.json.Decoder(dict[str, Raw])
_CELL: Final = msgspec.json.Decoder(str | bool | None)
_CELLS: Final = msgspec.json.Decoder(list[str | bool | None])
INDEX: Final = re.compile(r"[0-9]{1,9}")
_NO_INDEX: Final = 10**9
_UNDECLARABLE: Final = re.compile(r'["\\\x00-\x1f]')  # msgspec does not accept these in the name of a member


def column(values: Sequence[Raw]) -> Sequence[Cell]:
    """Return values as cells: numbers as they are written, arrays and objects as a wrong type."""
    try:
        return _CELLS.decode(b"[" + b",".join(values) + b"]")
    except ValidationError:
        return [_cell(bytes(value)) for value in values]


def _cell(value: bytes) -> Cell:
    if value[0] in b'"tfn':
        cell: str | bool | None = _CELL.decode(value)
        return cell
    return WrongType(value.decode()) if value[0] in b"[{" else value.decode()


class RecordDecoder:
    """Decodes those members of objects that some paths begin with, and counts others, which it learns."""

    expected: ClassVar = Issue("type", "expected an object")

    @classmethod
    def names(cls, first: Iterable[JsonValue]) -> list[str]:
        """Return the names of the columns of a file with some first values."""
        return paths_of(first)

    def __init__(self, paths: Sequence[str], also: Sequence[str]) -> None:
        """Take the paths that are used, and `also` others, whose members are counted like those that are learned."""
        self._paths, self._used = [*paths, *also], _beginnings(paths)
        self._unused: dict[str, int | None] = dict.fromkeys(  # with the line of the first
            name for name in _beginnings(also) if name not in self._used
        )
        # Members that have had no values but texts and flags yet, which are decoded at once; never parts of paths.
        self._texts = {path for path in paths if "." not in path}.difference(*map(heads, self._paths))
        if not _are_declarable([*self._used, *self._unused]):
            self._texts.clear()
        self._build_decoder(is_complete=False)

    def _build_decoder(self, *, is_complete: bool) -> None:
        """Build the decoder of all known members; if they are complete, others are ignored."""
        names, texts = [*self._used, *self._unused], self._texts
        self._names, self._is_complete, are_declarable = names, is_complete, _are_declarable(names)
        members = {f"member_{index}": name for index, name in enumerate(names)}
        record = msgspec.defstruct(
            "Record",
            [(key, str | bool | None, None) if name in texts else (key, Raw, _ABSENT) for key, name in members.items()],
            rename=members if are_declarable else None,
            eq=False,
            gc=False,
            forbid_unknown_fields=not is_complete,
        )

        def look_up(value: JsonValue) -> Any:
            found = _OBJECTS.decode(value)
            if not is_complete and not found.keys() <= set(names):
                raise ValidationError
            return record(*(found.get(name, _ABSENT) for name in names))

        # Returns the raw members of an object. Raises DecodeError if a value is no JSON, ValidationError for no object,
        # and for unknown members: a check that costs nothing without any.
        self._decode_members = self._decode = msgspec.json.Decoder(record).decode if are_declarable else look_up

    def _learn(self, values: Iterable[JsonValue]) -> None:
        """Learn the unknown members of values that are objects, up to `MAX_UNUSED`, and the types of the others."""
        known, found, objects = set(self._names), dict[str, None](), list[JsonValue]()
        for value in values:
            with suppress(DecodeError, RecursionError):
                members = _OBJECTS.decode(value)
                found |= dict.fromkeys(() if self._is_complete else (name for name in members if name not in known))
                self._texts -= {name for name in self._texts & members.keys() if bytes(members[name])[0] not in b'"tfn'}
                objects.append(value)
        names = [name for name in found if not _UNDECLARABLE.search(name)]
        room = max(0, MAX_UNUSED - len(self._unused))
        self._unused |= dict.fromkeys(names[:room])
        self._build_decoder(is_complete=self._is_complete or room < len(names) or len(names) < len(found))
        try:
            list(map(self._decode_members, objects))
        except (DecodeError, RecursionError):  # of repeated members the last wins, but another has another type
            self._texts.clear()
            self._build_decoder(is_complete=self._is_complete)

    def batch(self, chunk: Chunk, *, first: int, total: int) -> Batch:
        """Return values as a batch whose first record has number `first`. Raises FileError if one is not JSON."""
        records, lines = self._decoded(chunk), chunk.lines
        numbers: Sequence[int] = range(first, first + len(records))
        unreadable: list[UnreadableRecord] = []
        if None in records:
            readable = [record is not None for record in records]
            unreadable = [
                UnreadableRecord(number, line, self.expected, bytes(value).decode().strip())
                for number, line, value, is_readable in zip(numbers, lines(), chunk.values, readable, strict=True)
                if not is_readable
            ]
            records, numbers = list(compress(records, readable)), list(compress(numbers, readable))
            lines = lambda: list(compress(chunk.lines(), readable))  # noqa: E731 - as in the type
        cells = self._columns(records)
        return Batch(numbers, cells, lines, unreadable, list(self._count_unused(lines)), chunk.done, total)

    def _decoded(self, chunk: Chunk) -> list[Any]:
        """Return each value as a record, or None if it is not an object. Raises FileError if it is not JSON."""
        try:
            check_depth(chunk.values)
            return list(map(self._decode, chunk.values))
        except (DecodeError, RecursionError):
            self._learn(chunk.values)
            return [self._decode_one(chunk, index) for index in range(len(chunk.values))]

    def _decode_one(self, chunk: Chunk, index: int) -> Any:
        value = chunk.values[index]
        with json_errors(value, chunk.lines, index):
            with suppress(ValidationError):
                record = self._decode(value)
                check_depth([value])
                return record
            check_json(value)
        return None

    def _columns(self, records: Sequence[Any]) -> dict[str, Sequence[Cell]]:
        columns = zip(*map(astuple, records), strict=True) if records else repeat(())
        self._members = dict(zip(self._names, columns, strict=False))
        return {
            path: self._members[path] if path in self._texts else column(_values(path, self._members.__getitem__))
            for path in self._paths
        }

    def _count_unused(self, lines: Callable[[], Sequence[int]]) -> Iterator[UnusedName]:
        """Yield how many of the decoded objects have each of the unused names."""
        for name, line in self._unused.items():
            has_name = [value is not _ABSENT for value in self._members[name]]
            if any(has_name):
                self._unused[name] = lines()[has_name.index(True)] if line is None else line
                yield UnusedName(name, self._unused[name], sum(has_name))


def _values(path: str, member: Callable[[str], Sequence[Raw]]) -> Sequence[Raw]:
    """Return the values at a path in some objects, of which `member` returns the members of a name."""
    found = [direct] if _is_present(direct := member(path)) else []
    parents = ((member(head), path[len(head) + 1 :]) for head in heads(path))
    found += [_values_at(values, rest) for values, rest in parents if _is_present(values)]
    if len(found) <= 1:
        return found[0] if found else direct
    return [next((value for value in values if value is not _ABSENT), _ABSENT) for values in zip(*found, strict=True)]


def _is_present(values: Sequence[Raw]) -> bool:
    return any(value is not _ABSENT for value in values)


def _values_at(values: Sequence[Raw], path: str) -> Sequence[Raw]:
    """Return the values at a path in some JSON values."""
    try:
        parents = _PARENTS.decode(b"[" + b",".join(values) + b"]")
    except ValidationError:
        parents = list(map(_parent, values))

    def member(name: str) -> Sequence[Raw]:
        index = int(name) if INDEX.fullmatch(name) else _NO_INDEX
        return [
            each.get(name, _ABSENT)
            if isinstance(each, dict)
            else each[index]
            if each is not None and index < len(each)
            else _ABSENT
            for each in parents
        ]

    return _values(path, member)


def paths_of(values: Iterable[JsonValue]) -> list[str]:
    """Return the paths of the members of objects, those in nested objects and in the first elements of arrays."""
    found = dict[str, None]()
    for value in values:
        with suppress(DecodeError, RecursionError):  # reported when the values are read
            for name, member in _OBJECTS.decode(value).items():
                found |= dict.fromkeys(paths_in(name, member) if _is_nested(member) else (name,))
        if len(found) >= MAX_PATHS:
            break
    return list(found)[:MAX_PATHS]


def _beginnings(paths: Iterable[str]) -> list[str]:
    """Return the names of the members that paths may begin with."""
    return list(dict.fromkeys(name for path in paths for name in (path, *heads(path))))


def heads(path: str) -> list[str]:
    """Return the names that a path may begin with, other than the whole path: `a.b.c` → `a`, `a.b`."""
    return [path[: found.start()] for found in re.finditer(r"\.", path)]


def _are_declarable(names: Iterable[str]) -> bool:
    return not any(map(_UNDECLARABLE.search, names))


def paths_in(name: str, value: Raw, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Yield the paths in a member, which has a name; in arrays those of their first elements."""
    parent = _parent(value) if depth else None
    nested = parent if isinstance(parent, dict) else dict(zip("0", parent or (), strict=False))
    for member, each in nested.items():
        yield from paths_in(f"{name}.{member}", each, depth - 1)
    if not nested:
        yield name


def _parent(value: Raw) -> dict[str, Raw] | list[Raw] | None:
    return _PARENT.decode(value) if _is_nested(value) else None


def _is_nested(value: Raw) -> bool:
    return bytes(memoryview(value)[:1]) in (b"[", b"{")


class JsonFile(RecordFile):
    """The records in values of JSON."""

    is_table = False
    assumed: Sequence[str] = ()

    def __init__(self, values: JsonValues, decoder: type[RecordDecoder] = RecordDecoder) -> None:
        """Take the records; the paths are known from the first. Raises FileError if one of these is not JSON."""
        self._values, self._decoder = values, decoder
        self.names = decoder.names(values.first())

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        decoder, first = self._decoder(columns, also), 1
        for chunk in self._values.chunks():
            yield decoder.batch(chunk, first=first, total=self._values.total)
            first += len(chunk.values)


def open_json(text: FileBytes, name: str | None = None) -> JsonFile:
    """Return the records of an array, or of the member of an object that has a name, or is its only array."""
    return JsonFile(array_values(text, name))
