"""The opening hours of stores as arrays, with all changes of the clocks of their zones: serving reads no zone data."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
from msgspec import UNSET

from service.engine.opening_hours import DAY, TIME_BITS, Exceptions, OpenTimes, Week
from service.engine.row_json import decode_rows
from service.engine.table import Table
from service.model.hours import DAYS, Day, OpeningHours, Time
from service.model.intervals import MINUTES

_AT_ONCE: Final = 4096  # hours
_END: Final = MINUTES * 60  # seconds
# No clock has ever been changed and changed back within so many seconds, four days.
_PROBED: Final = 4 * 24 * 60 * 60
_EPOCH: Final = date(1970, 1, 1).toordinal()
_MINUTES: Final = {f"{minute // 60:02}:{minute % 60:02}": minute for minute in range(DAY)}
_STARTS: Final[dict[Day, int]] = {day: place * DAY for place, day in enumerate(DAYS)}

_decode: Final = msgspec.json.Decoder(OpeningHours).decode


def distinct_hours(table: Table, field: str) -> Iterator[OpeningHours]:
    """Yield the opening hours in the column of a field, by code."""
    column = table.columns[field]
    firsts = column.order[column.starts[:-1]]
    for begin in range(0, len(firsts), _AT_ONCE):
        rows = decode_rows(table.json(firsts[begin : begin + _AT_ONCE]), (field,))
        yield from map(_decode, map(attrgetter(field), rows))


def open_times(field: str, distinct: Iterable[OpeningHours]) -> OpenTimes:
    """Return the arrays of the distinct opening hours in the column of a field."""
    zones, numbers = array("i"), dict[str, int]()
    week, exceptions = array("i"), array("i")
    for code, hours in enumerate(distinct):
        zones.append(numbers.setdefault(hours.timezone, len(numbers)))
        for each in hours.hours:
            week.extend((code, _STARTS[each.day] + _MINUTES[each.opens], _length(each.opens, each.closes)))
        for but in hours.exception_hours:
            dates = (date.fromisoformat(day).toordinal() - _EPOCH for day in (but.valid_from, but.valid_through))
            opens, closes = but.opens, but.closes
            interval = (0, 0) if opens is UNSET or closes is UNSET else (_MINUTES[opens], _length(opens, closes))
            exceptions.extend((code, *dates, *interval))
    changes, offsets, names = array("q"), array("i"), sorted(numbers)
    for number, name in enumerate(names):
        seconds, ahead = clock_changes(name)
        changes.extend(number << TIME_BITS | second for second in seconds)
        offsets.extend(ahead)
    ranks = np.array([names.index(name) for name in numbers], np.uint16)
    in_week = np.array(week, np.int32).reshape(-1, 3)
    owners, starts, lengths = in_week[in_week[:, 1].argsort(kind="stable")].T
    several = np.array(exceptions, np.int32).reshape(-1, 5).T
    return OpenTimes(
        field,
        ranks[np.array(zones, np.int32)],
        np.array(changes, np.int64),
        np.array(offsets, np.int32),
        Week(owners.copy(), starts.astype(np.uint16), lengths.astype(np.uint16)),
        Exceptions(*several[:3].copy(), *several[3:].astype(np.uint16, "C")),
    )


def _length(opens: Time, closes: Time) -> int:
    """Return the minutes of an interval, which ends on the next date if it closes before it opens."""
    return DAY if (opens, closes) == ("00:00", "23:59") else (_MINUTES[closes] - _MINUTES[opens]) % DAY


@cache  # of each zone
def clock_changes(name: str) -> tuple[list[int], list[int]]:
    """Return when the clock of a zone changes, in seconds from 1970 to 2100, and by how many it is ahead from then on.

    The first is 0. Only the clock is read, which goes on by the rule that a zone ends with, beyond the changes listed.
    """
    zone = ZoneInfo(name)

    def ahead(second: int) -> int:
        return round((datetime.fromtimestamp(second, zone).utcoffset() or timedelta()).total_seconds())

    seconds, offsets = [0], [ahead(0)]
    for end in range(_PROBED, _END + _PROBED, _PROBED):
        now = ahead(end)
        while offsets[-1] != now:
            begin = max(seconds[-1], end - _PROBED)
            seconds.append(_first_change(ahead, offsets[-1], begin, end))
            offsets.append(ahead(seconds[-1]))
    return seconds, offsets


def _first_change(ahead: Callable[[int], int], offset: int, begin: int, end: int) -> int:
    """Return the first second until an end with another offset."""
    return begin + bisect_left(range(begin, end), True, key=lambda second: ahead(second) != offset)
