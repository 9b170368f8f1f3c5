"""Describe why a text is not JSON, and where: in which record, at which member."""

import re
from typing import Final

from service.files.mapped_bytes import FileBytes

_OFFSET: Final = re.compile(r" \(byte ([0-9]+)\)")
_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
# A whole object without nested ones, as most records are, which is faster than its tokens; a string, which may contain
# any other token and may be cut off by the end of the text; the punctuation.
_TOKEN: Final = re.compile(rb'\{(?:[^{}"]++|%b)*+\}|%b?|[\[{,:}\]]' % (_STRING, _STRING), re.DOTALL)
# This close to the end, the decoder reports a lone surrogate as a truncated text.
_LONE_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}.{0,5}\Z", re.DOTALL)
_BLANK: Final = re.compile(rb"\s*+\Z")
_MAX_NAME: Final = 60  # characters


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
