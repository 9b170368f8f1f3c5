"""The messages to and from the process that checks batches."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import IO, Final

import msgspec

from service.model.attributes import Declaration
from service.reading.batches.diagnostics import Issue

_LENGTH_BYTES: Final = 8
# What a message may have, and JSON tells apart from other cells.
SimpleCell = str | bool | None
Issues = Sequence[tuple[SimpleCell, Issue]]


class Task(msgspec.Struct, frozen=True):
    """What is checked: the stores of a data set, with the identifiers of its companies."""

    declaration: Declaration
    companies: AbstractSet[str] | None


class Batches(msgspec.Struct, frozen=True):
    """The cells of some batches by field."""

    batches: Sequence[Mapping[str, Sequence[SimpleCell]]]


class Checked(msgspec.Struct, frozen=True):
    """What a batch became; the keys, errors and warnings are those of the fields, in order."""

    rows: bytes
    texts: Mapping[str, bytes]
    keys: Sequence[bytes]
    errors: Sequence[Issues]
    warnings: Sequence[Issues]


def write_message(stream: IO[bytes], encoded: bytes) -> None:
    """Write a message with its length."""
    stream.write(len(encoded).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(encoded)
    stream.flush()


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return a message, None if there is no whole one."""
    length = stream.read(_LENGTH_BYTES)
    encoded = stream.read(int.from_bytes(length, "little"))
    return encoded if len(length) == _LENGTH_BYTES and len(encoded) == int.from_bytes(length, "little") else None
