"""JSON and JSON Lines as a file of records by path."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from itertools import chain, islice, repeat
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.reading.batch import BATCH_SIZE, Batch, Cell, RecordFile, UnusedName, WrongType
from service.reading.columns.field_names import MAX_UNUSED
from service.reading.diagnostics import FileError
from service.reading.formats.json_batches import BatchDecoder, Columns, check_depth, check_json, describe_json_error
from service.reading.formats.json_text import array_batches, elements, file_error, line_batches, numbered_lines
from service.spool import FileBytes, open_bytes

MAX_PATHS: Final = 1_000  # that are listed of a file; records with identifiers as names must not exhaust memory
MAX_DEPTH: Final = 8  # of the listed paths
_ABSENT: Final = Raw(b"null")  # no other null is this object
_ARRAYS: Final = msgspec.json.Decoder(list[Raw])
_OBJECTS: Final = msgspec.json.Decoder(dict[str, Raw])
_STRINGS: Final = msgspec.json.Decoder(str)
_CELLS: Final = msgspec.json.Decoder(list[str | bool | None])
_WORDS: Final[Mapping[bytes, bool | None]] = {b"true": True, b"false": False, b"null": None}
INDEX: Final = re.compile(r"[0-9]{1,9}")
_UNDECLARABLE: Final = re.compile(r'["\\\x00-\x1f]')  # msgspec does not accept these in the name of a member


def column(values: Sequence[Raw]) -> Sequence[Cell]:
    """Return values as cells: numbers as they are written, arrays and objects as a wrong type."""
    try:
        return _CELLS.decode(b"[" + b",".join(values) + b"]")
    except ValidationError:
        return [_cell(bytes(value)) for value in values]


def _cell(value: bytes) -> Cell:
    if value[0] in b"-0123456789":
        return value.decode()
    if value[0] in b'"':
        return _STRINGS.decode(value) if b"\\" in value else value[1:-1].decode()
    return _WORDS[value] if value in _WORDS else WrongType(value.decode())


_Members: TypeAlias = Mapping[str, Sequence[Raw]]


class PathMembers:
    """Decodes those members of objects that some paths begin with, and counts others, which it learns.

    decode  returns the raw members of an object; raises DecodeError if a value is no JSON, ValidationError if it is no
            object or has unknown members: a check that costs nothing for objects without any
    """

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
        self._names, self._is_complete = [*self._used, *self._unused], is_complete
        self.decode = _decoder_of(self._names, self._texts, is_complete=is_complete)

    def learn(self, values: Iterable[Raw | bytes]) -> None:
        """Learn the unknown members of values that are objects, up to `MAX_UNUSED`, and the types of the others."""
        known, found, objects = set(self._names), dict[str, None](), list[Raw | bytes]()
        for value in values:
            with suppress(DecodeError, RecursionError):
                members = _OBJECTS.decode(value)
                found |= dict.fromkeys(() if self._is_complete else (name for name in members if name not in known))
                self._texts -= {name for name in self._texts & members.keys() if not _is_text_or_flag(members[name])}
                objects.append(value)
        names = [name for name in found if not _UNDECLARABLE.search(name)]
        room = max(0, MAX_UNUSED - len(self._unused))
        self._unused |= dict.fromkeys(names[:room])
        self._build_decoder(is_complete=self._is_complete or room < len(names) or len(names) < len(found))
        try:
            list(map(self.decode, objects))
        except (DecodeError, RecursionError):  # of repeated members the last wins, but another has another type
            self._texts.clear()
            self._build_decoder(is_complete=self._is_complete)

    def columns(self, records: Sequence[Any], lines: Callable[[], Sequence[int]]) -> Columns:
        """Return the cells of each path in decoded objects, and how many have each of the unused names."""
        columns = zip(*map(astuple, records), strict=True) if records else repeat(())
        members = dict(zip(self._names, columns, strict=False))
        cells = {path: members[path] if path in self._texts else column(_values(path, members)) for path in self._paths}
        return Columns(cells, list(self._count_unused(members, lines)))

    def _count_unused(self, members: _Members, lines: Callable[[], Sequence[int]]) -> Iterator[UnusedName]:
        for name, line in self._unused.items():
            has_name = [value is not _ABSENT for value in members[name]]
            if any(has_name):
                self._unused[name] = lines()[has_name.index(True)] if line is None else line
                yield UnusedName(name, self._unused[name], sum(has_name))


def _is_text_or_flag(value: Raw) -> bool:
    return bytes(memoryview(value)[:1]) in b'"tfn'


def _values(path: str, members: _Members) -> Sequence[Raw]:
    nested = [(members[head], path[len(head) + 1 :]) for head in heads(path)]
    if not nested:
        return members[path]
    return [
        value if value is not _ABSENT else _first((column[index], rest) for column, rest in nested)
        for index, value in enumerate(members[path])
    ]


def paths_of(values: Iterable[Raw | bytes]) -> list[str]:
    """Return the paths of the members of objects, those in nested objects and in the first elements of arrays."""
    found = dict[str, None]()
    for path in chain.from_iterable(map(_paths_in, values)):
        found[path] = None
        if len(found) == MAX_PATHS:
            break
    return list(found)


def _paths_in(value: Raw | bytes) -> Iterator[str]:
    with suppress(DecodeError, RecursionError):  # reported when the values are read
        for name, member in _OBJECTS.decode(value).items():
            yield from _paths(name, member, MAX_DEPTH)


def _beginnings(paths: Iterable[str]) -> list[str]:
    """Return the names of the members that paths may begin with."""
    return list(dict.fromkeys(name for path in paths for name in (path, *heads(path))))


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


def _are_declarable(names: Iterable[str]) -> bool:
    return not any(map(_UNDECLARABLE.search, names))


def _decoder_of(names: Sequence[str], texts: AbstractSet[str], *, is_complete: bool) -> Callable[[Raw | bytes], Any]:
    """Return what decodes objects with some members, of which some are texts, flags or null."""
    are_declarable = _are_declarable(names)
    members = {f"member_{index}": name for index, name in enumerate(names)}
    record = msgspec.defstruct(
        "Record",
        [(key, str | bool | None, None) if name in texts else (key, Raw, _ABSENT) for key, name in members.items()],
        rename=members if are_declarable else None,
        eq=False,
        gc=False,
        forbid_unknown_fields=not is_complete,
    )

    def look_up(value: Raw | bytes) -> Any:
        found = _OBJECTS.decode(value)
        if not is_complete and not found.keys() <= set(names):
            raise ValidationError
        return record(*(found.get(name, _ABSENT) for name in names))

    return msgspec.json.Decoder(record).decode if are_declarable else look_up


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
    """The records of a JSON array, or of an array that is a member of an object."""

    is_table = False

    def __init__(self, text: FileBytes, name: str | None = None) -> None:
        """Open a text; the array has a name, or is the only one. Raises FileError."""
        self._text, self._elements = text, elements(text, _array_name(text) if name is None else name)
        self.names, self.assumed = paths_of(self._elements[:SAMPLE]), ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        return array_batches(self._text, self._elements, PathDecoder(columns, also))


class JsonLinesFile(RecordFile):
    """The records of JSON Lines."""

    is_table = False

    def __init__(self, text: FileBytes) -> None:
        """Open a text. Raises FileError if one of its first lines is not JSON."""
        self._text = text
        self.names, self.assumed = paths_of(sample_texts(numbered_lines(open_bytes(text)))), ()

    def batches(self, columns: Sequence[str], also: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield all records, with the cells at some paths. Raises FileError."""
        return line_batches(self._text, PathDecoder(columns, also))


class PathDecoder(BatchDecoder):
    """Decodes records into columns by path."""

    def __init__(self, paths: Sequence[str], also: Sequence[str]) -> None:
        """Take the paths, and `also` those of members that are not used."""
        self._members = PathMembers(paths, also)

    @property
    def _decode(self) -> Callable[[Raw | bytes], Any]:
        return self._members.decode

    def _learn(self, values: Sequence[Raw | bytes]) -> None:
        self._members.learn(values)

    def _columns(self, records: Sequence[Any], lines: Callable[[], Sequence[int]]) -> Columns:
        return self._members.columns(records, lines)


def sample_texts(values: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """Yield the first texts, which begin on some lines. Raises FileError if one is not JSON."""
    for line, value in islice(values, SAMPLE):
        try:
            check_json(value)
        except (DecodeError, RecursionError) as error:
            raise FileError(describe_json_error(error, value), line) from None
        yield value


def _array_name(text: FileBytes) -> str:
    """Return the name of the only array in an object, "" if the text is no object."""
    try:
        members = msgspec.json.decode(text, type=dict[str, Raw])
        arrays = [name for name, value in members.items() if bytes(memoryview(value)[:1]) == b"["]
        check_depth(members[name] for name in members.keys() - set(arrays))
    except ValidationError:
        return ""
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error) from None
    if len(arrays) != 1:
        found = f"; found {len(arrays)}: {', '.join(map(repr, arrays[:MAX_UNUSED]))}" if arrays else ""
        raise FileError(_EXPECTED + found)
    return arrays[0]
