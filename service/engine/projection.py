"""Rows with some of their members only."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec
from msgspec import Raw

from service.engine.long_work import announce
from service.model.records import ATTRIBUTES, DISTANCE, PREFIX

# A decoder is a class of its own, which only the garbage collector can free: thousands of them took it 60 ms. So the
# first combinations of members keep theirs; the others are decoded as dictionaries, in about four times as long.
_MAX_DECODERS: Final = 256
# To decode so many bytes takes as long as to look at a row.
DECODED_BYTES: Final = 8
_ABSENT: Final = Raw(b"null")  # what it means to a reader; it is omitted when it is written
_ENCODE: Final = msgspec.json.Encoder().encode
_ENCODE_LINES: Final = msgspec.json.Encoder().encode_lines
_DECODE: Final = msgspec.json.Decoder(list[dict[str, Raw]]).decode
_DECODE_ATTRIBUTES: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_decoders: Final[dict[tuple[str, ...], Callable[[bytes], list[Any]]]] = {}


def project(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[bytes]:
    """Return rows with some members only, as one chunk; `rows` concatenate to a list body, as does the result."""
    return [_ENCODE(_records(rows, names))[1:-1]]


def project_lines(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> bytes:
    """Return rows, which concatenate to a list body, with some members only, each followed by LF."""
    return _ENCODE_LINES(_records(rows, names))


def _records(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    if names in _decoders or len(_decoders) < _MAX_DECODERS:
        return decode_rows(rows, names)
    announce(sum(map(len, rows)) // DECODED_BYTES)
    records = _DECODE(b"".join((b"[", *rows, b"]")))
    return [_some_members(record, names) for record in records]


def _some_members(record: dict[str, Raw], names: tuple[str, ...]) -> dict[str, object]:
    found: dict[str, object] = {name: record[name] for name in names if name in record}
    parts = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    if parts:
        attributes = _DECODE_ATTRIBUTES(record[ATTRIBUTES])
        found[ATTRIBUTES] = {name: attributes[name] for name in parts}
        if DISTANCE in found:
            found[DISTANCE] = found.pop(DISTANCE)
    return found


def members(records: Iterable[Any], name: str) -> Iterator[bytes]:
    """Yield a member of decoded rows, or an attribute, as JSON."""
    return map(attrgetter(name), records)


def decode_rows(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    """Return rows as structs of some members, each as encoded."""
    announce(sum(map(len, rows)) // DECODED_BYTES)
    return decode_announced(rows, names)


def decode_announced(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    """Return rows as structs of some members, each as encoded; that they are decoded was announced."""
    decoder = _decoders.get(names)
    if decoder is None:
        parts = [(name.removeprefix(PREFIX), Raw) for name in names if name.startswith(PREFIX)]
        attributes = msgspec.defstruct("Attributes", parts, gc=False) if parts else Raw
        shown = dict.fromkeys(ATTRIBUTES if name.startswith(PREFIX) else name for name in names)
        members = [(name, attributes, None) if name == ATTRIBUTES else (name, Raw, _ABSENT) for name in shown]
        row = msgspec.defstruct("Row", members, omit_defaults=True, gc=False)
        decoder = _decoders[names] = msgspec.json.Decoder(list[row]).decode  # type: ignore[valid-type]
    return decoder(b"".join((b"[", *rows, b"]")))
