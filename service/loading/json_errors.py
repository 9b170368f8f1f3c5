"""Why a text is not JSON, and where: in which record, at which of its members."""

import re
from typing import Final

_OFFSET: Final = re.compile(r" \(byte ([0-9]+)\)")
_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
# A whole object of plain members, as most records are, which saves a look at each; a string, which may hold any of the
# other signs and end with the text; what opens, separates and closes values.
_TOKEN: Final = re.compile(rb'\{(?:[^{}"]++|%b)*+\}|%b?|[\[{,:}\]]' % (_STRING, _STRING), re.DOTALL)
# So near the end of a text half a surrogate pair looks to the decoder like a text that is cut short.
_HALF_PAIR: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}.{0,5}\Z", re.DOTALL)
_LONGEST_NAME: Final = 60  # characters


def error_offset(error: Exception) -> int | None:
    """Return the offset in bytes at which decoding failed, where its error says so."""
    found = _OFFSET.search(str(error))
    return int(found[1]) if found else None


def not_json(error: Exception, text: bytes, name: str = "") -> str:
    """Return why a text is not JSON, from what its decoding raised, and the record and member where that is known.

    The records are the text itself, as an array, or its member `name`.
    """
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    place = _describe(_path(text, _stop(text, error_offset(error))), name)
    if error_offset(error) is None:
        return f"this is not JSON: it is cut short, or holds half a surrogate pair{place}"
    return f"this is not JSON: {str(error).removeprefix('JSON is malformed: ')}{place}"


def _stop(text: bytes, offset: int | None) -> int:
    """Return where what is sound of a text ends."""
    if offset is None:
        half = _HALF_PAIR.search(text, max(0, len(text) - _LONGEST_NAME))
        return half.start() if half else len(text)
    # The decoder takes the end of a misspelled word, such as `tru}`, for part of it.
    return offset - text.startswith((b"}", b"]"), offset - 1)


def _describe(path: list[str | int | None], name: str) -> str:
    match path[path[:1] == [name] :]:
        case [int(record), str(member), *_]:
            return f", in record {record}, at {member[:_LONGEST_NAME]!r}"
        case [int(record), *_]:
            return f", in record {record}"
        case [str(member), *_]:
            return f", at {member[:_LONGEST_NAME]!r}"
    return ""


def _path(text: bytes, stop: int) -> list[str | int | None]:
    """Return the members, by name, and the elements, counted from 1, that lead to an offset from the outermost value.

    An object of which no member has begun has None instead. What comes before the offset must be JSON.
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
                if not path:  # the outermost value, behind which nothing may follow
                    break
            case value:
                last = value
    return path
