"""Dates: which texts are valid, how they are formatted, and how they sort."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from service.model.kinds import format_instant, instant_key, parse_instant

MOMENTS = st.datetimes(
    min_value=datetime(1, 1, 2),  # noqa: DTZ001 - hypothesis puts the offset on
    max_value=datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("2024-01-02T03:04", "2024-01-02T03:04:00Z"),
        ("2024-01-02 03:04:05", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04Z", "2024-01-02T03:04:00Z"),
        ("2024-01-02 03:04-05:30", "2024-01-02T03:04:00-05:30"),
        ("2024-01-02T03:04:05+02:00", "2024-01-02T03:04:05+02:00"),
        ("2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05-00:00", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05-00:30", "2024-01-02T03:04:05-00:30"),
        ("2024-01-02T03:04:05+23:59", "2024-01-02T03:04:05+23:59"),
        ("2024-01-02T03:04:05-23:59", "2024-01-02T03:04:05-23:59"),
        ("2024-01-02T03:04:05.5", "2024-01-02T03:04:05.500000Z"),
        ("2024-01-02T03:04:05.000001Z", "2024-01-02T03:04:05.000001Z"),
        ("2024-01-02T03:04:05.1234569+01:00", "2024-01-02T03:04:05.123456+01:00"),
        ("2024-01-02T03:04:05.9999999", "2024-01-02T03:04:05.999999Z"),
        ("2024-01-02T03:04:05.000000", "2024-01-02T03:04:05Z"),
        ("2024-01-02T03:04:05.0000009", "2024-01-02T03:04:05Z"),
        ("2024-01-02T23:59:59", "2024-01-02T23:59:59Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00-01:00", "0001-01-01T00:00:00-01:00"),
        ("9999-12-31T23:59:59.999999", "9999-12-31T23:59:59.999999Z"),
        ("9999-12-31T23:59:59+00:01", "9999-12-31T23:59:59+00:01"),
    ],
)
def test_a_date_is_parsed_and_formatted_as_rfc_3339(text: str, written: str) -> None:
    moment = parse_instant(text)
    assert moment is not None
    assert format_instant(moment) == written


@pytest.mark.parametrize(
    "text",
    [
        *("", "2024", "2024-01", "20240102", "2024-1-2", "2024-W01-1", "2024-001", "24-01-02", "02024-01-02"),
        *("+2024-01-02", "2024/01/02", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32"),
        *("0000-01-01", "1704153600", "2024-01-02Z", "2024-01-02+02:00", "2024-01-02T", "2024-01-02T03"),
        *("2024-01-02T03Z", "2024-01-02T0304", "2024-01-02T3:04", "2024-01-02T03:04:5", "2024-01-02T03:04:05."),
        *("2024-01-02T03:04.5", "2024-01-02T03:04:05,5", "2024-01-02T24:00", "2024-01-02T24:00:00Z"),
        *("2024-01-02T03:60", "2024-01-02T03:04:60Z", "2024-01-02t03:04:05Z", "2024-01-02T03:04:05z"),
        *("2024-01-02_03:04:05", "2024-01-02  03:04:05", "2024-01-02T03:04:05 Z", "2024-01-02T03:04:05 +02:00"),
        *("2024-01-02T03:04:05+0200", "2024-01-02T03:04:05+02", "2024-01-02T03:04:05+2:00"),
        *("2024-01-02T03:04:05+24:00", "2024-01-02T03:04:05+02:60", "2024-01-02T03:04:05\u221202:00"),
        *("2024-01-02T03:04:05+02:00:00", "2024-01-02T03:04:05UTC", "2024-01-02T03:04:05Z[UTC]"),
        *("0001-01-01T00:00+00:01", "0001-01-01T22:59:59.999999+23:00", "9999-12-31T23:59:59-00:01"),
        *("9999-12-31T01:00-23:00", "\uff12024-01-02", "2024-01-02T03:04:0\uff15", " 2024-01-02", "2024-01-02 "),
        *("2024-01-02\n", "2024-01-02T03:04:05Z\n"),
    ],
)
def test_other_texts_are_not_dates(text: str) -> None:
    assert parse_instant(text) is None


@given(MOMENTS)
def test_a_formatted_date_parses_to_the_same_instant_and_offset(moment: datetime) -> None:
    read = parse_instant(format_instant(moment))
    assert read is not None
    assert (read, read.utcoffset()) == (moment, moment.utcoffset())


@given(MOMENTS, MOMENTS, st.timedeltas(timedelta(microseconds=-1), timedelta(microseconds=1)))
def test_dates_match_and_sort_as_instants(one: datetime, other: datetime, step: timedelta) -> None:
    for left, right in ((one, other), (one, (one + step).astimezone(other.tzinfo)), (one, one.astimezone(UTC))):
        ranks = instant_key(format_instant(left)), instant_key(format_instant(right))
        assert (ranks[0] == ranks[1]) == (left == right)
        assert (ranks[0] < ranks[1]) == (left < right)


@pytest.mark.parametrize("text", ["yesterday", "2024-02-30", "24:00"])
def test_an_invalid_instant_has_no_key(text: str) -> None:
    with pytest.raises(ValueError, match=text):
        instant_key(text)


@pytest.fixture(params=["Asia/Tokyo", "America/Los_Angeles"])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the clock on the wall be that of another place."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
def test_keys_of_instants_do_not_depend_on_the_local_time_zone() -> None:
    assert instant_key("2024-01-02T03:04:05+02:00") == "2024-01-02T01:04:05"
    assert instant_key("2024-01-02") == "2024-01-02T00:00:00"
    for first_and_last in ("0001-01-01", "9999-12-31T23:59:59.999999Z"):
        assert parse_instant(first_and_last) is not None
    for outside in ("0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"):
        assert parse_instant(outside) is None
