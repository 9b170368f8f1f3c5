"""The fast path for columns of plain cells: all cells of a column at once, as the lines of one text."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET

from service.engine.column import KEY_END, NULL_KEY, join_keys
from service.loading.date_times import parse_instants
from service.loading.decimal_keys import decimal_keys
from service.model.kinds import IDENTIFIER, INSTANT, NUMBER, POSTAL, Kind, fold_case, key_number, number_key
from service.reading.batches.batch import Cell, Value, expand

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
        texts, joined = _join(cells)
    except TypeError:
        return None
    if kind is INSTANT:
        return _read_instants(texts)
    if _NULL_LINE in joined or not (joined.isascii() or joined.isprintable()):  # NumPy finds what ASCII has sooner
        return None
    values: Sequence[Value] = texts
    filled = texts
    if "" in texts:
        values, filled = [text or None for text in texts], [text or _NULL_LINE for text in texts]
    lines = "\n".join([*filled, ""])
    keys = (lines if kind in (IDENTIFIER, NUMBER) else fold_case(lines)).encode()
    if not _has_plain_characters(keys, len(texts)):
        return None
    if kind is NUMBER:
        most = None if bounds is None else key_number(bounds[1].encode())
        found = decimal_keys(keys, ord(_NULL_LINE), most)
        return _read_numbers(texts, values, bounds) if found is None else PlainColumn(values, found)
    return PlainColumn(values, (keys.replace(b" ", b"") if kind is POSTAL else keys).translate(_TO_KEYS))


def _join(cells: Sequence[Any]) -> tuple[Sequence[str], str]:
    """Return cells as texts, and these as one. Raises TypeError if a cell is neither a text nor None."""
    try:
        return cells, "".join(cells)
    except TypeError:
        texts = ["" if cell is None else cell for cell in cells]
        return texts, "".join(texts)


def _has_plain_characters(lines: bytes, count: int) -> bool:
    """Return whether `count` lines have no control characters, and no line leading, trailing or consecutive spaces."""
    characters = np.frombuffer(b"\n" + lines, np.uint8)
    blank = characters <= _SPACE
    return np.count_nonzero(characters < _SPACE) == 1 + count and not (blank[1:] & blank[:-1]).any()


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
