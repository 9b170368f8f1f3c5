"""Many date-times at once, as `service.kinds` reads, writes and ranks each: where they are plain ones, as most are."""

from collections.abc import Sequence
from functools import reduce
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Chars: TypeAlias = NDArray[np.uint8]  # place in a text x text
_Texts: TypeAlias = NDArray[np.bytes_]

_FORM: Final = np.frombuffer(b"2000-01-01T00:00:00.000000", np.uint8)[:, np.newaxis]
_FORM_DIGITS: Final = np.isin(_FORM, np.arange(ord("0"), ord("9") + 1))
_DATE, _MINUTE, _SECOND, _WHOLE = 10, 16, 19, 26  # where parts of the form end
_TIMES: Final = (_MINUTE, _SECOND, *range(_SECOND + 2, _WHOLE + 1))  # where a time may end
_NO_FRACTION: Final = b".000000"
_OFFSET: Final = len("+00:00")
_PARTS: Final = tuple(slice(*ends) for ends in ((0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19)))
_MONTHS, _HOURS, _MINUTES, _SECONDS = 12, 24, 60, 60
_EPOCH: Final = 1970  # numpy's
_LEAST, _MOST = np.datetime64("0001-01-01T00:00"), np.datetime64("9999-12-31T23:59")


def read_instants(texts: Sequence[str]) -> tuple[list[str], list[bytes]] | None:
    """Return date-times as they are answered, and in their matched form.

    None where one of them is none, or is too unusual to be read here.
    """
    try:
        chars = _spread(texts)
        stops, zones = _cut_zones(chars)
        forms, ahead = _completed(chars, stops), _ahead(zones)
        minutes = _minutes(forms)
    except ValueError:  # also of a character that is not ASCII
        return None
    utc = np.subtract(minutes, ahead)
    if ((utc < _LEAST) | (utc > _MOST)).any():
        return None
    whole = _shortened(_gathered(forms))
    answers = np.strings.add(whole, np.where(ahead.astype(bool), zones, b"Z"))
    moved = np.flatnonzero(ahead)
    moments = np.datetime_as_string(utc[moved]).astype(np.bytes_)
    whole[moved] = _shortened(np.strings.add(moments, _gathered(forms[_MINUTE:, moved])))
    return answers.astype(np.str_).tolist(), whole.tolist()


def _spread(texts: Sequence[str]) -> _Chars:
    """Return texts by character, 0 behind their ends. Raises ValueError where one is too long."""
    if max(map(len, texts), default=0) > _WHOLE + _OFFSET or "\0" in "".join(texts):
        raise ValueError
    cells = np.array(texts, np.bytes_)  # in which each takes as much room as the longest
    chars = np.zeros((_WHOLE + _OFFSET, len(cells)), np.uint8)
    chars[: cells.itemsize] = cells.view(np.uint8).reshape(len(cells), cells.itemsize).T
    return chars


def _gathered(chars: _Chars) -> _Texts:
    """Return the texts that lie by character."""
    return np.ascontiguousarray(chars.T).view(f"S{len(chars)}")[:, 0]


def _cut_zones(chars: _Chars) -> tuple[NDArray[np.intp], _Texts]:
    """Return where the zones of texts begin, and them: an offset, `Z` or nothing."""
    lengths = np.count_nonzero(chars, axis=0)
    last = np.take_along_axis(chars, lengths - np.arange(_OFFSET, 0, -1)[:, np.newaxis], axis=0)
    offset = ((last[0] == ord("+")) | (last[0] == ord("-"))) & (last[3] == ord(":"))
    zones = np.where(offset, _gathered(last), np.where(last[-1] == ord("Z"), b"Z", b""))
    stops = lengths - np.strings.str_len(zones)
    if not (np.isin(stops, _TIMES) | ((stops == _DATE) & (stops == lengths))).all():
        raise ValueError
    return stops, zones


def _completed(chars: _Chars, stops: NDArray[np.intp]) -> _Chars:
    """Return date-times without zones in full, to the microsecond. Raises ValueError where one has not the form."""
    forms = np.where(np.arange(_WHOLE)[:, np.newaxis] < stops, chars[:_WHOLE], _FORM)
    forms[_DATE, forms[_DATE] == ord(" ")] = ord("T")
    if not np.where(_FORM_DIGITS, _are_digits(forms), forms == _FORM).all():
        raise ValueError
    return forms


def _minutes(forms: _Chars) -> NDArray[np.datetime64]:
    """Return the minutes of date-times in full. Raises ValueError where one is none.

    They are reckoned, as numpy's own cast crashes where one of thousands of texts is none: it raises without the GIL.
    """
    year, month, day, hour, minute, second = (_number(forms[part]) for part in _PARTS)
    months = ((year - _EPOCH) * _MONTHS + month - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (day - 1)
    sound = (year > 0) & (month > 0) & (month <= _MONTHS) & (day > 0) & (days.astype("M8[M]") == months)
    if not (sound & (hour < _HOURS) & (minute < _MINUTES) & (second < _SECONDS)).all():
        raise ValueError
    minutes: NDArray[np.datetime64] = days.astype("M8[m]") + (hour * _MINUTES + minute)
    return minutes


def _number(digits: _Chars) -> NDArray[np.int64]:
    """Return the numbers that digits write."""
    return reduce(lambda number, digit: number * 10 + digit, digits.astype(np.int64) - ord("0"))


def _ahead(zones: _Texts) -> NDArray[np.timedelta64]:
    """Return how far zones are ahead of UTC. Raises ValueError where one is no offset."""
    offset = np.flatnonzero(np.strings.str_len(zones) == _OFFSET)
    chars = zones[offset].view(np.uint8).reshape(-1, _OFFSET).T
    tens, ones = chars[[1, 4]], chars[[2, 5]]
    hours, minutes = ((tens - ord("0")) * 10 + ones - ord("0")).astype(np.int64)
    if not (_are_digits(tens) & _are_digits(ones)).all() or (hours >= _HOURS).any() or (minutes >= _MINUTES).any():
        raise ValueError
    ahead = np.zeros(len(zones), "m8[m]")
    ahead[offset] = np.where(chars[0] == ord("-"), -1, 1) * (hours * _MINUTES + minutes)
    return ahead


def _are_digits(chars: _Chars) -> NDArray[np.bool_]:
    return (chars >= ord("0")) & (chars <= ord("9"))


def _shortened(forms: _Texts) -> _Texts:
    """Return date-times without the fraction that is none."""
    return np.where(np.strings.endswith(forms, _NO_FRACTION), forms.astype(f"S{_SECOND}"), forms)
