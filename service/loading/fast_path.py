"""The fast path for columns of plain cells: all cells of a column at once, as the lines of one text."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET

from service.engine.column import KEY_END, NULL_KEY, join_keys
from service.loading.date_times import parse_instants
from service.model.kinds import IDENTIFIER, INSTANT, NUMBER, POSTAL, Kind, fold_case, number_key
from service.reading.batch import Cell, Value, expand

_NULL_LINE: Final = "\x7f"  # not printable, so no cell here contains it, and nothing folds to it
_TO_KEYS: Final = bytes.maketrans(f"\n{_NULL_LINE}".encode(), KEY_END + NULL_KEY)
_SPACE: Final = ord(" ")


class PlainColumn(msgspec.Struct, frozen=True, eq=False):
    """The value of each cell, and the normalized keys of all, in the format of `join_keys`."""

    values: Sequence[Value]
    keys: bytes


def read_plain_column(kind: Kind, cells: Sequence[Cell], bounds: tuple[str, str] | None = None) -> PlainColumn | None:
    """Return the values and keys of cells of any kind but FLAG, each a text that is its own value, or empty.

    None if any cell needs a closer check: it has control characters, unusual white space or a wrong type, is not a
    plain date-time, or is a number outside `bounds` (the keys of the minimum and maximum).
    """
    try:
        if not "".join(filter(None, cells)).isprintable():  # type: ignore[arg-type]  # other types raise
            return None
    except TypeError:
        return None
    texts: Sequence[Any] = cells
    if kind is INSTANT:
        return _read_instants(texts)
    lines = "\n".join([*(text or _NULL_LINE for text in texts), ""])
    if kind not in (IDENTIFIER, NUMBER):
        lines = fold_case(lines)
    keys = lines.encode()
    if not _has_plain_spaces(keys):
        return None
    values = [text or None for text in texts] if _NULL_LINE in lines else texts
    if kind is NUMBER:
        return _read_numbers(texts, values, bounds)
    return PlainColumn(values, (keys.replace(b" ", b"") if kind is POSTAL else keys).translate(_TO_KEYS))


def _has_plain_spaces(lines: bytes) -> bool:
    """Return whether no line is empty, or has leading, trailing or consecutive spaces."""
    spaces = np.frombuffer(b"\n" + lines, np.uint8) <= _SPACE
    return not (spaces[1:] & spaces[:-1]).any()


def _read_numbers(texts: Sequence[str], values: Sequence[Value], bounds: tuple[str, str] | None) -> PlainColumn | None:
    keys = list(map(number_key, filter(None, texts)))
    if bounds and keys and not bounds[0] <= min(keys) <= max(keys) <= bounds[1]:
        return None
    return PlainColumn(values, join_keys(expand(keys, texts, None)))


def _read_instants(texts: Sequence[str]) -> PlainColumn | None:
    parsed = parse_instants(list(filter(None, texts)))
    if parsed is None:
        return None
    values, keys = parsed
    return PlainColumn(expand(values, texts, UNSET), KEY_END.join([*expand(keys, texts, NULL_KEY), b""]))
