"""Values in JSON by path: the name of a member, or names of members and indexes of elements, separated by dots."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import DecodeError, Raw, ValidationError
from msgspec.structs import astuple

from service.reading.batches.batch import Cell, UnusedName
from service.reading.formats.json.typed_records import any_column

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
        return {"0": elements[0]} if (elements := _ARRAYS.decode(value)) else {}
    except ValidationError:
        return {}
