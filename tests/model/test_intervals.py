"""Intervals: their syntax, and that they equal those of datetimes and decimals."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from service.model.intervals import Form, Interval, form_of, interval_parser, replaced_by
from service.model.kinds import DATE, NUMBER
from service.model.records import STORES, Field
from tests.engine import oracle
from tests.engine.oracle import Form as OracleForm
from tests.engine.random_records import INTERVALS, VALUES

FIELDS: dict[OracleForm, Field] = {
    oracle.instant: STORES.field("updated_at"),
    oracle.number: Field("attributes.area", NUMBER, "", filters=True, attribute="number"),
    str.strip: Field("attributes.opened", DATE, "", filters=True, attribute="date"),
}
DATES = ["2019-02-01", "2020-12-31", "0001-01-01", "2021-05-06", "2020-02-30", "2019-W05-5", "20190201", "9999-12-31"]
TIMES = [*VALUES[oracle.instant], "2024-01-01T02:00 02:00", "2024-01-01 02:00 02:00", "2024-01-01T00:00:00.1234567"]
ODD = ["", "..", " ", ".", "x", "2024-01-01Z", "2024-01-01T24:00", "2024-01-01T00:00 -02:00", "2024-01-01  00:00"]
ENDS = {oracle.instant: [*TIMES, *DATES], oracle.number: VALUES[oracle.number], str.strip: [*DATES, "2024-01-01T00:00"]}


def form(field: Field) -> Form:
    """Return the form of the intervals of a field that has one."""
    found = form_of(field)
    assert found is not None
    return found


def parse(kind: OracleForm, value: str) -> str | Interval:
    return interval_parser(FIELDS[kind], form(FIELDS[kind]))(value)


def samples(kind: OracleForm) -> Sequence[str]:
    """Return values of records, each beside the ends of intervals."""
    if kind is oracle.number:
        return [text for text in VALUES[kind] if not oracle.number(text)[0]]
    if kind is oracle.instant:
        return [*VALUES[kind], *(f"2024-01-01T{time}" for time in ("23:59:59.999999", "00:00:00.123456", "02:00Z"))]
    return ["2019-02-01", "2020-12-31", "2020-02-29", "9999-12-31"]


def intervals(kind: OracleForm) -> st.SearchStrategy[tuple[OracleForm, str]]:
    ends = st.sampled_from([*ENDS[kind], *ENDS[kind], *ODD]).flatmap(
        lambda text: st.sampled_from([text, f" {text}", f"{text}\u3000"])
    )
    return st.lists(ends, min_size=1, max_size=3).map(lambda parts: (kind, "/".join(parts)))


@given(st.one_of(list(map(intervals, FIELDS))))
def test_an_interval_has_the_values_of_one_of_datetimes_decimals_or_dates(case: tuple[OracleForm, str]) -> None:
    kind, text = case
    if not oracle.takes_interval(kind, "attributes.x", text):
        assert parse(kind, text) == FIELDS[kind].kind.normalize(text)
        return
    try:
        ends, why = oracle.interval(kind, text), ""
    except ValueError as error:
        ends, why = None, str(error)
    if ends is None:
        with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
            parse(kind, text)
        return
    interval = parse(kind, text)
    assert isinstance(interval, Interval)
    for value in samples(kind):
        key = FIELDS[kind].kind.normalize(value)
        assert (interval.low <= key <= interval.high) == oracle.is_within(ends, kind(value)), value


@pytest.mark.parametrize("kind", list(FIELDS), ids=["instant", "number", "date"])
def test_two_spellings_of_an_interval_are_one(kind: OracleForm) -> None:
    by_ends: dict[object, set[object]] = {}
    for text in INTERVALS[kind]:
        by_ends.setdefault(oracle.interval(kind, text), set()).add(parse(kind, text))
    assert len(by_ends) < len(INTERVALS[kind])
    assert all(len(parsed) == 1 for parsed in by_ends.values())


def test_coordinates_and_other_kinds_take_no_intervals() -> None:
    assert [field.name for field in STORES.filters if form_of(field)] == ["created_at", "updated_at"]


PARAMETERS = ("created_at", "updated_at", "attributes.area")


REPLACED = {
    "updated_at": "updated_since modified_after updated_at__gte updatedSince since updated_at[gt] min_updated_at "
    "lastModified changed:from updatedAt",
    "created_at": "created_at_from created[gte] created-before from_created_at",
    "attributes.area": "min_area area_max attributes.area__lte attributes.area[from]",
    "": "page from min_size opened_after _[ city__gte",
}
NAMES = [(name, parameter) for parameter, names in REPLACED.items() for name in names.split()]


@pytest.mark.parametrize(("name", "parameter"), [*NAMES, ("", ""), ("x" * 10_000, "")])
def test_a_name_of_another_interface_names_the_parameter_that_replaces_it(name: str, parameter: str) -> None:
    assert replaced_by(name, PARAMETERS) == parameter
