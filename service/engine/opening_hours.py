"""The opening hours of a table as arrays: which of the distinct hours are open at a minute, by their own clocks.

Intervals are in minutes of local clocks: a time that a change of the clocks skips never comes, one that it repeats
counts twice.
"""

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.row_budget import spend

DAY: Final = 24 * 60  # minutes, which no interval exceeds
WEEK: Final = 7 * DAY
TIME_BITS: Final = 32  # hold the seconds from 1970 to 2100
_MINUTE: Final = 60  # seconds
_FIRST_WEEKDAY: Final = 3 * DAY  # 1970 began on a Thursday
# To judge so many intervals takes as long as to look at a row.
_JUDGED: Final = 8

_Flags = NDArray[np.bool_]


class Week(msgspec.Struct, frozen=True, eq=False):
    """Intervals that repeat every week, by their start: which hours have each, minutes since Monday, its length."""

    hours: NDArray[np.int32]
    starts: NDArray[np.uint16]
    lengths: NDArray[np.uint16]


class Exceptions(msgspec.Struct, frozen=True, eq=False):
    """Intervals on each date of a range, in days since 1970, instead of the week; closed if the length is 0."""

    hours: NDArray[np.int32]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    starts: NDArray[np.uint16]
    lengths: NDArray[np.uint16]


class OpenTimes(msgspec.Struct, frozen=True, eq=False):
    """When distinct opening hours are open, by their codes in the column of a field.

    field    the name of the column
    zones    the number of the zone of each
    changes  when the clock of a zone changes: the second since 1970, above it the zone; ascending, each from 0
    offsets  the seconds that it is ahead of UTC from then on
    """

    field: str
    zones: NDArray[np.uint16]
    changes: NDArray[np.int64]
    offsets: NDArray[np.int32]
    week: Week
    exceptions: Exceptions

    def open_at(self, minute: int) -> NDArray[np.intp]:
        """Return the codes of the hours that are open at a minute, counted from 1970 in UTC, ascending."""
        spend(len(self.zones) + (len(self.week.hours) + len(self.exceptions.hours)) // _JUDGED)
        flags = np.zeros((3, len(self.zones)), np.bool_)
        if len(self.zones):
            clocks = self._clocks(minute)
            self._mark_exceptions(minute // DAY, clocks, flags)
            clocks += _FIRST_WEEKDAY
            earliest, latest = int(clocks.min()) - DAY, int(clocks.max())
            for week in range(earliest // WEEK * WEEK, latest + 1, WEEK):
                bounds = self.week.starts.searchsorted([max(earliest - week, 0), min(latest - week + 1, WEEK)])
                self._mark_week(slice(*bounds.tolist()), clocks - week, flags)
        codes: NDArray[np.intp] = flags[0].nonzero()[0]
        return codes

    def _clocks(self, minute: int) -> NDArray[np.int64]:
        """Return what the clock of each zone shows, in minutes since 1970 began there."""
        second = minute * _MINUTE
        zones = np.arange(int(self.changes[-1] >> TIME_BITS) + 1)
        last = self.changes.searchsorted(zones << TIME_BITS | second, "right") - 1
        clocks: NDArray[np.int64] = (second + self.offsets.take(last).astype(np.int64)) // _MINUTE
        return clocks

    def _mark_exceptions(self, day: int, clocks: NDArray[np.int64], flags: _Flags) -> None:
        """Mark the hours that are open by an exception, those that have one on their date, or had the day before.

        `day` is the date in UTC, from which that of a zone differs by a day.
        """
        is_open, every = flags[0], self.exceptions
        near = ((every.first <= day + 1) & (every.last >= day - 2)).nonzero()[0]
        hours, first, last = every.hours.take(near), every.first.take(near), every.last.take(near)
        shown = clocks.take(self.zones.take(hours))
        for days_ago, replaced in enumerate(flags[1:]):
            date = shown // DAY - days_ago
            covered = (first <= date) & (date <= last)
            replaced[hours[covered]] = True
            since = shown - date * DAY - every.starts.take(near)
            is_open[hours[covered & (since >= 0) & (since < every.lengths.take(near))]] = True

    def _mark_week(self, some: slice, clocks: NDArray[np.int64], flags: _Flags) -> None:
        """Mark the hours that are open by some intervals of a week; `clocks` are minutes since it began."""
        is_open, replaced, replaced_before = flags
        hours, starts, lengths = self.week.hours[some], self.week.starts[some], self.week.lengths[some]
        since = clocks.astype(np.int16).take(self.zones).take(hours) - starts.view(np.int16)
        running = ((since >= 0) & (since < lengths.view(np.int16))).nonzero()[0]
        hours, zones = hours.take(running), self.zones.take(hours.take(running))
        began_before = since.take(running) > (clocks % DAY).take(zones)
        is_open[hours[~(replaced.take(hours) | (began_before & replaced_before.take(hours)))]] = True
