"""Dates in declared formats become date-times of RFC 3339, or are invalid; which formats dates may have."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from service.reading.batch import Invalid
from service.reading.columns.dates import format_without_days, instant_converter, possible_formats
from service.reading.columns.flags import past_tester
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
    ("d-mmm-yy", "31-Dec-23", "2023-12-31T00:00:00"),
    ("d. mmm yyyy", "1. März 2024", "2024-03-01T00:00:00"),
    ("d mmm yyyy", "3 août 2024", "2024-08-03T00:00:00"),
    ("d mmm yyyy", "3 ene. 2024", "2024-01-03T00:00:00"),
    ("mmm d, yyyy", "Sept 5, 2024", "2024-09-05T00:00:00"),
    ("yyyy-mm-ddThh:mm:sszz", "2024-05-31T10:00:00+0000", "2024-05-31T10:00:00+00:00"),
    ("yyyy-mm-ddThh:mm:sszz", "2024-05-31T10:00:00.123-08", "2024-05-31T10:00:00.123-08:00"),
    ("yyyy-mm-ddThh:mm:sszz", "2024-05-31T10:00:00,5Z", "2024-05-31T10:00:00.5Z"),
    ("yyyy-mm-dd hh:mm:ss zz", "2024-05-31 10:00:00 UTC", "2024-05-31T10:00:00Z"),
    ("ddd, d mmm yyyy hh:mm:ss zz", "Fri, 31 May 2024 10:00:00 +0130", "2024-05-31T10:00:00+01:30"),
    ("unix", "1717149600", "2024-05-31T10:00:00Z"),
    ("unix", "1717149600.0", "2024-05-31T10:00:00Z"),
    ("unix-ms", "1717149600999", "2024-05-31T10:00:00.999000Z"),
    ("d mmm yyyy", "1er janvier 2024", "2024-01-01T00:00:00"),
    ("mmm d, yyyy", "December 31st, 2023", "2023-12-31T00:00:00"),
    ("d mmm yyyy", "3 de mayo de 2024", "2024-05-03T00:00:00"),
    ("mm-yyyy", "05-2024", "2024-05-01T00:00:00"),
    ("mmm yyyy", "Mai 2024", "2024-05-01T00:00:00"),
    ("yyyy", "2024", "2024-01-01T00:00:00"),
]
# A format -> texts in others.
INVALID = {
    "dd.mm.yyyy": [
        *("31.5.2024", "30.02.2024", "05/31/2024", "31.05.2024 ", "31x05x2024", "٣١.05.2024"),
        *("01.01.0000", "2024-05-31"),
    ],
    "dd.mm.yyyy hh:mm": ["31.05.2024 24:00"],
    "d.m.yyyy h:mm am/pm": ["1.1.2024 13:00 pm", "1.1.2024 0:00 am"],
    "d mmm yyyy": ["1 Jui 2024", "1 Foo 2024"],
    "unix": ["x"],
    "mm-yyyy": ["13-2024", "00-2024", "5-24", "2024-05"],
}


@pytest.mark.parametrize(("declared", "text", "expected"), READ)
def test_a_date_is_read_in_its_format(declared: str, text: str, expected: str) -> None:
    assert convert(text, declared) == expected


@pytest.mark.parametrize(("declared", "text"), [(each, text) for each, texts in INVALID.items() for text in texts])
def test_a_text_in_another_format_is_invalid(declared: str, text: str) -> None:
    issue = Issue("date", f"expected a date as {declared}, as the mapping declares")
    assert convert(text, declared) == Invalid(text, issue)


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
    texts = ("27.10.2024 02:30", "27.10.2024 12:00", "31.03.2024 02:30", "31.03.2024 12:00")
    assert [str(convert(text, "dd.mm.yyyy hh:mm", zone=BERLIN))[11:] for text in texts] == [
        "02:30:00+02:00", "12:00:00+01:00", "02:30:00+01:00", "12:00:00+02:00"
    ]  # fmt: skip


@given(st.datetimes(min_value=FIRST), st.sampled_from(["Europe/Berlin", "America/St_Johns", "America/Sao_Paulo"]))
def test_every_local_time_is_that_of_its_zone(moment: datetime, name: str) -> None:
    text = convert(moment.strftime("%d.%m.%Y %H:%M:%S"), "dd.mm.yyyy hh:mm:ss", zone=ZoneInfo(name))
    assert isinstance(text, str)
    local = moment.replace(microsecond=0, tzinfo=ZoneInfo(name))
    assert datetime.fromisoformat(text).astimezone(UTC) == local.astimezone(UTC)


def test_a_month_is_past_after_its_last_day() -> None:
    past = past_tester(["mm-yyyy", "yyyy"], date(2024, 2, 29))
    assert [past(text) for text in ("01-2024", "02-2024", "2023", "2024", "soon")] == [True, False, True, False, None]


# Texts, and the only format that all of them may have; None if they have none.
FORMATS: list[tuple[list[str], str | None]] = [
    (["31-Dec-23", "1-Jan-24"], "d-mmm-yy"),
    (["2024-05-31T10:00:00+0000"], "yyyy-mm-ddthh:mm:sszz"),
    (["1717149600", "999999999.5"], "unix"),
    (["31 de mayo de 2024", "1º de junio de 2024"], "d mmm yyyy"),
    (["1717149600000"], "unix-ms"),
    (["31/Dec/2023"], "dd/mmm/yyyy"),
    (["2023-Dec-31"], "yyyy-mmm-dd"),
    (["Friday, May 31, 2024"], "ddd, mmm dd, yyyy"),
    (["Fri 31. Mai 2024"], "ddd dd. mmm yyyy"),
    (["December 1, 2023 10:00 AM"], "mmm d, yyyy hh:mm am/pm"),
    (["31-Dec-23 14:30"], "dd-mmm-yy hh:mm"),
    (["31/12/2023 14:30:00 +0100"], "dd/mm/yyyy hh:mm:ss zz"),
    (["Fri, 31 May 2024 10:00:00 GMT"], "ddd, dd mmm yyyy hh:mm:ss zz"),
    (["2024-05-31T10:00:00.123+0000"], "yyyy-mm-ddthh:mm:sszz"),
    (["1717149600", "1717149600000"], None),
    (["4165550100", "12345"], None),
    *(([text], None) for text in ("May 2024", "05-2024", "Elm Road 12", "Sep 12 10", "31 Foo 2024", "31/Dec/12345")),
    (["31.05/2024"], None),
]


@pytest.mark.parametrize(("texts", "declared"), FORMATS)
def test_dates_with_names_offsets_or_times_have_one_format(texts: list[str], declared: str | None) -> None:
    assert possible_formats(texts) == ([] if declared is None else [(declared,)])
    assert not any(isinstance(convert(text, declared), Invalid) for text in texts if declared)


@pytest.mark.parametrize(
    ("texts", "declared"),
    [
        (["05-2024", "12-2023"], "mm-yyyy"),
        (["5/2024", "12/2023"], "m/yyyy"),
        (["Mai 2024"], "mmm yyyy"),
        (["2024-05"], "yyyy-mm"),
        (["2024"], "yyyy"),
        (["05-2024", "13-2024"], None),
        ([], None),
    ],
)
def test_formats_of_months_and_years_are_found(texts: list[str], declared: str | None) -> None:
    assert format_without_days(texts) == declared
