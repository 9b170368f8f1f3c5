"""Reads cells of opening hours, and of what belongs to them, as the JSON that is served."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

from service.model.hours import MOST_EXCEPTIONS, OpeningHours
from service.reading.batch import Cell, Invalid, written
from service.reading.columns.countries import time_zone_of, time_zones
from service.reading.columns.dates import MAX_CACHED, Cells
from service.reading.diagnostics import Issue
from service.reading.hours.documents import add_exceptions, read_document
from service.reading.hours.rules import Rules, read_rules, read_times
from service.reading.hours.schedule import HoursError, Schedule

MOST_BYTES: Final = 16_384  # of a source
_NO_ZONE: Final = Issue("timezone", "the time zone is not known: declare `timezone` of the attribute")
_NO_HOLIDAYS: Final = Issue("holidays", "rules for PH are left out: declare `holidays` of the attribute")
_MOST_CACHED: Final = MAX_CACHED // 2  # hours, and hours with a zone
# A cell, or one for each day of the week.
Source: TypeAlias = Cell | tuple[Cell, ...]


class _Hours(msgspec.Struct, frozen=True):
    """The zone that hours have of their own; their JSON without a zone; whether rules for holidays were left out."""

    zone: str | None
    encoded: bytes
    lacks_holidays: bool


class HoursReader:
    """Reads hours; `is_dated` if some had dates without a year, which are the first that are not over `as_of` a day."""

    def __init__(self, *, holidays: Sequence[date] | None, as_of: date, is_null_if_invalid: bool) -> None:
        self._holidays, self._as_of, self._is_null = holidays, as_of, is_null_if_invalid
        self.is_dated = False
        self._read_cached = lru_cache(_MOST_CACHED)(self._read)
        self._hours_cached = lru_cache(_MOST_CACHED)(self._hours)  # for the same hours in other zones
        self._times_cached = lru_cache(_MOST_CACHED)(read_times)

    def column(self, sources: Sequence[Source], exceptions: Cells, zones: Cells, countries: Cells) -> Cells:
        """Return the JSON of each record, None if it has none, or `Invalid`; a zone has precedence over a country."""
        return list(map(self._read_cached, sources, exceptions, map(_zone, zones, countries)))

    def _read(self, source: Source, exceptions: Cell, zone: str | None) -> Cell:
        found = self._hours_cached(source, exceptions)
        if found is None:
            return None
        text = " / ".join(map(written, source if isinstance(source, tuple) else (source,)))
        if isinstance(found, HoursError):
            return self._invalid(text, str(found))
        name = found.zone or zone
        if not name:
            return Invalid(text, _NO_ZONE, is_null=True)
        if name not in time_zones():
            return self._invalid(text, f"no time zone {name!r}")
        encoded = found.encoded.replace(b'""', b'"%b"' % name.encode(), 1)
        if len(encoded) > MOST_BYTES:  # which an export could not be read from
            return self._invalid(text, f"longer than {MOST_BYTES:,} bytes as JSON")
        value = encoded.decode()
        return Invalid(text, _NO_HOLIDAYS, is_null=True, value=value) if found.lacks_holidays else value

    def _invalid(self, text: str, reason: str) -> Invalid:
        return Invalid(text, Issue("hours", f"opening hours that cannot be read: {reason}"), is_null=self._is_null)

    def _hours(self, source: Source, exceptions: Cell) -> _Hours | HoursError | None:
        try:
            zone, rules = self._rules(source)
            if rules is None:
                return None
            schedule = rules.schedule
            if (text := _text(exceptions)) != "":
                add_exceptions(schedule, text, self._as_of)
            self.is_dated |= schedule.is_dated
            lacks_holidays = rules.holidays is not None and self._holidays is None
            encoded = msgspec.json.encode(OpeningHours("", schedule.hours(), schedule.exception_hours()))
            return _Hours(zone, encoded, lacks_holidays)
        except HoursError as error:
            return error

    def _rules(self, source: Source) -> tuple[str | None, Rules | None]:
        """Return the zone and the hours of a source, None of each if it has none."""
        if isinstance(source, tuple):
            return None, self._week(tuple(map(_text, source)))
        text = _text(source)
        if text[:1] in ("{", "["):
            zone, schedule = read_document(text, self._as_of)
            return zone, None if schedule is None else Rules(schedule)
        return None, self._with_holidays(read_rules(text, self._as_of)) if text else None

    def _week(self, texts: Sequence[str]) -> Rules | None:
        days = [self._times_cached(text) if text else [] for text in texts]
        known = [each for each in days if each is not None]
        return Rules(Schedule(known)) if any(texts) and len(known) == len(days) else None

    def _with_holidays(self, rules: Rules | None) -> Rules | None:
        """Return the rules of a text with an exception on each holiday, if they have some and no rule has its date."""
        if rules is not None:
            exceptions = rules.schedule.exceptions
            if len(exceptions) > MOST_EXCEPTIONS:
                raise HoursError(f"more than {MOST_EXCEPTIONS} exceptions")
            own, days = list(exceptions), () if rules.holidays is None else self._holidays or ()
            for day in days:
                if not any(first <= day <= last for first, last in own):
                    week = rules.schedule.week[day.weekday()] if rules.adds_to_week else []
                    exceptions[day, day] = [*week, *(rules.holidays or ())]
            rules.schedule.extend_nights()
        return rules


@lru_cache(MAX_CACHED)
def _zone(zone: Cell, country: Cell) -> str | None:
    return written(zone).strip() or time_zone_of(written(country))


def _text(cell: Cell) -> str:
    """Return the text of a cell, without white space around it. Raises HoursError if it is too long."""
    text = written(cell).strip()
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise HoursError(f"longer than {MOST_BYTES:,} bytes")
    return text
