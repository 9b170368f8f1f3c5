"""Parse many plain date-times at once, with the results of `service.model.kinds`."""

from collections.abc import Sequence
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Chars: TypeAlias = NDArray[np.uint8]  # character index x text
_Texts: TypeAlias = NDArray[np.bytes_]

_TEMPLATE: Final = np.frombuffer(b"2000-01-01T00:00:00.000000", np.uint8)[:, np.newaxis]
_TEMPLATE_DIGITS: Final = np.isin(_TEMPLATE, np.arange(ord("0"), ord("9") + 1))
_DATE, _MINUTE, _SECOND, _WHOLE = 10, 16, 19, 26  # lengths of a prefix of the template
_TIMES: Final = (_MINUTE, _SECOND, *range(_SECOND + 2, _WHOLE + 1))  # where a time may end
_ZERO_FRACTION: Final = b".000000"
_OFFSET: Final = len("+00:00")
_POSITIONS: Final = np.arange(_WHOLE + _OFFSET)[:, np.newaxis]  # of characters
_LINE_END: Final = ord("\n")
_PADDING: Final = " " * len(_POSITIONS)  # after the last text, so that each position is in the array
_ENDS: Final = np.isin(np.arange(_WHOLE + _OFFSET + 1), _TIMES)  # by length, whether a time may end there
_PARTS: Final = tuple(slice(*ends) for ends in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)))
_MONTHS, _HOURS, _MINUTES, _SECONDS = 12, 24, 60, 60
_EPOCH: Final = 1970  # numpy's
_MIN, _MAX = np.datetime64("0001-01-01T00:00"), np.datetime64("9999-12-31T23:59")


def parse_instants(texts: Sequence[str]) -> tuple[list[str], list[bytes]] | None:
    """Return date-times as served, and their normalized keys.

    None if one of them is invalid, or has a format that only the slow path supports.
    """
    try:
        chars = _to_chars(texts)
        stops, zones = _split_zones(chars)
        full, offsets = _complete(chars, stops), _offsets(zones)
        minutes = _minutes(full)
    except ValueError:  # raised for characters beyond ASCII, too
        return None
    utc = np.subtract(minutes, offsets)
    if ((utc < _MIN) | (utc > _MAX)).any():
        return None
    whole = _without_zero_fraction(_to_texts(full))
    values = np.strings.add(whole, np.where(offsets.astype(bool), zones, b"Z"))
    shifted = np.flatnonzero(offsets)
    minutes_in_utc = np.datetime_as_string(utc[shifted]).astype(np.bytes_)
    whole[shifted] = _without_zero_fraction(np.strings.add(minutes_in_utc, _to_texts(full[_MINUTE:, shifted])))
    return b"\n".join([*values.tolist(), b""]).decode().split("\n")[:-1], whole.tolist()


def _to_chars(texts: Sequence[str]) -> _Chars:
    """Return texts as an array of characters, padded with 0. Raises ValueError if one is too long."""
    joined = "\n".join([*texts, _PADDING])
    lines = np.frombuffer(joined.encode("ascii"), np.uint8)
    ends = np.flatnonzero(lines == _LINE_END)
    lengths = np.diff(ends, prepend=-1) - 1
    if len(ends) != len(texts) or lengths.max(initial=0) > len(_POSITIONS) or "\0" in joined:
        raise ValueError
    return np.where(lengths > _POSITIONS, lines[_POSITIONS + (ends - lengths)], 0)


def _to_texts(chars: _Chars) -> _Texts:
    """Return the texts of an array of characters."""
    return np.ascontiguousarray(chars.T).view(f"S{len(chars)}")[:, 0]


def _split_zones(chars: _Chars) -> tuple[NDArray[np.intp], _Texts]:
    """Return where the zone of each text begins, and the zones: an offset, `Z` or nothing."""
    lengths = np.count_nonzero(chars, axis=0)
    last = np.take_along_axis(chars, lengths - np.arange(_OFFSET, 0, -1)[:, np.newaxis], axis=0)
    offset = ((last[0] == ord("+")) | (last[0] == ord("-"))) & (last[3] == ord(":"))
    zones = np.where(offset, _to_texts(last), np.where(last[-1] == ord("Z"), b"Z", b""))
    stops = lengths - np.strings.str_len(zones)
    if not (_ENDS[stops] | ((stops == _DATE) & (stops == lengths))).all():
        raise ValueError
    return stops, zones


def _complete(chars: _Chars, stops: NDArray[np.intp]) -> _Chars:
    """Return date-times without zones, completed to microseconds. Raises ValueError if one is malformed."""
    full = np.where(np.arange(_WHOLE)[:, np.newaxis] < stops, chars[:_WHOLE], _TEMPLATE)
    full[_DATE, full[_DATE] == ord(" ")] = ord("T")
    if not np.where(_TEMPLATE_DIGITS, _are_digits(full), full == _TEMPLATE).all():
        raise ValueError
    return full


def _minutes(full: _Chars) -> NDArray[np.datetime64]:
    """Return complete date-times as minutes. Raises ValueError if one does not exist.

    They are computed by arithmetic: numpy's own cast raises without holding the GIL, which crashes the process.
    """
    year, month, day, hour, minute, second = (_number(full[part]) for part in _PARTS)
    months = ((year - _EPOCH) * _MONTHS + month - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (day - 1)
    valid = (year > 0) & (month > 0) & (month <= _MONTHS) & (day > 0) & (days.astype("M8[M]") == months)
    if not (valid & (hour < _HOURS) & (minute < _MINUTES) & (second < _SECONDS)).all():
        raise ValueError
    minutes: NDArray[np.datetime64] = days.astype("M8[m]") + (hour * _MINUTES + minute)
    return minutes


def _number(digits: _Chars) -> NDArray[np.int64]:
    """Return the numbers that digits represent."""
    return reduce(lambda number, digit: number * 10 + digit, digits.astype(np.int64) - ord("0"))


def _offsets(zones: _Texts) -> NDArray[np.timedelta64]:
    """Return the offsets of zones from UTC. Raises ValueError if one is invalid."""
    numeric = np.flatnonzero(np.strings.str_len(zones) == _OFFSET)
    chars = zones[numeric].view(np.uint8).reshape(-1, _OFFSET).T
    tens, ones = chars[[1, 4]], chars[[2, 5]]
    hours, minutes = ((tens - ord("0")) * 10 + ones - ord("0")).astype(np.int64)
    if not (_are_digits(tens) & _are_digits(ones)).all() or (hours >= _HOURS).any() or (minutes >= _MINUTES).any():
        raise ValueError
    offsets = np.zeros(len(zones), "m8[m]")
    offsets[numeric] = np.where(chars[0] == ord("-"), -1, 1) * (hours * _MINUTES + minutes)
    return offsets


def _are_digits(chars: _Chars) -> NDArray[np.bool_]:
    return (chars >= ord("0")) & (chars <= ord("9"))


def _without_zero_fraction(full: _Texts) -> _Texts:
    """Return date-times without their fraction where it is zero."""
    return np.where(np.strings.endswith(full, _ZERO_FRACTION), full.astype(f"S{_SECOND}"), full)
