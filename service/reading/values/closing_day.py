"""The day after which a closing date is past."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

from service.model.kinds import parse_instant
from service.reading.values.date_formats import RFC_3339, instant_converter

_YEAR_OR_MONTH: Final = re.compile(r"[0-9]{4}(?:-(?:0[1-9]|1[0-2]))?")  # ISO 8601


def utc_today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


class ClosingDay:
    """Parses closing dates in some formats: those of the data format, years and months too, if none are declared."""

    def __init__(self, formats: Sequence[str]) -> None:
        self._convert = instant_converter(formats, None)
        self._is_standard = not formats or RFC_3339 in formats

    def is_past(self, text: str, as_of: date) -> bool | None:
        """Return whether a date, as it is written, is before a day; None for a text that is no date.

        A year or a month is past when its last day is.
        """
        if self._is_standard and _YEAR_OR_MONTH.fullmatch(text):
            return text < as_of.isoformat()[: len(text)]
        converted = self._convert(text) if self._convert else text
        instant = parse_instant(converted) if isinstance(converted, str) else None
        return None if instant is None else instant.date() < as_of
