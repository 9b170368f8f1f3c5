"""Dates in declared formats become date-times of RFC 3339, or are invalid."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from service.reading.batch import Invalid
from service.reading.columns.dates import instant_converter
from service.reading.diagnostics import Issue

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = datetime(1900, 1, 1)  # noqa: DTZ001 - a local time


def convert(text: str, *formats: str, zone: ZoneInfo | None = None) -> object:
    converter = instant_converter(formats, zone)
    assert converter is not None
    return converter(text)


# A format, a text in it, the date-time.
READ = [
    ("dd.mm.yyyy", "31.05.2024", "2024-05-31T00:00:00"),
    ("DD.MM.YYYY HH:MM:SS", "31.05.2024 23:59:58", "2024-05-31T23:59:58"),
    ("mm/dd/yyyy", "05/31/2024", "2024-05-31T00:00:00"),
    ("m/d/yyyy h:mm am/pm", "5/3/2024 12:07 AM", "2024-05-03T00:07:00"),
    ("m/d/yyyy h:mm am/pm", "5/3/2024 12:07 pm", "2024-05-03T12:07:00"),
    ("m/d/yyyy h:mm am/pm", "05/03/2024 11:07 PM", "2024-05-03T23:07:00"),
    ("yyyymmdd", "20240531", "2024-05-31T00:00:00"),
    ("hh:mm dd-mm-yyyy", "07:08 09-10-2011", "2011-10-09T07:08:00"),
    ("d.m.yy", "1.2.68", "2068-02-01T00:00:00"),
    ("d.m.yy", "1.2.69", "1969-02-01T00:00:00"),
    ("yyyy.mm.dd.", "2024.05.31.", "2024-05-31T00:00:00"),
]
# A format -> texts in others.
INVALID = {
    "dd.mm.yyyy": [
        *("31.5.2024", "30.02.2024", "05/31/2024", "31.05.2024 ", "31x05x2024", "٣١.05.2024"),
        *("01.01.0000", "2024-05-31"),
    ],
    "dd.mm.yyyy hh:mm": ["31.05.2024 24:00"],
    "d.m.yyyy h:mm am/pm": ["1.1.2024 13:00 pm", "1.1.2024 0:00 am"],
}


@pytest.mark.parametrize(("declared", "text", "expected"), READ)
def test_a_date_is_read_in_its_format(declared: str, text: str, expected: str) -> None:
    assert convert(text, declared) == expected


@pytest.mark.parametrize(("declared", "text"), [(each, text) for each, texts in INVALID.items() for text in texts])
def test_a_text_in_another_format_is_invalid(declared: str, text: str) -> None:
    issue = Issue("date", f"expected a date as {declared}, as the mapping declares")
    assert convert(text, declared) == Invalid(text, issue)


def test_days_are_cached_within_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.reading.columns.dates.MAX_CACHED", 2)
    converter = instant_converter(["dd.mm.yyyy"], BERLIN)
    assert converter is not None
    days = [converter(f"{day:02}.03.2024") for day in (1, 2, 3, 1)]
    assert days == [f"2024-03-0{day}T00:00:00+01:00" for day in (1, 2, 3, 1)]


def test_the_first_format_that_fits_is_taken_and_all_are_named() -> None:
    assert convert("01/02/2024", "dd/mm/yyyy", "mm/dd/yyyy") == "2024-02-01T00:00:00"
    assert convert("01/31/2024", "dd/mm/yyyy", "mm/dd/yyyy") == "2024-01-31T00:00:00"
    found = convert("x", "dd/mm/yyyy", "rfc3339")
    assert isinstance(found, Invalid)
    assert found.issue.why == "expected a date as dd/mm/yyyy or rfc3339, as the mapping declares"


def test_dates_of_the_data_format_are_accepted_if_they_are_declared() -> None:
    assert convert("2024-05-31T10:00Z", "dd.mm.yyyy", "rfc3339") == "2024-05-31T10:00Z"
    assert convert("2024-05-31T10:00", "dd.mm.yyyy", "rfc3339", zone=BERLIN) == "2024-05-31T10:00:00+02:00"
    assert instant_converter(["rfc3339"], None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-31 10:00", "2024-01-31T10:00:00+01:00"),
        ("2024-05-31T10:00:00.5", "2024-05-31T10:00:00.500000+02:00"),
        ("2024-05-31", "2024-05-31T00:00:00+02:00"),
        ("2024-05-31T10:00Z", "2024-05-31T10:00Z"),
        ("2024-05-31T10:00:00-05:00", "2024-05-31T10:00:00-05:00"),
        ("2024-05-99T10:00", "2024-05-99T10:00"),
        ("yesterday", "yesterday"),
        ("1850-01-01T00:00", "1849-12-31T23:06:32+00:00"),
        ("0001-01-01T00:00", "0001-01-01T00:00:00+00:53:28"),
    ],
)
def test_a_date_time_without_an_offset_is_in_the_declared_zone(text: str, expected: str) -> None:
    assert convert(text, zone=BERLIN) == expected


def test_a_time_that_clocks_show_twice_is_the_first_and_one_that_they_skip_has_the_offset_before() -> None:
    assert convert("27.10.2024 02:30", "dd.mm.yyyy hh:mm", zone=BERLIN) == "2024-10-27T02:30:00+02:00"
    assert convert("27.10.2024 12:00", "dd.mm.yyyy hh:mm", zone=BERLIN) == "2024-10-27T12:00:00+01:00"
    assert convert("31.03.2024 02:30", "dd.mm.yyyy hh:mm", zone=BERLIN) == "2024-03-31T02:30:00+01:00"
    assert convert("31.03.2024 12:00", "dd.mm.yyyy hh:mm", zone=BERLIN) == "2024-03-31T12:00:00+02:00"


@given(st.dates())
def test_every_date_is_read_back(day: date) -> None:
    assert convert(f"{day.day}/{day.month}/{day.year:04}", "d/m/yyyy") == f"{day.isoformat()}T00:00:00"


@given(st.datetimes(min_value=FIRST), st.sampled_from(["Europe/Berlin", "America/St_Johns", "America/Sao_Paulo"]))
def test_every_local_time_is_that_of_its_zone(moment: datetime, name: str) -> None:
    text = convert(moment.strftime("%d.%m.%Y %H:%M:%S"), "dd.mm.yyyy hh:mm:ss", zone=ZoneInfo(name))
    assert isinstance(text, str)
    local = moment.replace(microsecond=0, tzinfo=ZoneInfo(name))
    assert datetime.fromisoformat(text).astimezone(UTC) == local.astimezone(UTC)
