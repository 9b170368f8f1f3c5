"""Queries as they are parsed; their errors are compared with those of `tests/fastapi_model`."""

import msgspec
import pytest

from service.model.errors import UnprocessableContent
from service.model.parameters import file_parameters_of, map_parameters_of, parameters_of
from service.model.query import ALL_ROWS, Criteria, Filter, Query, QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.model.words import Term
from tests.declared_attributes import STORES_WITH_HOURS
from tests.engine import oracle

Pairs = list[tuple[str, str]]


def parse(pairs: Pairs, resource: Resource | None = STORES, *, strict: bool = False) -> Query:
    return QueryParser(resource).parse(pairs, strict=strict)


@pytest.mark.parametrize("value", ["", "  ", "\x1f", "null"], ids=ascii)
def test_a_filter_with_no_value_left_does_not_filter(value: str) -> None:
    pairs = [(field.name, value) for field in STORES.filters] * 2
    assert parse(pairs) == parse([])
    assert parse([(field.name, value) for field in COMPANIES.filters], COMPANIES) == parse([], COMPANIES)


def test_fields_and_facets_are_not_part_of_a_query_without_them() -> None:
    bare = msgspec.json.encode(parse([]))
    assert bare == b'{"filters":[],"sort_by":"created_at","sort_order":"asc","limit":1000,"page_num":1}'
    assert msgspec.json.encode(parse([("fields", ""), ("facets", " ,")])) == bare
    assert parse([("fields", "city,name")]).fields == ("name", "city")
    assert parse([("facets", "city")]).facets == ("city",)


@pytest.mark.parametrize("text", ["{}!", "{}.{}!", ".{}!", "1e{}!"])
def test_a_radius_of_many_digits_is_rejected_in_time_that_grows_with_their_number(text: str) -> None:
    digits = "0" * 500_000  # in time that grows with the square of it, this would take half an hour
    with pytest.raises(UnprocessableContent) as raised:
        parse([("near", "0,0"), ("radius", text.replace("{}", digits))])
    assert [each.type for each in raised.value.errors] == ["float_parsing"]


def test_parameters_are_filters_or_members_of_a_query() -> None:
    listed = [*parameters_of(STORES_WITH_HOURS), *parameters_of(COMPANIES), *map_parameters_of(STORES)]
    names = {parameter.name for parameter in (*listed, *file_parameters_of(STORES, "csv"))}
    filters = {field.name for resource in (STORES, COMPANIES) for field in resource.filters}
    assert names - filters == set(Query.__struct_fields__) - {"filters", "place"}  # which `q` of places is
    assert not filters & {*Query.__struct_fields__}


def test_every_parameter_of_a_query_is_a_condition_or_has_no_part_in_which_rows_match() -> None:
    no_condition = {"zoom", "sort_by", "sort_order", "limit", "page_num", "fields", "facets", "bom", "place"}
    conditions: dict[str, Pairs] = {
        "filters": [("city", "x")],
        "near": [("near", "0,0"), ("radius", "1")],
        "radius": [("near", "0,0"), ("radius", "1")],
        "bbox": [("bbox", "0,0,1,1")],
        "q": [("q", "x")],
        "open_at": [("open_at", "1970-01-01T00:00Z")],
    }
    assert {*conditions, *no_condition} == set(Query.__struct_fields__)
    found = [parse(pairs, STORES_WITH_HOURS).criteria for pairs in conditions.values()]
    assert all(criteria != ALL_ROWS for criteria in found)
    assert parse([("near", "0,0")]).criteria == ALL_ROWS


NEAR_1000 = [("near", "1,2"), ("radius", "1000")]


@pytest.mark.parametrize(
    "spellings",
    [
        [[("near", "1,2")], [("near", "1.0, 2")], [("near", "+1,2e0"), ("sort_by", "distance")], [("near", " 01,2\t")]],
        [[("near", "0,0")], [("near", "-0,-0.0")], [("near", ""), ("near", "0,0"), ("near", "null"), ("radius", "")]],
        [NEAR_1000, [("near", "1,2"), ("radius", "1e3")], [("radius", "1000.0"), ("near", "1,2")]],
        [[("bbox", "1,2,3,4")], [("bbox", "1.0,2, 3,0.4e1")], [("bbox", "1,2,3,4"), ("bbox", " ")]],
        [[("q", "Foo bar")], [("q", "foo  BAR")], [("q", "FOO foo-bar")], [("q", ""), ("q", "föo bár")]],
        [[("q", "foo bar ")], [("q", "bar foo ")], [("q", "bar foo\u3000")]],
        [[("city", each) for each in ("Toronto", "", "Oslo", " OSLO")], [("city", "oslo"), ("city", "TORONTO")]],
        [[], [("q", "!!")], [("q", "null")], [("bbox", "")], [("near", "null")], [("radius", " ")], [("q", "")] * 2],
    ],
    ids=str,
)
def test_equivalent_values_are_one_query(spellings: list[Pairs]) -> None:
    first, *others = [parse(pairs) for pairs in spellings]
    assert all(msgspec.json.encode(other) == msgspec.json.encode(first) for other in others)
    assert all(other == first for other in others)


def test_the_memory_of_criteria_includes_their_values() -> None:
    assert Criteria((Filter("city", ("x" * 5000,)),)).nbytes > 5000
    assert Criteria(terms=(Term("x" * 5000),)).nbytes > 5000


@pytest.mark.parametrize(
    "value",
    [
        *("1970-01-01T00:00:00Z", "2026-12-24T10:00:00+01:00", " 2026-12-24 10:00:59.999999 01:00\t"),
        *("2026-12-24T09:00Z", "2026-12-24T04:00:30-05:00", "2100-12-31T23:59:59.9Z", "1969-12-31T23:00:00-01:00"),
    ],
)
def test_open_at_is_the_minute_of_an_instant(value: str) -> None:
    minute = parse([("open_at", value), ("open_at", "null"), ("open_at", " ")], STORES_WITH_HOURS).open_at
    assert minute == oracle.open_at(value).timestamp() / 60
