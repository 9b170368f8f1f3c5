"""Rows with some of their members only."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec import Raw

# The number of combinations of members for which a decoder is kept.
_DECODERS: Final = 256
_ABSENT: Final = Raw()
_ENCODE: Final = msgspec.json.Encoder().encode


def project(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[bytes]:
    """Return rows with some members only, as one chunk; `rows` concatenate to a list body, as does the result."""
    return [_ENCODE(decode(rows, names))[1:-1]]


def decode(rows: Sequence[bytes | memoryview], names: tuple[str, ...]) -> list[Any]:
    """Return rows as structs of some members, each as encoded."""
    return _decoder(names)(b"".join((b"[", *rows, b"]")))


@lru_cache(_DECODERS)
def _decoder(names: tuple[str, ...]) -> Callable[[bytes], list[Any]]:
    members = [(name, Raw, _ABSENT) for name in names]
    row = msgspec.defstruct("Row", members, omit_defaults=True, gc=False)
    return msgspec.json.Decoder(list[row]).decode  # type: ignore[valid-type]
