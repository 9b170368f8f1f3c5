"""Query strings: what they ask for, and how everything that is wrong with them is reported at once."""

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


def read(pairs: Pairs, resource: Resource | None = STORES, *, strict: bool = False) -> Query:
    return QueryParser(resource).parse(pairs, strict=strict)


def errors(pairs: Pairs, resource: Resource | None = STORES, *, strict: bool = False) -> list[tuple[str, str, str]]:
    """Return the name, type and message of each error, as the body tells them."""
    with pytest.raises(UnprocessableContent) as caught:
        read(pairs, resource, strict=strict)
    items = msgspec.to_builtins(caught.value.body)["detail"]
    assert all(item.keys() == {"loc", "msg", "type"} and item["loc"][0] == "query" for item in items)
    assert all(len(item["loc"]) == 2 for item in items)
    return [(item["loc"][1], item["type"], item["msg"]) for item in items]


@pytest.mark.parametrize("resource", [STORES, COMPANIES, None], ids=["stores", "companies", "one company"])
def test_an_empty_query_selects_everything_in_the_default_order(resource: Resource | None) -> None:
    asked = read([], resource)
    assert (asked.filters, asked.sort_by, asked.sort_order, asked.limit, asked.page_num) == (
        (),
        "created_at",
        "asc",
        1000,
        1,
    )
    assert not asked.descending


def test_all_parameters_are_parsed() -> None:
    given = [("limit", "5"), ("sort_by", "name"), ("city", "Örebro"), ("page_num", "2"), ("sort_order", "desc")]
    asked = read([*given, ("company_id", "A")])
    assert set(asked.filters) == {
        Filter("company_id", (IDENTIFIER.normalize("A"),)),
        Filter("city", (WORDS.normalize("Örebro"),)),
    }
    assert (asked.sort_by, asked.sort_order, asked.limit, asked.page_num) == ("name", "desc", 5, 2)
    assert asked.descending


def test_a_repeated_filter_matches_any_of_its_values() -> None:
    (query_filter,) = read(
        [("city", "Toronto"), ("city", ""), ("limit", "2"), ("city", "Ottawa"), ("city", " OTTAWA")]
    ).filters
    assert query_filter.field == "city"
    assert sorted(query_filter.keys) == sorted([WORDS.normalize("Toronto"), WORDS.normalize("Ottawa")])


@pytest.mark.parametrize("value", ["", "  ", "\x1f", "null"], ids=ascii)
def test_a_filter_with_no_value_left_does_not_filter(value: str) -> None:
    pairs = [(field.name, value) for field in STORES.filters] * 2
    assert read(pairs) == read([])
    assert read([(field.name, value) for field in COMPANIES.filters], COMPANIES) == read([], COMPANIES)


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
    pairs = [("Limit", "0"), ("", ""), ("store_id", "x"), ("name", "x"), ("limit ", "x"), ("foo", "1"), ("foo", "2")]
    assert read(pairs) == read([])
    assert read([("anything", "1")], None) == read([], None)


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
    assert read(pairs, strict=True) == read(pairs)


def test_strict_handling_rejects_parameters_of_other_resources() -> None:
    assert errors([("city", "x")], COMPANIES, strict=True) == [("city", *UNKNOWN)]
    assert errors([("name", "x")], STORES, strict=True) == [("name", *UNKNOWN)]


def test_without_parameters_strict_handling_rejects_every_name() -> None:
    assert errors([("limit", "0"), ("company_id", "a")], None, strict=True) == [
        ("limit", *UNKNOWN),
        ("company_id", *UNKNOWN),
    ]
    assert read([("limit", "0"), ("limit", "0")], None) == read([], None)


def test_a_parser_has_no_state_between_queries() -> None:
    reader = QueryParser(STORES)
    reader.parse([("city", "Oslo"), ("limit", "1")], strict=False)
    assert reader.parse([], strict=False) == read([])
