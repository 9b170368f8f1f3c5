"""The normalized keys of many plain decimals at once: those of `number_key`."""

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from service.engine.column import KEY_END, NULL_KEY
from service.model.kinds import COMPLEMENT, END, MOST_SCALE, POINT_SCALE

_Integers: TypeAlias = NDArray[np.int64]

_LINE_END, _MINUS, _POINT, _ZERO, _NINE = b"\n-.09"
_POSITIVE, _NEGATIVE = b"20"  # what keys begin with
_COMPLEMENT: Final = np.frombuffer(COMPLEMENT, np.uint8)
_WHOLE_DIGITS: Final = 3  # of degrees
_MOST_ZEROS: Final = 16


def decimal_keys(lines: bytes, null: int, most: float | None) -> bytes | None:
    """Return the keys of decimals, in the format of `join_keys`; `null` is the one character of a line without a value.

    None if one of the lines is no decimal without an exponent, is zero, or not clearly less than `most` from zero.
    """
    data = np.frombuffer(lines, np.uint8)
    ends = (data == _LINE_END).nonzero()[0]
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
    found = _without_zeros(data, starts + negative, stops)
    if found is None or ((found[0] >= found[1]) & ~empty).any():
        return None
    first, stop = found
    scales = point - first + (point < first)
    if (abs(scales) > MOST_SCALE).any() or (most is not None and not _are_less(data, first, scales, most)):
        return None
    counts = np.where(empty, 0, stop - first - ((first < point) & (point < stop)))
    inside = np.zeros(len(data) + 1, np.int8)
    inside[first] += 1
    inside[stop] -= 1
    chosen = data[(inside.cumsum(dtype=np.int8)[:-1] > 0) & digits]
    return _join(np.where(np.repeat(negative, counts), _COMPLEMENT[chosen], chosen), counts, scales, negative, empty)


def _without_zeros(data: NDArray[np.uint8], first: _Integers, stop: _Integers) -> tuple[_Integers, _Integers] | None:
    """Return where the digits of decimals begin and stop, without zeros at both ends; None if there are many."""
    for _ in range(_MOST_ZEROS):
        before, after = data[first], data[stop - 1]
        leading = (first < stop) & ((before == _ZERO) | (before == _POINT))
        trailing = (first + leading < stop) & ((after == _ZERO) | (after == _POINT))
        if not (leading.any() or trailing.any()):
            return first, stop
        first, stop = first + leading, stop - trailing
    return None


def _are_less(data: NDArray[np.uint8], first: _Integers, scales: _Integers, most: float) -> bool:
    """Return whether the whole numbers that decimals begin with are less than `most`."""
    whole = np.zeros(len(first), np.int64)
    for place in range(_WHOLE_DIGITS):
        at = np.minimum(first + place, len(data) - 1)
        whole = np.where(place < scales, whole * 10 + data[at] - _ZERO, whole)
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
    keys, is_digit = (
        np.empty(int(ends[-1]) if len(ends) else 0, np.uint8),
        np.ones(int(ends[-1]) if len(ends) else 0, np.bool_),
    )
    for others in (starts, starts + 1, ends - 1, ends[negative] - 2):
        is_digit[others] = False
    keys[is_digit] = digits
    keys[starts] = np.where(empty, NULL_KEY[0], np.where(negative, _NEGATIVE, _POSITIVE))
    scale = np.where(empty, 0, scales + POINT_SCALE).astype(np.uint8)
    keys[starts + 1] = np.where(negative, _COMPLEMENT[scale], scale)
    keys[ends[negative] - 2] = END
    keys[ends - 1] = KEY_END[0]
    return keys.tobytes()
