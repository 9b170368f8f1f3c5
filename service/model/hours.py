"""Opening hours as they are served: the week and exceptions of UCP's Location capability (2026-08-25), and a zone."""

from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

Day: TypeAlias = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
DAYS: Final[tuple[Day, ...]] = get_args(Day)
MOST_EXCEPTIONS: Final = 100

Time: TypeAlias = Annotated[
    str, Meta(pattern=r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]$", description="Local time.", examples=["09:00"])
]
_Date: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", extra_json_schema={"format": "date"})]


class DailyHour(msgspec.Struct, frozen=True):
    """An interval that begins on a day each week. It ends on the next date if `closes` is before `opens`."""

    day: Day
    opens: Time
    closes: Time


class ExceptionHour(msgspec.Struct, frozen=True):
    """An interval on each date of a range, instead of those of the week; closed without `opens` and `closes`."""

    valid_from: _Date
    valid_through: _Date
    opens: Time | UnsetType = UNSET
    closes: Time | UnsetType = UNSET
    title: str | UnsetType = UNSET


class OpeningHours(msgspec.Struct, frozen=True):
    """When a store is open, in its own time. A minute of `closes` is not open, but 23:59 of 00:00 to 23:59."""

    timezone: str
    hours: tuple[DailyHour, ...]
    exception_hours: Annotated[tuple[ExceptionHour, ...], Meta(max_length=MOST_EXCEPTIONS)]
