"""The values in a JSON text (RFC 8259), some at a time, and where a text is not JSON."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import compress, islice, pairwise
from typing import Final, TypeAlias

import msgspec
from msgspec import DecodeError, Raw, ValidationError

from service.model.records import STORES
from service.reading.batch import BATCH_SIZE
from service.reading.columns.field_names import suggest_field
from service.reading.diagnostics import FileError
from service.reading.text import count_line_breaks
from service.spool import FileBytes, open_bytes

_OFFSET: Final = re.compile(r" \(byte ([0-9]+)\)")
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
# A whole object without nested ones, as most records are, which is faster than its tokens; a string, which may contain
# any other token and may be cut off by the end of the text; the punctuation.
_TOKEN: Final = re.compile(rb'\{[^{}"]*+(?:%b[^{}"]*+)*+\}|%b|[\[{,:}\]]' % (_STRING, _STRING), re.DOTALL)
# This close to the end, the decoder reports a lone surrogate as a truncated text.
_LONE_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}.{0,5}\Z", re.DOTALL)
_BLANK: Final = re.compile(rb"\s*+\Z")
_MAX_NAME: Final = 60  # characters
# How deep arrays and objects may be nested. Decoders stop at a limit of their own, which depends on the Python.
MAX_JSON_DEPTH: Final = 500
_STRINGS: Final = re.compile(_STRING, re.DOTALL)
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_STEPS: Final = bytes(set(range(256)) - set(b"[{]}"))
JsonValue: TypeAlias = Raw | bytes
_Path: TypeAlias = tuple[str, ...]
_WHITE_SPACE: Final = b" \t\r\n"  # RFC 8259 section 2
_OBJECT: Final = re.compile(rb"[ \t\r\n]*\{")
_ARRAY_OF_OBJECTS: Final = re.compile(rb"\[[ \t\r\n]*\{")
_NULL: Final = Raw(b"null")
_RECORD_SEPARATOR: Final = b"\x1e"  # before each text of a sequence
_SEPARATORS: Final = re.compile(_RECORD_SEPARATOR)
_JSON_LINES_HINT: Final = "; a file with one record per line is JSON Lines, and its name must end in .jsonl"
_MAX_NAMES: Final = 100  # of arrays in a message
_MAX_NESTED: Final = 8  # objects around an array of records
_FEW_NAMES: Final = 3  # of fields, with which an object is a store
_USE_MAPPING: Final = "; `store-directory mapping` proposes a mapping that reads it"
_BY_IDENTIFIER: Final = "; its members are objects: write them as an array, each with its identifier as a member"
# How files begin that are called JSON, and are not.
WEB_PAGE: Final = re.compile(rb"\s*<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_BEGINNINGS: Final = {WEB_PAGE: "a web page: download the data itself"} | {
    re.compile(rb"\s*" + pattern, re.IGNORECASE): what
    for pattern, what in (
        (rb"<", "XML: convert it"),
        (rb"//|/\*|#", "a comment: remove it"),
        (rb"\)\]\}'|(?:while|for)\s*\([1;]*\)", "characters that keep scripts from reading it: remove them"),
        (rb"[\w$.]+\s*\(", "a function call, as in JSONP: remove it, and its parenthesis at the end"),
        (rb"(?:var|let|const|export|import)\s|[\w$.]+\s*[=\[]|'use|\(", "a script: remove all but the array or object"),
        (rb"[\w\"' -]+[,;\t|]", "a table: its name must end in .csv"),
        (rb"(?![\[{\"0-9-]|tru|fal|nul)[^\s,:\]}]", "something else: expected an array, or an object"),
    )
}
_VALUES: Final = msgspec.json.Decoder(Raw)


def check_depth(values: Sequence[Raw | FileBytes]) -> None:
    """Raise RecursionError if a JSON value is nested deeper than `MAX_JSON_DEPTH`."""
    deepest = 2 * MAX_JSON_DEPTH  # bytes that cannot be nested deeper
    if not (long := list(compress(values, map(deepest.__lt__, map(len, values))))):
        return
    import numpy as np  # noqa: PLC0415 - the process that serves starts the compiler before it needs it

    for text in map(bytes, long):  # one copy at a time
        if text.count(b"[") + text.count(b"{") > MAX_JSON_DEPTH:
            steps = np.frombuffer(_STRINGS.sub(b"", text).translate(_STEPS, _NO_STEPS), np.int8)
            if steps.cumsum(dtype=np.int32).max(initial=0) > MAX_JSON_DEPTH:
                raise RecursionError("the JSON is nested too deeply")


def error_offset(error: Exception) -> int | None:
    """Return the offset in bytes at which decoding failed, None if the error has none."""
    found = _OFFSET.search(str(error))
    return int(found[1]) if found else None


def describe_json_error(error: Exception, text: FileBytes, name: str = "") -> str:
    """Return why a text is not JSON, from the error of the decoder, with the record and member if they are known.

    The text is an array of records, or an object with that array as its member `name`.
    """
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    if _BLANK.match(text):
        return "not valid JSON: the file is empty"
    if beginning := next((what for pattern, what in _BEGINNINGS.items() if pattern.match(text)), None):
        return f"not valid JSON: {text[:_MAX_NAME].decode(errors='replace')!r} is the beginning of {beginning}"
    location = _describe(_path(text, _valid_end(text, error_offset(error))), name)
    if error_offset(error) is None:
        return f"not valid JSON: truncated, or a lone surrogate{location}"
    return f"not valid JSON: {str(error).removeprefix('JSON is malformed: ')}{location}"


def _valid_end(text: FileBytes, offset: int | None) -> int:
    """Return the end of the valid part of a text."""
    if offset is None:
        lone = _LONE_SURROGATE.search(text, max(0, len(text) - _MAX_NAME))
        return lone.start() if lone else len(text)
    # For a misspelled word such as `tru}` the decoder reports the offset after the bracket.
    return offset - text.startswith((b"}", b"]"), offset - 1)


def _describe(path: list[str | int | None], name: str) -> str:
    match path[path[:1] == [name] :]:
        case [int(record), str(member), *_]:
            return f", in record {record}, at {member[:_MAX_NAME]!r}"
        case [int(record), *_]:
            return f", in record {record}"
        case [str(member), *_]:
            return f", at {member[:_MAX_NAME]!r}"
    return ""


def _path(text: FileBytes, stop: int) -> list[str | int | None]:
    """Return the path to an offset: names of members, and numbers of array elements, from 1.

    An object before its first member has None instead. The text before the offset must be valid JSON.
    """
    path: list[str | int | None] = []
    last = b""
    for found in _TOKEN.finditer(text, 0, stop):
        match found[0]:
            case b"[":
                path.append(1)
            case b"{":
                path.append(None)
            case b"," if path:
                path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
            case b":" if path:
                path[-1] = last[1:-1].decode(errors="replace")
            case b"]" | b"}" if path:
                path.pop()
                if not path:  # the end of the outermost value
                    break
            case value:
                last = value
    return path


class Chunk(msgspec.Struct, frozen=True, eq=False):
    """Consecutive values of a text, what returns the line on which each begins, and how much of the text is read."""

    values: Sequence[JsonValue]
    lines: Callable[[], Sequence[int]]
    done: int


class JsonValues(msgspec.Struct, frozen=True, eq=False):
    """The values of a text.

    chunks  yields them from the first, some at a time; the next ones are read when they are wanted
    total   how much there is, in the unit of `done`
    """

    chunks: Callable[[], Iterator[Chunk]]
    total: int

    def first(self) -> Sequence[JsonValue]:
        """Return the first values. Raises FileError if one is not JSON."""
        for chunk in self.chunks():
            for index, value in enumerate(chunk.values):
                with json_errors(value, chunk.lines, index):
                    check_json(value)
            return chunk.values
        return ()


def array_values(text: FileBytes, name: str | None = None) -> JsonValues:
    """Return the elements of an array, or of the array that is a member of an object. Raises FileError.

    The member has a name, or see `_find_array`.
    """
    array: Raw | FileBytes = text
    path: _Path = (name or "",)
    expected = f'expected an array, or an object with an array under "{path[0]}"'
    try:
        if _OBJECT.match(text):
            members = msgspec.json.decode(text, type=dict[str, Raw])
            arrays = dict(islice(_nested_arrays(members), _MAX_NAMES + 1))
            path = _find_array(members, arrays) if name is None else path
            array = arrays[path] if name is None else members.get(name, _NULL)
            expected = f'the object has no array under "{name}"{_describe_members(members, arrays)}'
            check_depth([value for each, value in members.items() if each != path[0]])
        elements = msgspec.json.decode(array, type=list[Raw])
        check_depth(elements)
    except ValidationError:
        raise FileError(expected) from None
    except (DecodeError, RecursionError) as error:
        raise file_error(text, error, path[-1]) from None
    return _views(text, elements)


def line_values(text: FileBytes) -> JsonValues:
    """Return the lines that are not empty; of a text sequence (RFC 7464, RFC 8142) its texts."""
    if text.startswith(_RECORD_SEPARATOR):
        view, ends = memoryview(text), [*(each.start() for each in _SEPARATORS.finditer(text)), len(text)]
        texts = (Raw(view[start + 1 : stop]) for start, stop in pairwise(ends))
        return _views(text, [each for each in texts if bytes(each).strip(_WHITE_SPACE)])

    def chunks() -> Iterator[Chunk]:
        stream = open_bytes(text)
        lines = ((number, line) for number, line in enumerate(stream, 1) if line.strip(_WHITE_SPACE))
        while some := dict(islice(lines, BATCH_SIZE)):
            yield Chunk(list(some.values()), partial(list, tuple(some)), stream.tell())

    return JsonValues(chunks, len(text))


def _views(text: FileBytes, values: Sequence[Raw]) -> JsonValues:
    """Return values that are views into a text, as msgspec decodes them."""
    start, known = _address(text), (0, 1)  # an offset, and its line

    def lines(some: Sequence[Raw]) -> list[int]:
        """Return the line on which each value begins; fast if they are requested in order."""
        nonlocal known
        found = []
        for value in some:
            offset = _address(value) - start
            before, line = known if known[0] <= offset else (0, 1)
            known = offset, line + count_line_breaks(text, before, offset)
            found.append(known[1])
        return found

    def chunks() -> Iterator[Chunk]:
        for first in range(0, len(values), BATCH_SIZE):
            some = values[first : first + BATCH_SIZE]
            yield Chunk(some, cache(partial(lines, some)), first + len(some))

    return JsonValues(chunks, len(values))


def _address(view: FileBytes | Raw) -> int:
    import numpy as np  # noqa: PLC0415 - as above

    return int(np.frombuffer(view, np.uint8).__array_interface__["data"][0])


def check_json(value: JsonValue) -> None:
    """Raise DecodeError or RecursionError if a value is not JSON: decoders check types before they parse the rest."""
    _VALUES.decode(value)
    check_depth([value])


@contextmanager
def json_errors(value: JsonValue, lines: Callable[[], Sequence[int]], index: int) -> Iterator[None]:
    """Raise FileError, with the line of a value, for an error of its decoder."""
    try:
        yield
    except (DecodeError, RecursionError) as error:
        raise FileError(describe_json_error(error, bytes(value)), lines()[index]) from None


def has_array(text: FileBytes, name: str) -> bool:
    """Return whether a text is an object with an array under a name."""
    try:
        members = msgspec.json.decode(text, type=dict[str, Raw]) if text.find(name.encode()) >= 0 else {}
    except (DecodeError, RecursionError):  # its reader reports it
        return False
    return _begins_with(members.get(name, _NULL), b"[")


def _find_array(members: Mapping[str, Raw], arrays: Mapping[_Path, Raw]) -> _Path:
    """Return the path of the only array of objects in an object, of the only one with names of fields, or of any kind.

    Raises FileError.
    """
    of_records, own = _of_records(arrays), [path for path in arrays if len(path) == 1]
    if len(of_records) == 1 and len(arrays) <= _MAX_NAMES:
        return of_records[0]
    if len(own) != 1:
        names = [".".join(path) for path in arrays]
        found = f"; found {len(names)}: {', '.join(map(repr, names[:_MAX_NAMES]))}" if names else ""
        hint = found or _describe_members(members, arrays)
        raise FileError(f"expected an array of records, or an object with one array{hint}")
    return own[0]


def _of_records(arrays: Mapping[_Path, Raw]) -> list[_Path]:
    """Return the paths of arrays of objects, if there are several of those with names of fields."""
    of_objects = [path for path, value in arrays.items() if _ARRAY_OF_OBJECTS.match(value)]
    return [path for path in of_objects if len(of_objects) > 1 and _has_fields(arrays[path])] or of_objects


def _has_fields(array: Raw) -> bool:
    first = msgspec.json.decode(msgspec.json.decode(array, type=list[Raw])[0], type=dict[str, Raw])
    return len({suggest_field(name, STORES) for name in first} - {None}) >= _FEW_NAMES


def _nested_arrays(members: Mapping[str, Raw], *above: str) -> Iterator[tuple[_Path, Raw]]:
    """Yield the path of each array in the members of an object and in objects there, and the array."""
    for name, value in members.items():
        if _begins_with(value, b"["):
            yield (*above, name), value
        elif _begins_with(value, b"{") and len(above) < _MAX_NESTED:
            yield from _nested_arrays(msgspec.json.decode(value, type=dict[str, Raw]), *above, name)


def _begins_with(value: Raw, character: bytes) -> bool:
    return bytes(memoryview(value)[:1]) == character


def _describe_members(members: Mapping[str, Raw], arrays: Mapping[_Path, Raw]) -> str:
    """Return what else an object has instead of an array of some name, and what to do; "" if it has nothing."""
    if names := [".".join(path) for path in _of_records(arrays)]:
        return f", but under {' and '.join(map(repr, names))}{_USE_MAPPING * (len(names) == 1)}"
    objects = sum(_begins_with(value, b"{") for value in members.values())
    return _BY_IDENTIFIER if objects and objects == len(members) else ""


def file_error(text: FileBytes, error: Exception, name: str = "", lines_hint: str = _JSON_LINES_HINT) -> FileError:
    """Return why a text is not JSON, with the line. The hint is for a text with one value per line."""
    why, offset = describe_json_error(error, text, name), error_offset(error)
    if offset is None:
        return FileError(why)
    hint = lines_hint if _OBJECT.match(text) and "trailing characters" in why else ""
    return FileError(why + hint, 1 + count_line_breaks(text, 0, offset))
