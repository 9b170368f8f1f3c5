"""Reads cells of opening hours, and of what belongs to them, as the JSON that is served."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

from service.model.hours import OpeningHours
from service.reading.batch import Cell, Invalid, written
from service.reading.columns.countries import time_zone_of, time_zones
from service.reading.columns.dates import MAX_CACHED, Cells
from service.reading.diagnostics import Issue
from service.reading.hours.documents import add_exceptions, read_document
from service.reading.hours.rules import read_rules, read_times
from service.reading.hours.schedule import HoursError, Schedule

MOST_BYTES: Final = 16_384  # of a source
_NO_ZONE: Final = Issue("timezone", "the time zone is not known: declare `timezone` of the attribute")
_NO_HOLIDAYS: Final = Issue("holidays", "rules for PH are left out: declare `holidays` of the attribute")
_MOST_CACHED: Final = MAX_CACHED // 2  # hours, and hours with a zone
# A cell, or one for each day of the week.
Source: TypeAlias = Cell | tuple[Cell, ...]


# The zone that hours have of their own; their JSON without a zone; whether rules for holidays were left out.
_Hours: TypeAlias = tuple[str | None, bytes, bool]


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
        own, without_zone, lacks_holidays = found
        name = own or zone
        if not name:
            return Invalid(text, _NO_ZONE, is_null=True)
        if name not in time_zones():
            return self._invalid(text, f"no time zone {name!r}")
        encoded = without_zone.replace(b'""', b'"%b"' % name.encode(), 1)
        if len(encoded) > MOST_BYTES:  # which an export could not be read from
            return self._invalid(text, f"longer than {MOST_BYTES:,} bytes as JSON")
        value = encoded.decode()
        return Invalid(text, _NO_HOLIDAYS, is_null=True, value=value) if lacks_holidays else value

    def _invalid(self, text: str, reason: str) -> Invalid:
        return Invalid(text, Issue("hours", f"opening hours that cannot be read: {reason}"), is_null=self._is_null)

    def _hours(self, source: Source, exceptions: Cell) -> _Hours | HoursError | None:
        try:
            zone, schedule = self._schedule(source)
            if schedule is None:
                return None
            if (text := _text(exceptions)) != "":
                add_exceptions(schedule, text, self._as_of)
            self.is_dated |= schedule.is_dated
            lacks_holidays = schedule.holidays is not None and self._holidays is None
            encoded = msgspec.json.encode(OpeningHours("", schedule.hours(), schedule.exception_hours()))
        except HoursError as error:
            return error
        return zone, encoded, lacks_holidays

    def _schedule(self, source: Source) -> tuple[str | None, Schedule | None]:
        """Return the zone and the hours of a source, None of each if it has none."""
        if isinstance(source, tuple):
            texts = list(map(_text, source))
            days = [self._times_cached(text) if text else [] for text in texts]
            known = [each for each in days if each is not None]
            return None, Schedule(known) if any(texts) and len(known) == len(days) else None
        text = _text(source)
        if text[:1] in ("{", "["):
            return read_document(text, self._as_of)
        schedule = read_rules(text, self._as_of) if text else None
        if schedule is not None:
            schedule.add_holidays(self._holidays or ())
            schedule.extend_nights()
        return None, schedule


@lru_cache(MAX_CACHED)
def _zone(zone: Cell, country: Cell) -> str | None:
    return written(zone).strip() or time_zone_of(written(country))


def _text(cell: Cell) -> str:
    """Return the text of a cell, without white space around it. Raises HoursError if it is too long."""
    text = written(cell).strip()
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise HoursError(f"longer than {MOST_BYTES:,} bytes")
    return text
