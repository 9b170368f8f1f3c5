"""The fast path for columns of plain cells: all cells of a column at once, as the lines of one text."""

import sys
from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from service.engine.columns.column import KEY_END, NULL_KEY, join_keys
from service.model.kinds import (
    COMPLEMENT,
    END,
    IDENTIFIER,
    INSTANT,
    MOST_SCALE,
    NUMBER,
    POINT_SCALE,
    POSTAL,
    Kind,
    fold_case,
    joining,
    key_number,
    number_key,
)
from service.reading.batch import TextCells, Value, expand

_Chars: TypeAlias = NDArray[np.uint8]  # character index x text
_Integers: TypeAlias = NDArray[np.int64]

_TEMPLATE: Final = np.frombuffer(b"0000-00-00T00:00:00.000000", np.uint8)[:, np.newaxis]
_MOST: Final = np.uint8(9) * (ord("0") == _TEMPLATE)  # above the template
_DATE, _MINUTE, _SECOND, _WHOLE = 10, 16, 19, 26  # lengths of a prefix of the template
_OFFSET: Final = len("+00:00")
_LONGEST: Final = _WHOLE + _OFFSET
_POSITIONS: Final = np.arange(_WHOLE, dtype=np.uint8)[:, np.newaxis]  # of characters
_LINE_END: Final = ord("\n")
_PADDING: Final = " " * _LONGEST  # before the first text and after the last, so that all have as many characters
# By length, whether a time, or no text, may end there.
_ENDS: Final = np.isin(np.arange(_LONGEST + 1), (0, _MINUTE, _SECOND, *range(_SECOND + 2, _WHOLE + 1)))
_TENS: Final = np.array([0, 2, 5, 8, 11, 14, 17])  # digits: of the century, the year in it, the month …
_TIMES: Final = np.array([[24], [60], [60]], np.uint8)  # more than a clock shows
_TEN, _HOURS, _MINUTES, _MONTHS = 10, 24, 60, 12
_DAY: Final = _HOURS * _MINUTES
# The calendar repeats after 400 years: the first day of each month of these, and the length of each.
_CYCLE: Final = 400
_STARTS: Final = np.arange("2000-01", "2400-02", dtype="M8[M]").astype("M8[D]").astype(np.int64)
_LENGTHS, _CYCLE_DAYS = np.diff(_STARTS).astype(np.uint8), int(_STARTS[-1] - _STARTS[0])
_MIN, _MAX = np.array(["0001-01-01T00:00", "9999-12-31T23:59"], "M8[m]").astype(np.int64).tolist()


class PlainColumn(msgspec.Struct, frozen=True, eq=False):
    """The value of each cell, and the normalized keys of all, in the format of `join_keys`."""

    values: Sequence[Value]
    keys: bytes


def parse_instants(texts: TextCells) -> PlainColumn | None:
    """Return date-times as served, and their normalized keys; empty texts have no value.

    None if one of them is invalid, or has a format that only the slow path supports.
    """
    try:
        data, starts, stops = _lines(texts)
        empty, zones = starts == stops, _items(data, stops - _OFFSET, _OFFSET)
        shifted = ((zones[0] == ord("+")) | (zones[0] == ord("-"))) & (zones[3] == ord(":")) & ~empty
        full = _completed(_items(data, starts, _WHOLE), stops - starts, _OFFSET * shifted + (zones[-1] == ord("Z")))
        minutes, offsets = _minutes(full, empty), _offsets(zones, shifted)
    except ValueError:  # raised for characters beyond ASCII, too
        return None
    shifted = offsets != 0
    utc = minutes[shifted] - offsets[shifted]
    if ((utc < _MIN) | (utc > _MAX)).any():
        return None
    has_fraction = full[_SECOND + 1 :].any(axis=0)
    full += _TEMPLATE
    full[_SECOND:] *= has_fraction
    zones *= shifted
    zones[0, ~shifted] = ord("Z")
    values: Sequence[Value] = _joined([full, zones], empty, b"\n").decode().split("\n")[:-1]
    if empty.any():
        values = [value or UNSET for value in values]
    in_utc = utc.astype("M8[m]").astype(f"S{_MINUTE}")
    full[:_MINUTE, shifted] = in_utc.view(np.uint8).reshape(-1, _MINUTE).T
    return PlainColumn(values, _joined([full], empty, KEY_END, NULL_KEY))


def _lines(texts: TextCells) -> tuple[bytes, _Integers, _Integers]:
    """Return texts in one, and where each begins and ends. Raises ValueError if one is too long."""
    data = f"{_PADDING}\n{texts.lines}{_PADDING}".encode("ascii")
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END)
    starts, stops = ends[:-1] + 1, ends[1:]
    if len(starts) != len(texts) or (stops - starts).max(initial=0) > _LONGEST or b"\0" in data:
        raise ValueError
    return data, starts, stops


def _items(data: bytes, starts: _Integers, width: int) -> _Chars:
    """Return as many characters of a text from each of some positions."""
    windows = np.ndarray((len(data) - width + 1,), np.dtype((np.void, width)), data, strides=(1,))
    return np.ascontiguousarray(windows[starts].view(np.uint8).reshape(-1, width).T)


def _joined(parts: Sequence[_Chars], empty: NDArray[np.bool_], end: bytes, null: bytes = b"\0") -> bytes:
    """Return texts without their NULs, each with an end; of the empty ones another text."""
    chars = np.vstack([*parts, np.full((1, len(empty)), end[0], np.uint8)])
    chars[:-1] *= ~empty
    chars[0, empty] = null[0]
    return chars.T.tobytes().translate(None, b"\0")


def _completed(full: _Chars, lengths: _Integers, zones: _Integers) -> _Chars:
    """Return date-times above the template, without their zones. Raises ValueError if one is malformed."""
    stops = lengths - zones
    above = (full - _TEMPLATE) * (stops.astype(np.uint8) > _POSITIONS)
    above[_DATE] *= full[_DATE] != ord(" ")  # which may stand for T
    if not (_ENDS[stops] | ((stops == _DATE) & (zones == 0))).all() or (above > _MOST).any():
        raise ValueError
    return above


def _minutes(above: _Chars, empty: NDArray[np.bool_]) -> _Integers:
    """Return date-times as minutes from 1970 on. Raises ValueError if one does not exist.

    They are computed by arithmetic: numpy's own cast raises without holding the GIL, which crashes the process.
    """
    century, years, month, day, hour, minute, _ = numbers = _numbers(above[_TENS], above[_TENS + 1])
    cycle, year = np.divmod(np.int64(100) * century + years, _CYCLE)
    at = year * _MONTHS + month - 1
    # What is less than 0 wraps around.
    has_day = day - np.uint8(1) < _LENGTHS.take(at, mode="clip")
    valid = (month - np.uint8(1) < _MONTHS) & has_day & ((century > 0) | (years > 0))
    if not ((valid | empty).all() and (numbers[-len(_TIMES) :] < _TIMES).all()):
        raise ValueError
    days = _STARTS.take(at, mode="clip") + (cycle - 2000 // _CYCLE) * _CYCLE_DAYS + (day - np.int64(1))
    minutes: _Integers = days * _DAY + (hour * np.int64(_MINUTES) + minute)
    return minutes


def _numbers(tens: _Chars, ones: _Chars) -> _Chars:
    """Return the numbers that two digits represent."""
    return np.uint8(_TEN) * tens + ones


def _offsets(zones: _Chars, shifted: NDArray[np.bool_]) -> _Integers:
    """Return the offsets of zones from UTC in minutes. Raises ValueError if one is invalid."""
    chars = zones[:, shifted]
    digits = chars[[1, 2, 4, 5]] - np.uint8(ord("0"))
    hours, minutes = _numbers(digits[::2], digits[1::2])
    if not ((digits < _TEN).all() and (hours < _HOURS).all() and (minutes < _MINUTES).all()):
        raise ValueError
    offsets = np.zeros(len(shifted), np.int64)
    offsets[shifted] = np.where(chars[0] == ord("-"), -1, 1) * (hours * np.int64(_MINUTES) + minutes)
    return offsets


_NEWLINE, _MINUS, _POINT, _ZERO, _NINE = b"\n-.09"
_POSITIVE, _NEGATIVE = b"20"  # what keys begin with
_COMPLEMENT: Final = np.frombuffer(COMPLEMENT, np.uint8)
_WHOLE_DIGITS: Final = 3  # of degrees
_WEIGHTS: Final = np.array([0, 1, 10, 100, 0, 0])  # of a digit, by how many follow before the point; none after it


def decimal_keys(lines: bytes, null: int, most: float | None) -> bytes | None:
    """Return the keys of decimals, in the format of `join_keys`; `null` is the one character of a line without a value.

    None if one of the lines is no decimal without an exponent, is zero, or not clearly less than `most` from zero.
    """
    data = np.frombuffer(lines, np.uint8)
    ends = (data == _NEWLINE).nonzero()[0]
    starts = np.append(0, ends[:-1] + 1)[: len(ends)]
    negative, empty = data[starts] == _MINUS, data[starts] == null
    digits, points = (data >= _ZERO) & (data <= _NINE), (data == _POINT).nonzero()[0]
    with_point = ends.searchsorted(points)
    known = sum(map(np.count_nonzero, (digits, negative, empty))) + len(points) + len(ends)
    if known != len(data) or (with_point[1:] == with_point[:-1]).any():
        return None
    point = ends.copy()
    point[with_point] = points
    stops = np.where(empty, starts, ends)
    found = _without_zeros(data, digits, starts + negative, stops)
    if found is None or ((found[0] >= found[1]) & ~empty).any():
        return None
    first, stop = found
    scales = point - first + (point < first)
    if (abs(scales) > MOST_SCALE).any() or (most is not None and not _are_less(data, first, scales, most)):
        return None
    counts = np.where(empty, 0, stop - first - ((first < point) & (point < stop)))
    chosen = data[digits]
    return _join(np.where(np.repeat(negative, counts), _COMPLEMENT[chosen], chosen), counts, scales, negative, empty)


def _without_zeros(
    data: NDArray[np.uint8], digits: NDArray[np.bool_], first: _Integers, stop: _Integers
) -> tuple[_Integers, _Integers] | None:
    """Return where the digits of decimals begin and stop, without zeros at both ends; None if there are many.

    These are taken from the `digits`.
    """
    for _ in range(16):
        before, after = data[first], data[stop - 1]
        leading = (first < stop) & ((before == _ZERO) | (before == _POINT))
        trailing = (first + leading < stop) & ((after == _ZERO) | (after == _POINT))
        if not (leading.any() or trailing.any()):
            return first, stop
        digits[first[leading]] = digits[stop[trailing] - 1] = False
        first, stop = first + leading, stop - trailing
    return None


def _are_less(data: NDArray[np.uint8], first: _Integers, scales: _Integers, most: float) -> bool:
    """Return whether the whole numbers that decimals begin with are less than `most`."""
    places = np.arange(_WHOLE_DIGITS)[:, np.newaxis]
    digits = data[np.minimum(first + places, len(data) - 1)] - np.int64(_ZERO)
    whole = (digits * _WEIGHTS[scales.clip(0, _WHOLE_DIGITS) - places]).sum(axis=0)
    return not ((scales > _WHOLE_DIGITS) | (whole >= most)).any()


def _join(
    digits: NDArray[np.uint8],
    counts: _Integers,
    scales: _Integers,
    negative: NDArray[np.bool_],
    empty: NDArray[np.bool_],
) -> bytes:
    """Return keys of sign, scale and digits, each with its end; of an empty line the key of no value."""
    ends = np.where(empty, len(NULL_KEY + KEY_END), 2 + counts + negative + len(KEY_END)).cumsum()
    starts = np.append(0, ends[:-1])[: len(ends)]
    size = int(ends[-1]) if len(ends) else 0
    keys, is_digit = np.empty(size, np.uint8), np.ones(size, np.bool_)
    for others in (starts, starts + 1, ends - 1, ends[negative] - 2):
        is_digit[others] = False
    keys[is_digit] = digits
    keys[starts] = np.where(empty, NULL_KEY[0], np.where(negative, _NEGATIVE, _POSITIVE))
    scale = np.where(empty, 0, scales + POINT_SCALE).astype(np.uint8)
    keys[starts + 1] = np.where(negative, _COMPLEMENT[scale], scale)
    keys[ends[negative] - 2] = END
    keys[ends - 1] = KEY_END[0]
    return keys.tobytes()


_NULL_LINE: Final = "\x7f"  # not printable, so no cell here contains it, and nothing folds to it
_EMPTY, _FILLED = b"\n\n", f"\n{_NULL_LINE}\n".encode()
_TO_KEY_END, _TO_NULL_KEY = np.uint8(KEY_END[0] - _LINE_END), np.uint8(NULL_KEY[0] - ord(_NULL_LINE))
_SPACE: Final = ord(" ")


def read_plain_column(kind: Kind, texts: TextCells, bounds: tuple[str, str] | None = None) -> PlainColumn | None:
    """Return the values and keys of cells of any kind but FLAG, each a text in canonical form, or empty.

    None if any cell needs a closer check: it has control characters, unusual white space, is not a plain date-time, or
    is a number outside `bounds` (the keys of the minimum and maximum).
    """
    if kind is INSTANT:
        return parse_instants(texts)
    folded = texts.lines.lower() if texts.lines.isascii() else fold_lines(texts.lines)
    if folded is None or _NULL_LINE in texts.lines:
        return None
    values: Sequence[Value] = texts
    keys = (texts.lines if kind in (IDENTIFIER, NUMBER) else folded).encode()
    if _EMPTY in keys or keys.startswith(b"\n"):
        values = [text or None for text in texts]
        keys = (b"\n" + keys).replace(_EMPTY, _FILLED).replace(_EMPTY, _FILLED)[1:]
    if not _has_plain_characters(keys, len(texts)):
        return None
    if kind is NUMBER:
        most = None if bounds is None else key_number(bounds[1].encode())
        found = decimal_keys(keys, ord(_NULL_LINE), most)
        if found is None:
            others = list(map(number_key, filter(None, texts)))
            if bounds and others and not bounds[0] <= min(others) <= max(others) <= bounds[1]:
                return None
            found = join_keys(expand(others, texts, None))
        return PlainColumn(values, found)
    characters = np.frombuffer(keys.replace(b" ", b"") if kind is POSTAL else keys, np.uint8)
    ends, nulls = (characters == _LINE_END) * _TO_KEY_END, (characters == ord(_NULL_LINE)) * _TO_NULL_KEY
    return PlainColumn(values, (characters + ends + nulls).tobytes())  # several times as fast as `translate`


def _has_plain_characters(lines: bytes, count: int) -> bool:
    """Return whether `count` lines have no control characters, and no line leading, trailing or consecutive spaces."""
    characters = np.frombuffer(b"\n" + lines, np.uint8)
    blank = characters <= _SPACE
    return np.count_nonzero(characters < _SPACE) == 1 + count and not (blank[1:] & blank[:-1]).any()


# Of each character what it is folded to, wherever it is; 0 if that is not known yet, else one of the following.
_FOLDED: Final = np.zeros(sys.maxunicode + 1, np.uint32)
_BY_LINE, _UNPRINTABLE = sys.maxunicode + 1, sys.maxunicode + 2
_UTF_32: Final = "utf-32-le"
_SHARP_S: Final = "\u00df"  # the only usual letter that is folded to two


def fold_lines(lines: str) -> str | None:
    """Return lines as `fold_case` does, by a table; None if a character is not printable."""
    codes = np.frombuffer(lines.replace(_SHARP_S, "ss").encode(_UTF_32), np.dtype("<u4"))
    folded = _FOLDED.take(codes)
    if not folded.all():
        for code in set(codes[folded == 0].tolist()):
            _FOLDED[code] = _fold_alone(chr(code))
        folded = _FOLDED.take(codes)
    most = folded.max(initial=0)
    if most == _UNPRINTABLE:
        return None
    if most < _BY_LINE:
        return folded.tobytes().decode(_UTF_32)
    others = folded == _BY_LINE
    folded[others] = _SPACE
    numbers = np.unique((codes == _LINE_END).nonzero()[0].searchsorted(others.nonzero()[0]))
    found, read = folded.tobytes().decode(_UTF_32).split("\n"), lines.split("\n")
    for number in numbers.tolist():
        found[number] = fold_case(read[number])
    return "\n".join(found)


def _fold_alone(character: str) -> int:
    """Return what a character is folded to if it never joins another one before it."""
    if not character.isprintable() and character != "\n":
        return _UNPRINTABLE
    folded = fold_case(character)
    return _BY_LINE if joining(character) or len(folded) > 1 else ord(folded)
