"""The quick way through a column in which nothing is odd: all its cells at once, as the lines of one text."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import numpy as np
from msgspec import UNSET

from service.engine.column import ABSENT, KEY_END, join_keys
from service.loading.batch import Cell, Value, spread
from service.loading.date_times import read_instants
from service.model.kinds import IDENTIFIER, INSTANT, NUMBER, POSTAL, Kind, fold_loosely, rank_number

_ABSENT_LINE: Final = "\x7f"  # not printable, so that no cell here has it, and nothing folds to it
_TO_KEYS: Final = bytes.maketrans(f"\n{_ABSENT_LINE}".encode(), KEY_END + ABSENT)
_SPACE: Final = ord(" ")


class Plain(msgspec.Struct, frozen=True, eq=False):
    """The value of each cell, and the matched forms of all, as `join_keys` has them."""

    values: Sequence[Value]
    keys: bytes


def read_plain(kind: Kind, cells: Sequence[Cell], bounds: tuple[str, str] | None = None) -> Plain | None:
    """Return cells of any kind but FLAG, read: each is a text that is its own value, or nothing.

    None where one of them may be another: that has control characters, unusual or needless white space, is no text, no
    instant or one of too many digits, or a number beyond `bounds`, the least and the most in matched form.
    """
    try:
        if not "".join(filter(None, cells)).isprintable():  # type: ignore[arg-type]  # where so, it raises
            return None
    except TypeError:
        return None
    texts: Sequence[Any] = cells
    if kind is INSTANT:
        return _read_instants(texts)
    lines = "\n".join([*(text or _ABSENT_LINE for text in texts), ""])
    if kind not in (IDENTIFIER, NUMBER):
        lines = fold_loosely(lines)
    keys = lines.encode()
    if not _is_tidy(keys):
        return None
    values = [text or None for text in texts] if _ABSENT_LINE in lines else texts
    if kind is NUMBER:
        return _rank_numbers(texts, values, bounds)
    return Plain(values, (keys.replace(b" ", b"") if kind is POSTAL else keys).translate(_TO_KEYS))


def _is_tidy(lines: bytes) -> bool:
    """Return whether lines have only single spaces, none at either end, and none is empty."""
    spaces = np.frombuffer(b"\n" + lines, np.uint8) <= _SPACE
    return not (spaces[1:] & spaces[:-1]).any()


def _rank_numbers(texts: Sequence[str], values: Sequence[Value], bounds: tuple[str, str] | None) -> Plain | None:
    ranks = list(map(rank_number, filter(None, texts)))
    if bounds and ranks and not bounds[0] <= min(ranks) <= max(ranks) <= bounds[1]:
        return None
    return Plain(values, join_keys(spread(ranks, texts, None)))


def _read_instants(texts: Sequence[str]) -> Plain | None:
    read = read_instants(list(filter(None, texts)))
    if read is None:
        return None
    answers, keys = read
    return Plain(spread(answers, texts, UNSET), KEY_END.join([*spread(keys, texts, ABSENT), b""]))
