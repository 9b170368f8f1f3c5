"""Opening hours as arrays are open when an oracle says so that reads the clocks of their zones."""

from datetime import UTC, datetime
from functools import partial
from random import Random
from zoneinfo import ZoneInfo, available_timezones

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.engine.columns.row_budget import MOST_ROWS, OverBudget, within_budget
from service.engine.opening_hours import OpenTimes
from service.loading.opening_hours import clock_changes, open_times
from service.model.hours import OpeningHours
from tests.engine.hours_oracle import Hours, is_open, random_hours, random_instant
from tests.thoroughness import some_of


def times_of(distinct: list[Hours]) -> OpenTimes:
    return open_times("attributes.hours", [msgspec.convert(each, OpeningHours) for each in distinct])


def open_at(distinct: list[Hours], instant: datetime) -> list[int]:
    found: list[int] = times_of(distinct).open_at(int(instant.timestamp()) // 60).tolist()
    return found


def hours(*week: str, zone: str = "Europe/Berlin", exceptions: dict[str, str] | None = None) -> Hours:
    """Return hours of lines such as `friday 20:00 02:00`; an exception is a date, and `20:00 02:00` or nothing."""
    changed = [
        {"valid_from": date, "valid_through": date, **dict(zip(("opens", "closes"), times.split(), strict=False))}
        for date, times in (exceptions or {}).items()
    ]
    names = ("day", "opens", "closes")
    days = [dict(zip(names, each.split(), strict=True)) for each in week]
    return {"timezone": zone, "hours": days, "exception_hours": changed}


@pytest.mark.parametrize(
    ("value", "instant", "expected"),
    [
        pytest.param(hours("friday 09:00 18:00"), "2026-11-27T09:00+01:00", True, id="opening"),
        pytest.param(hours("friday 09:00 18:00"), "2026-11-27T08:59:59+01:00", False, id="before"),
        pytest.param(hours("friday 09:00 18:00"), "2026-11-27T18:00+01:00", False, id="the minute of closing"),
        pytest.param(hours("friday 20:00 02:00"), "2026-11-28T01:59+01:00", True, id="after midnight"),
        pytest.param(hours("sunday 20:00 02:00"), "2026-11-23T01:59+01:00", True, id="after the end of the week"),
        pytest.param(hours("friday 18:00 00:00"), "2026-11-27T23:59+01:00", True, id="until midnight"),
        pytest.param(hours("friday 18:00 00:00"), "2026-11-28T00:00+01:00", False, id="midnight"),
        pytest.param(hours("friday 00:00 23:59"), "2026-11-27T23:59+01:00", True, id="the last minute of a whole day"),
        pytest.param(hours("friday 09:00 23:59"), "2026-11-27T23:59+01:00", False, id="another that ends at 23:59"),
        pytest.param(
            hours("friday 20:00 02:00", exceptions={"2026-11-28": ""}),
            "2026-11-28T00:00+01:00",
            False,
            id="an exception ends the interval of the week from the day before at midnight",
        ),
        pytest.param(
            hours(exceptions={"2026-11-27": "20:00 02:00", "2026-11-28": ""}),
            "2026-11-28T01:00+01:00",
            True,
            id="but not that of an exception",
        ),
        pytest.param(
            hours("friday 20:00 02:00", exceptions={"2026-11-27": ""}),
            "2026-11-28T01:00+01:00",
            False,
            id="an exception has none of the week",
        ),
        pytest.param(hours("sunday 02:00 03:00"), "2026-03-29T03:00+02:00", False, id="a time that is skipped"),
        pytest.param(hours("sunday 02:00 03:00"), "2026-10-25T02:30+02:00", True, id="a time that is repeated, first"),
        pytest.param(hours("sunday 02:00 03:00"), "2026-10-25T02:30+01:00", True, id="a time that is repeated, again"),
        pytest.param(hours("friday 00:00 23:59", zone="Pacific/Apia"), "2011-12-30T09:59Z", False, id="Thursday"),
        pytest.param(hours("friday 00:00 23:59", zone="Pacific/Apia"), "2011-12-30T10:00Z", False, id="no Friday"),
    ],
)
def test_hours_are_open_at_an_instant(value: Hours, instant: str, *, expected: bool) -> None:
    assert open_at([value], datetime.fromisoformat(instant)) == [0] * expected
    assert is_open(value, datetime.fromisoformat(instant)) is expected


@given(st.integers(0, 2**32))
def test_any_hours_are_open_when_the_oracle_says_so(seed: int) -> None:
    random = Random(seed)
    instant = random_instant(random)
    distinct = [random_hours(random, instant) for _ in range(20)]
    assert open_at(distinct, instant) == [code for code, each in enumerate(distinct) if is_open(each, instant)]


def test_without_hours_none_are_open() -> None:
    assert open_at([], datetime(2026, 11, 27, tzinfo=UTC)) == []


def test_the_clocks_of_all_zones_are_as_the_zones_say() -> None:
    random = Random(1)
    for name in some_of(sorted(available_timezones()), 40):
        seconds, offsets = clock_changes(name)
        assert seconds[0] == 0
        assert seconds == sorted(set(seconds))
        tried = [*seconds, *(second - 1 for second in seconds[1:]), *(random.randrange(4133980800) for _ in range(200))]
        for second in tried:
            known = offsets[sum(each <= second for each in seconds) - 1]
            ahead = datetime.fromtimestamp(second, ZoneInfo(name)).utcoffset()
            assert ahead is not None
            assert ahead.total_seconds() == known, (name, second)


def test_more_than_a_hundred_thousand_distinct_hours_are_long_work() -> None:
    few, many = times_of([hours("friday 09:00 18:00")]), times_of([hours()] * (MOST_ROWS + 1))
    assert within_budget(partial(few.open_at, 0)).tolist() == []
    with pytest.raises(OverBudget):
        within_budget(partial(many.open_at, 0))
