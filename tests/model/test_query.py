"""Parsing of query strings, and all their errors at once."""

import msgspec
import pytest

from service.model.errors import UnprocessableContent
from service.model.kinds import IDENTIFIER, WORDS
from service.model.query import Filter, Query, QueryParser
from service.model.records import COMPANIES, STORES, Resource

Pairs = list[tuple[str, str]]
BELOW_ONE = ("greater_than_equal", "Input should be greater than or equal to 1")
NOT_A_FLAG = ("bool_parsing", "Input should be a valid boolean, unable to interpret input")
REPEATED = ("multiple_values", "Input should be given once")
UNKNOWN = ("extra_forbidden", "Extra inputs are not permitted")


def parse(pairs: Pairs, resource: Resource | None = STORES, *, strict: bool = False) -> Query:
    return QueryParser(resource).parse(pairs, strict=strict)


def errors(pairs: Pairs, resource: Resource | None = STORES, *, strict: bool = False) -> list[tuple[str, str, str]]:
    """Return the name, type and message of each error, as in the response body."""
    with pytest.raises(UnprocessableContent) as caught:
        parse(pairs, resource, strict=strict)
    items = msgspec.to_builtins(caught.value.body)["detail"]
    assert all(item.keys() == {"loc", "msg", "type"} and item["loc"][0] == "query" for item in items)
    assert all(len(item["loc"]) == 2 for item in items)
    return [(item["loc"][1], item["type"], item["msg"]) for item in items]


@pytest.mark.parametrize("resource", [STORES, COMPANIES, None], ids=["stores", "companies", "one company"])
def test_an_empty_query_selects_everything_in_the_default_order(resource: Resource | None) -> None:
    query = parse([], resource)
    assert (query.filters, query.sort_by, query.sort_order, query.limit, query.page_num) == (
        (),
        "created_at",
        "asc",
        1000,
        1,
    )
    assert not query.descending


def test_all_parameters_are_parsed() -> None:
    pairs = [("limit", "5"), ("sort_by", "name"), ("city", "Örebro"), ("page_num", "2"), ("sort_order", "desc")]
    query = parse([*pairs, ("company_id", "A")])
    assert set(query.filters) == {
        Filter("company_id", (IDENTIFIER.normalize("A"),)),
        Filter("city", (WORDS.normalize("Örebro"),)),
    }
    assert (query.sort_by, query.sort_order, query.limit, query.page_num) == ("name", "desc", 5, 2)
    assert query.descending


def test_a_repeated_filter_matches_any_of_its_values() -> None:
    (query_filter,) = parse(
        [("city", "Toronto"), ("city", ""), ("limit", "2"), ("city", "Ottawa"), ("city", " OTTAWA")]
    ).filters
    assert query_filter.field == "city"
    assert sorted(query_filter.keys) == sorted([WORDS.normalize("Toronto"), WORDS.normalize("Ottawa")])


@pytest.mark.parametrize("value", ["", "  ", "\x1f", "null"], ids=ascii)
def test_a_filter_with_no_value_left_does_not_filter(value: str) -> None:
    pairs = [(field.name, value) for field in STORES.filters] * 2
    assert parse(pairs) == parse([])
    assert parse([(field.name, value) for field in COMPANIES.filters], COMPANIES) == parse([], COMPANIES)


def test_all_errors_are_reported_together_in_the_order_of_the_parameters() -> None:
    pairs = [("sort_by", "x"), ("sort_order", "up"), ("page_num", "0"), ("limit", "abc"), ("is_open", "maybe")]
    reported = errors(pairs)
    assert [name for name, *_ in reported] == ["is_open", "limit", "page_num", "sort_order", "sort_by"]
    assert [kind for _, kind, _ in reported] == ["bool_parsing", "int_parsing", "greater_than_equal", "enum", "enum"]
    assert errors(pairs[::-1]) == reported


def test_errors_of_companies_are_in_the_order_of_their_parameters() -> None:
    pairs = [("sort_by", "city"), ("sort_order", ""), ("page_num", ""), ("limit", "1001"), ("name", "x")]
    reported = errors(pairs, COMPANIES)
    assert [(name, kind) for name, kind, _ in reported] == [
        ("limit", "less_than_equal"),
        ("page_num", "int_parsing"),
        ("sort_order", "enum"),
        ("sort_by", "enum"),
    ]


def test_several_invalid_values_of_a_filter_are_one_error() -> None:
    assert errors([("is_open", "maybe"), ("is_open", "yes"), ("is_open", "perhaps")]) == [("is_open", *NOT_A_FLAG)]


def test_a_repeated_parameter_of_paging_or_sorting_is_ambiguous() -> None:
    names = ["limit", "page_num", "sort_order", "sort_by"]
    pairs = [(name, value) for name in names for value in ("1", "1")]
    assert errors(pairs) == [(name, *REPEATED) for name in names]
    assert errors([("limit", "5"), ("city", "x"), ("limit", "5")]) == [("limit", *REPEATED)]
    assert errors([("limit", ""), ("limit", "")]) == [("limit", *REPEATED)]


def test_unknown_parameters_are_ignored() -> None:
    pairs = [("Limit", "0"), ("", ""), ("store", "x"), ("name", "x"), ("limit ", "x"), ("foo", "1"), ("foo", "2")]
    assert parse(pairs) == parse([])
    assert parse([("anything", "1")], None) == parse([], None)


def test_strict_handling_reports_unknown_names_after_other_errors_in_query_order() -> None:
    pairs = [("zeta", "1"), ("limit", "0"), ("alpha", ""), ("city", "Oslo"), ("zeta", "2"), ("is_open", "?"), ("", "")]
    assert errors(pairs, strict=True) == [
        ("is_open", *NOT_A_FLAG),
        ("limit", *BELOW_ONE),
        ("zeta", *UNKNOWN),
        ("alpha", *UNKNOWN),
        ("", *UNKNOWN),
    ]


def test_strict_handling_accepts_known_parameters() -> None:
    pairs = [("city", "Oslo"), ("city", ""), ("is_open", "null"), ("limit", "1.0")]
    assert parse(pairs, strict=True) == parse(pairs)


def test_strict_handling_rejects_parameters_of_other_resources() -> None:
    assert errors([("city", "x")], COMPANIES, strict=True) == [("city", *UNKNOWN)]
    assert errors([("name", "x")], STORES, strict=True) == [("name", *UNKNOWN)]


def test_without_parameters_strict_handling_rejects_every_name() -> None:
    assert errors([("limit", "0"), ("company_id", "a")], None, strict=True) == [
        ("limit", *UNKNOWN),
        ("company_id", *UNKNOWN),
    ]
    assert parse([("limit", "0"), ("limit", "0")], None) == parse([], None)


def test_a_parser_has_no_state_between_queries() -> None:
    query_parser = QueryParser(STORES)
    query_parser.parse([("city", "Oslo"), ("limit", "1")], strict=False)
    assert query_parser.parse([], strict=False) == parse([])


def test_fields_and_facets_are_not_part_of_a_query_without_them() -> None:
    bare = msgspec.json.encode(parse([]))
    assert bare == b'{"filters":[],"sort_by":"created_at","sort_order":"asc","limit":1000,"page_num":1}'
    assert msgspec.json.encode(parse([("fields", ""), ("facets", " ,")])) == bare
    assert (parse([("fields", "city,name")]).fields, parse([("facets", "city")]).facets) == (
        ("name", "city"),
        ("city",),
    )


def test_errors_of_fields_and_facets_come_last() -> None:
    pairs = [("facets", "x"), ("fields", "x"), ("sort_by", "x"), ("limit", "x"), ("is_open", "x")]
    assert [name for name, _, _ in errors(pairs)] == ["is_open", "limit", "sort_by", "fields", "facets"]
