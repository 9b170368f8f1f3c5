"""Opening hours in JSON: UCP, Google's Business Profile, schema.org."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis.strategies import lists

from service.model.hours import DAYS
from service.reading.batch import WrongType
from tests.reading.hours.test_rules import intervals, time
from tests.reading.hours.weeks import DAY, TODAY, begun, brief, minutes_of, read, reason, value

UCP_WEEK = [{"day": "monday", "opens": "09:00", "closes": "18:00"}]
EVE = {"valid_from": "2026-12-24", "valid_through": "2026-12-24", "opens": "09:00", "closes": "12:00"}
CLOSED = {"valid_from": "2026-12-25", "valid_through": "2026-12-26", "title": "Christmas"}
NINE = {"hours": 9}
GOOGLE = {"openDay": "MONDAY", "closeDay": "MONDAY", "openTime": NINE, "closeTime": {"hours": 18, "minutes": 30}}
SPECIAL = {"startDate": {"year": 2026, "month": 12, "day": 24}, "openTime": "09:00", "closeTime": "12:00"}
SCHEMA = {"@type": "OpeningHoursSpecification", "dayOfWeek": "https://schema.org/Monday"}
SCHEMA |= {"opens": "09:00", "closes": "18:00"}
NIGHT = {"endDate": {"year": 2026, "month": 12, "day": 25}, "closeTime": "02:00"}
RANGE = {"validFrom": "2026-12-24", "validThrough": "2026-12-26", "opens": "00:00", "closes": "00:00"}
WEEK, NOVEMBER = "mo 09:00-18:00", {"month": 11, "day": 25}
ON_EVE, IN_RANGE = f"{WEEK} | 2026-12-24 09:00-12:00", f"{WEEK} | 2026-12-24..2026-12-26 closed"


def text(document: Any) -> str:
    return orjson.dumps(document).decode()


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"hours": UCP_WEEK, "exception_hours": [EVE, CLOSED]}, f"{ON_EVE} | 2026-12-25..2026-12-26 closed"),
        (UCP_WEEK, WEEK),
        ({"hours": []}, ""),
        ({"hours": [{"day": "monday", "opens": "20:00", "closes": "02:00"}]}, "mo 20:00-02:00"),
        ({"hours": [{"day": "monday", "opens": "00:00", "closes": "23:59"}]}, "mo 00:00-23:59"),
        ({"regularHours": {"periods": [GOOGLE]}}, "mo 09:00-18:30"),
        ({"periods": [GOOGLE]}, "mo 09:00-18:30"),
        ({"periods": [GOOGLE | {"closeDay": "TUESDAY", "closeTime": {"hours": 2}}]}, "mo 09:00-02:00"),
        ({"periods": [GOOGLE | {"openDay": "SUNDAY", "closeDay": "MONDAY", "closeTime": "02:00"}]}, "su 09:00-02:00"),
        ({"periods": [GOOGLE | {"openTime": {}, "closeTime": {"hours": 24}}]}, "mo 00:00-23:59"),
        ({"periods": [GOOGLE | {"openTime": {}, "closeTime": {}, "closeDay": "TUESDAY"}]}, "mo 00:00-23:59"),
        (
            {"regularHours": {"periods": [GOOGLE]}, "specialHours": {"specialHourPeriods": [SPECIAL]}},
            "mo 09:00-18:30 | 2026-12-24 09:00-12:00",
        ),
        ({"openingHoursSpecification": SCHEMA}, WEEK),
        ([SCHEMA], WEEK),
        ([SCHEMA | {"dayOfWeek": ["Monday", "http://schema.org/Tuesday"]}], f"{WEEK} tu 09:00-18:00"),
        ([SCHEMA, {"dayOfWeek": "Sunday", "opens": "00:00", "closes": "00:00"}], WEEK),
        ([SCHEMA, {"dayOfWeek": "Sunday"}], WEEK),
        ([SCHEMA | {"opens": "00:00:00", "closes": "23:59:59"}], "mo 00:00-23:59"),
        ([SCHEMA | {"opens": "20:00", "closes": "02:00"}], "mo 20:00-02:00"),
        ([SCHEMA, RANGE], IN_RANGE),
        ({"openingHoursSpecification": [SCHEMA], "specialOpeningHoursSpecification": RANGE}, IN_RANGE),
    ],
)
def test_a_document_of_a_known_kind_is_read(document: Any, expected: str) -> None:
    assert brief(value(text(document))) == expected
    assert read(WrongType(text(document))) == read(text(document))


@pytest.mark.parametrize(
    "document",
    [{}, [], {"periods": []}, {"regularHours": {}}, {"regularHours": None}, {"openingHoursSpecification": []}],
)
def test_an_empty_list_is_unknown_but_of_ucp(document: Any) -> None:
    assert read(text(document)) is None


@pytest.mark.parametrize(
    ("exceptions", "expected"),
    [
        ([EVE], ON_EVE),
        ([], WEEK),
        ({"specialHourPeriods": [SPECIAL | {"closed": True}]}, f"{WEEK} | 2026-12-24 closed"),
        ({"specialHourPeriods": [SPECIAL | NIGHT]}, f"{WEEK} | 2026-12-24 09:00-02:00"),
        ({"specialHourPeriods": [{"startDate": NOVEMBER, "closed": True}]}, f"{WEEK} | 2027-11-25 closed"),
        ([RANGE], IN_RANGE),
        (None, WEEK),
    ],
)
@pytest.mark.parametrize("source", [text(UCP_WEEK), "Mo 9-18", ("9-18", "-", "", "", "", "", "")])
def test_exceptions_have_a_column_of_their_own(source: Any, exceptions: Any, expected: str) -> None:
    assert brief(value(source, None if exceptions is None else text(exceptions))) == expected


def test_a_zone_in_json_has_precedence_and_titles_stay() -> None:
    served = value(text({"hours": [], "timezone": "America/Toronto", "exception_hours": [CLOSED]}))
    assert served == {"timezone": "America/Toronto", "hours": [], "exception_hours": [CLOSED]}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"hours": [{"day": "monday", "opens": "09:00", "closes": "09:00"}]}, "equal times"),
        ({"hours": [{"day": "Mon", "opens": "09:00", "closes": "18:00"}]}, "'Mon' is no day"),
        ({"hours": [{"day": "monday"}]}, "a day without times"),
        ({"hours": UCP_WEEK, "exception_hours": [EVE | {"closes": "09:00"}]}, "equal times"),
        ({"hours": UCP_WEEK, "exception_hours": [{**CLOSED, "opens": "09:00"}]}, "'' is no time"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED | {"valid_from": "2026-12-27"}]}, "a date that does not exist"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED | {"valid_through": "2026-12-32"}]}, "a date that does not"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED | {"valid_through": "0000-12-31"}]}, "'0000-12-31' is no date"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED, CLOSED | {"opens": "09:00", "closes": "10:00"}]}, "a date on"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED | {"opens": "09:00", "closes": "10:00"}, CLOSED]}, "a date on"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED, CLOSED | {"valid_through": "2026-12-25"}]}, "exceptions that"),
        ({"hours": UCP_WEEK, "exception_hours": [CLOSED | {"title": "a\u0000"}]}, "a title with characters"),
        ({"hours": UCP_WEEK, "timezone": 1}, "a time zone that is no text"),
        ({"hours": UCP_WEEK, "timezone": "Mars/Base"}, "no time zone 'Mars/Base'"),
        ({"periods": [GOOGLE | {"closeDay": "WEDNESDAY"}]}, "a period that does not end on its day or the next"),
        ({"periods": [GOOGLE | {"closeTime": {"hours": 2}}]}, "a period that does not end on its day or the next"),
        ({"periods": [GOOGLE | {"closeDay": "TUESDAY"}]}, "more than 24 hours"),
        ({"periods": [GOOGLE | {"openDay": "MO"}]}, "'MO' is no day"),
        ({"periods": [GOOGLE | {"openTime": {"hours": 25}}]}, "Expected `int` <= 24"),
        ([SCHEMA | {"validFrom": "2026-01-01", "validThrough": "2026-02-01"}], "weekdays within dates, or neither"),
        ([{"dayOfWeek": [], "opens": "09:00", "closes": "18:00"}], "weekdays within dates, or neither"),
        ([SCHEMA | {"opens": "09:00:30"}], "'09:00:30' is no time"),
        ([SCHEMA | {"closes": None}], "'' is no time"),
        ([SCHEMA | {"closes": "09:00"}], "24 hours that do not begin at 00:00"),
        ([SCHEMA | {"dayOfWeek": "PublicHolidays"}], "'PublicHolidays' is no day"),
        ({"open": True}, "neither hours of UCP, nor of Google, nor of schema.org"),
        (["Mo-Fr 09:00-18:00"], "neither hours of UCP, nor of Google, nor of schema.org"),
    ],
)
def test_a_document_that_says_nothing_exactly_is_refused_with_the_reason(document: Any, expected: str) -> None:
    assert reason(text(document)).startswith(expected)


def test_what_is_no_json_is_refused() -> None:
    assert reason("{").startswith("no JSON: ")
    assert reason("[" * 9_000).startswith("no JSON: ")
    assert reason("Mo 9-18", "Dec 24 off").startswith("no JSON: ")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("9:00-18:00", "closed", "x", "geschlossen", "fermé", "chiuso", "cerrado"), "mo 09:00-18:00"),
        (("gesloten", "-", "–", "—", None, "off", "9 AM - 5 PM"), "su 09:00-17:00"),  # noqa: RUF001 - dashes
        (("09.00–12.30 / 14.00–18.30", *[""] * 6), "mo 09:00-12:30 mo 14:00-18:30"),  # noqa: RUF001 - dashes
        (("9-12; 14-18", *[""] * 6), "mo 09:00-12:00 mo 14:00-18:00"),
        (("9-12\n14-18", "22:00-02:00", *[""] * 5), "mo 09:00-12:00 mo 14:00-18:00 tu 22:00-02:00"),
        (("-",) * 7, ""),
    ],
)
def test_days_in_columns_are_read(cells: tuple[str | None, ...], expected: str) -> None:
    assert brief(value(cells)) == expected


def test_days_without_any_value_are_unknown_and_so_is_a_week_with_an_unknown_day() -> None:
    assert read(("", None, " ", "", "", "", "")) is None
    assert read(("9-18", "by appointment", "", "", "", "", "")) is None
    assert read(("9-12; unknown", "", "", "", "", "", "")) is None


def test_the_column_of_a_day_has_neither_days_nor_dates() -> None:
    assert reason(("Mo 9-18", *[""] * 6)) == "days in the column of a day"
    assert reason(("9-18, Tu 9-18", *[""] * 6)) == "days in the column of a day"
    assert reason(("9-5", *[""] * 6)) == "bare hours that end before they begin"


def schema_week(week: list[list[tuple[int, int]]]) -> Any:
    return [
        {"dayOfWeek": day.title(), "opens": time(opens), "closes": time(closes % DAY)}
        for day, times in zip(DAYS, week, strict=True)
        for opens, closes in times
    ]


def google_week(week: list[list[tuple[int, int]]]) -> Any:
    return {
        "periods": [
            {"openDay": day.upper(), "closeDay": DAYS[(DAYS.index(day) + closes // DAY) % 7].upper()}
            | {"openTime": time(opens), "closeTime": time(closes % DAY)}
            for day, times in zip(DAYS, week, strict=True)
            for opens, closes in times
        ]
    }


def columns(week: list[list[tuple[int, int]]]) -> tuple[str, ...]:
    return tuple(" / ".join(f"{time(opens)}-{time(closes % DAY)}" for opens, closes in times) or "-" for times in week)


@given(lists(intervals(), min_size=7, max_size=7).filter(any))
def test_a_random_week_is_the_same_in_every_notation(week: list[list[tuple[int, int]]]) -> None:
    rules = zip(("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"), columns(week), strict=True)
    cell = read("; ".join(f"{day} {times}".replace(" -", " off").replace(" / ", ",") for day, times in rules))
    if isinstance(cell, str):
        served, days = orjson.loads(cell), [TODAY + timedelta(each) for each in range(8)]
        assert minutes_of(served, days) == begun(week, {}, days)
        notations = (text(schema_week(week)), text(google_week(week)), columns(week), text(served["hours"]), cell)
        assert {read(each) for each in notations} == {cell}
