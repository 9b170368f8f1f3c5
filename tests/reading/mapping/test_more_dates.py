"""Dates with names of months, offsets without a colon, and the time since 1970."""

from datetime import date

import pytest

from service.reading.batch import Invalid
from service.reading.columns.dates import format_without_days, instant_converter, possible_formats
from service.reading.columns.flags import past_tester


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("d-mmm-yy", "31-Dec-23", "2023-12-31T00:00:00"),
        ("d. mmm yyyy", "1. März 2024", "2024-03-01T00:00:00"),
        ("d mmm yyyy", "3 août 2024", "2024-08-03T00:00:00"),
        ("d mmm yyyy", "3 ene. 2024", "2024-01-03T00:00:00"),
        ("mmm d, yyyy", "Sept 5, 2024", "2024-09-05T00:00:00"),
        ("yyyy-mm-ddThh:mm:sszz", "2024-05-31T10:00:00+0000", "2024-05-31T10:00:00+00:00"),
        ("yyyy-mm-ddThh:mm:sszz", "2024-05-31T10:00:00.123-08", "2024-05-31T10:00:00.123-08:00"),
        ("yyyy-mm-dd hh:mm:ss zz", "2024-05-31 10:00:00 UTC", "2024-05-31T10:00:00Z"),
        ("ddd, d mmm yyyy hh:mm:ss zz", "Fri, 31 May 2024 10:00:00 +0100", "2024-05-31T10:00:00+01:00"),
        ("unix", "1717149600", "2024-05-31T10:00:00Z"),
        ("unix", "1717149600.0", "2024-05-31T10:00:00Z"),
        ("unix-ms", "1717149600999", "2024-05-31T10:00:00.999000Z"),
        ("d mmm yyyy", "1er janvier 2024", "2024-01-01T00:00:00"),
        ("mmm d, yyyy", "December 31st, 2023", "2023-12-31T00:00:00"),
        ("d mmm yyyy", "3 de mayo de 2024", "2024-05-03T00:00:00"),
        ("mm-yyyy", "05-2024", "2024-05-01T00:00:00"),
        ("mmm yyyy", "Mai 2024", "2024-05-01T00:00:00"),
        ("yyyy", "2024", "2024-01-01T00:00:00"),
    ],
)
def test_a_date_is_read_in_its_format(declared: str, text: str, expected: str) -> None:
    convert = instant_converter([declared], None)
    assert convert is not None
    assert convert(text) == expected


@pytest.mark.parametrize(
    ("declared", "text"), [("d mmm yyyy", "1 Jui 2024"), ("d mmm yyyy", "1 Foo 2024"), ("unix", "x")]
)
def test_a_text_that_is_no_date_is_invalid(declared: str, text: str) -> None:
    convert = instant_converter([declared], None)
    assert convert is not None
    assert isinstance(convert(text), Invalid)


@pytest.mark.parametrize("text", ["13-2024", "00-2024", "5-24", "2024-05"])
def test_a_month_that_is_none_is_invalid(text: str) -> None:
    convert = instant_converter(["mm-yyyy"], None)
    assert convert is not None
    assert isinstance(convert(text), Invalid)


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


def test_a_month_is_past_after_its_last_day() -> None:
    past = past_tester(["mm-yyyy", "yyyy"], date(2024, 2, 29))
    assert [past(text) for text in ("01-2024", "02-2024", "2023", "2024", "soon")] == [True, False, True, False, None]


def test_formats_with_names_and_offsets_are_proposed() -> None:
    assert possible_formats(["31-Dec-23", "1-Jan-24"]) == [("d-mmm-yy",)]
    assert possible_formats(["2024-05-31T10:00:00+0000"]) == [("yyyy-mm-ddthh:mm:sszz",)]
    assert possible_formats(["1717149600", "999999999.5"]) == [("unix",)]
    assert possible_formats(["31 de mayo de 2024", "1º de junio de 2024"]) == [("d mmm yyyy",)]
    assert possible_formats(["1717149600000"]) == [("unix-ms",)]
    assert possible_formats(["1717149600", "1717149600000"]) == []
    assert possible_formats(["4165550100", "12345"]) == []


@pytest.mark.parametrize(
    ("text", "declared", "day"),
    [
        ("31/Dec/2023", "dd/mmm/yyyy", "2023-12-31"),
        ("2023-Dec-31", "yyyy-mmm-dd", "2023-12-31"),
        ("Friday, May 31, 2024", "ddd, mmm dd, yyyy", "2024-05-31"),
        ("Fri 31. Mai 2024", "ddd dd. mmm yyyy", "2024-05-31"),
        ("December 1, 2023 10:00 AM", "mmm d, yyyy hh:mm am/pm", "2023-12-01"),
        ("31-Dec-23 14:30", "dd-mmm-yy hh:mm", "2023-12-31"),
        ("31/12/2023 14:30:00 +0100", "dd/mm/yyyy hh:mm:ss zz", "2023-12-31"),
        ("Fri, 31 May 2024 10:00:00 GMT", "ddd, dd mmm yyyy hh:mm:ss zz", "2024-05-31"),
        ("2024-05-31T10:00:00.123+0000", "yyyy-mm-ddthh:mm:sszz", "2024-05-31"),
    ],
)
def test_a_date_with_names_offsets_or_times_has_one_format(text: str, declared: str, day: str) -> None:
    assert possible_formats([text]) == [(declared,)]
    convert = instant_converter([declared], None)
    assert convert is not None
    assert str(convert(text)).startswith(day)


@pytest.mark.parametrize("text", ["May 2024", "05-2024", "Elm Road 12", "Sep 12 10", "31 Foo 2024", "31/Dec/12345"])
def test_a_text_that_is_no_whole_date_has_no_format(text: str) -> None:
    assert possible_formats([text]) == []
