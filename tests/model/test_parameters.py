"""The query parameters: which exist, what they accept, and the errors for other values."""

from typing import Any

import pytest
from msgspec import UNSET

from service.model.parameters import (
    LIMIT,
    PAGE_NUM,
    SORT_ORDER,
    facets_parameter,
    fields_parameter,
    filter_parameter,
    map_parameters_of,
    parameters_of,
    sort_by_parameter,
)
from service.model.query import Query, QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.model.search_parameters import InvalidValue, Parameter
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Fields, choice, members, names

NOT_AN_INTEGER = ("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
TOO_LONG = ("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
BELOW_ONE = ("greater_than_equal", "Input should be greater than or equal to 1")
ABOVE_LIMIT = ("less_than_equal", "Input should be less than or equal to 1000")
NOT_A_FLAG = ("bool_parsing", "Input should be a valid boolean, unable to interpret input")
REPEATED = ("multiple_values", "Input should be given once")
STORE_SORT_KEYS = choice(names(STORE_FIELDS))
WITH_DISTANCE = choice([*names(STORE_FIELDS), "distance"])
COMPANY_SORT_KEYS = choice(names(COMPANY_FIELDS))
FILTERS = {field.name: filter_parameter(field) for field in STORES.filters}


def short(value: object) -> str:
    return str(value)[:20]


def refusal(parameter: Parameter, *values: str) -> tuple[str, str]:
    with pytest.raises(InvalidValue) as caught:
        parameter.parse(values)
    return caught.value.type, caught.value.msg


def test_the_parameters_of_stores_are_in_the_order_of_the_interface() -> None:
    assert [parameter.name for parameter in parameters_of(STORES)] == [
        *names(STORE_FIELDS, "filters"),
        "near",
        "radius",
        "bbox",
        "q",
        "limit",
        "page_num",
        "sort_order",
        "sort_by",
        "fields",
        "facets",
    ]


def test_the_parameters_of_companies_are_in_the_order_of_the_interface() -> None:
    assert [parameter.name for parameter in parameters_of(COMPANIES)] == [
        *names(COMPANY_FIELDS, "filters"),
        *("q", "limit", "page_num", "sort_order", "sort_by", "fields", "facets"),
    ]


def test_the_parameters_of_maps_are_in_the_order_of_the_interface() -> None:
    filters = names(STORE_FIELDS, "filters")
    assert [parameter.name for parameter in map_parameters_of(STORES)] == [*filters, "bbox", "zoom", "q"]


ALL_PARAMETERS = [*parameters_of(STORES), *parameters_of(COMPANIES), *map_parameters_of(STORES)]


def test_parameters_are_filters_or_members_of_a_query() -> None:
    filters = {field.name for resource in (STORES, COMPANIES) for field in resource.filters}
    members = set(Query.__struct_fields__) - {"filters"}
    of_files = {parameter.name for parameter in QueryParser(STORES, of_file="csv").parameters}
    assert {parameter.name for parameter in ALL_PARAMETERS} - filters | of_files - filters == members
    assert not filters & {*Query.__struct_fields__}


@pytest.mark.parametrize("parameter", ALL_PARAMETERS, ids=lambda each: each.name)
def test_every_parameter_is_described(parameter: Parameter) -> None:
    assert parameter.description.strip().endswith(".")


def test_the_schemas_are_those_of_the_interface() -> None:
    text, flag = (
        {"anyOf": [{"type": name}, {"type": "null"}, {"type": "array", "items": {"type": name}}]}
        for name in ("string", "boolean")
    )
    assert {name: parameter.schema for name, parameter in FILTERS.items()} == {
        **dict.fromkeys(FILTERS, text),
        "is_open": flag,
    }
    assert LIMIT.schema == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 1000}
    assert PAGE_NUM.schema == {"type": "integer", "minimum": 1, "default": 1}
    assert SORT_ORDER.schema == {"type": "string", "enum": ["asc", "desc"], "default": "asc"}
    assert sort_by_parameter(COMPANIES).schema == {
        "type": "string",
        "enum": names(COMPANY_FIELDS),
    }


@pytest.mark.parametrize("value", ["1", "1000", "+1_000.0"])
def test_a_limit_is_from_1_to_1000(value: str) -> None:
    assert LIMIT.parse([value]) in {1, 1000}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", BELOW_ONE),
        ("-0", BELOW_ONE),
        ("-1", BELOW_ONE),
        ("-" + "9" * 4300, BELOW_ONE),
        ("1001", ABOVE_LIMIT),
        ("9" * 4300, ABOVE_LIMIT),
        ("9" * 4301, TOO_LONG),
        ("-" + "9" * 4301, TOO_LONG),
        ("null", NOT_AN_INTEGER),
    ],
    ids=short,
)
def test_a_limit_out_of_bounds_is_rejected(value: str, expected: tuple[str, str]) -> None:
    assert refusal(LIMIT, value) == expected


@pytest.mark.parametrize("value", ["1", "1001", "18446744073709551616", "9" * 4300], ids=short)
def test_a_page_number_has_no_upper_bound(value: str) -> None:
    assert PAGE_NUM.parse([value]) == int(value)


@pytest.mark.parametrize(
    ("value", "expected"), [("0", BELOW_ONE), ("-3", BELOW_ONE), ("9" * 4301, TOO_LONG)], ids=short
)
def test_a_page_number_below_one_or_with_too_many_digits_is_rejected(value: str, expected: tuple[str, str]) -> None:
    assert refusal(PAGE_NUM, value) == expected


def test_the_sort_order_is_asc_or_desc() -> None:
    assert [SORT_ORDER.parse([value]) for value in ("asc", "desc")] == ["asc", "desc"]


@pytest.mark.parametrize("value", ["up", "ASC", " asc", "desc ", "", "null"])
def test_other_sort_orders_are_rejected(value: str) -> None:
    assert refusal(SORT_ORDER, value) == ("enum", "Input should be 'asc' or 'desc'")


@pytest.mark.parametrize("near", [True, False])
def test_every_field_of_a_store_and_the_distance_sort(*, near: bool) -> None:
    sort_by = sort_by_parameter(STORES, near=near)  # without `near`, distance is another error than that of a choice
    assert [sort_by.parse([key]) for key in sort_by.schema["enum"]] == [*names(STORE_FIELDS), "distance"]


@pytest.mark.parametrize("value", ["x", "", "null", "Name", "name ", "store_id,name", "-name"])
def test_other_sort_fields_are_rejected_with_the_allowed_ones(value: str) -> None:
    assert refusal(sort_by_parameter(STORES, near=False), value) == ("enum", STORE_SORT_KEYS)
    assert refusal(sort_by_parameter(STORES), value) == ("enum", WITH_DISTANCE)


@pytest.mark.parametrize("value", ["store_id", "city", "updated_at", "", "Domain", "distance"])
def test_companies_sort_only_by_their_own_fields(value: str) -> None:
    assert refusal(sort_by_parameter(COMPANIES), value) == ("enum", COMPANY_SORT_KEYS)


@pytest.mark.parametrize(
    "parameter", [LIMIT, PAGE_NUM, SORT_ORDER, sort_by_parameter(STORES)], ids=lambda each: each.name
)
@pytest.mark.parametrize("values", [("1", "1"), ("x", "y"), ("", ""), ("1", "", "asc")], ids=str)
def test_repeated_paging_and_sorting_parameters_are_rejected(parameter: Parameter, values: tuple[str, ...]) -> None:
    assert refusal(parameter, *values) == REPEATED


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("value", ["", " ", "\t\r\n", "\u00a0\u3000", "\x1c\x1f", "null"], ids=ascii)
def test_an_empty_blank_or_null_filter_does_not_filter(name: str, value: str) -> None:
    assert FILTERS[name].parse([value]) == FILTERS[name].parse([value, value]) == ()


@pytest.mark.parametrize("value", ["NULL", "Null", "null ", " null", "nulls", "None", "\u200b"], ids=ascii)
def test_texts_other_than_null_filter(value: str) -> None:
    assert FILTERS["company_id"].parse([value]) == (value,)
    assert refusal(FILTERS["is_open"], value) == NOT_A_FLAG


@pytest.mark.parametrize(
    "values", [("maybe",), ("maybe", "perhaps"), ("true", "maybe"), ("", "maybe"), (" true",), ("2",)]
)
def test_several_invalid_flags_are_one_error(values: tuple[str, ...]) -> None:
    assert refusal(FILTERS["is_open"], *values) == NOT_A_FLAG


@pytest.mark.parametrize(
    ("name", "values", "like"),
    [
        ("city", ["Toronto", "", "Ottawa", "null"], ["toronto", " OTTAWA "]),
        ("postal_code", ["M5V 2T6"], ["m5v2t6"]),
        ("latitude", ["43.70"], ["43.7"]),
        ("latitude", ["not a number"], ["not a number"]),
        ("is_open", ["ON", "y"], ["true"]),
        ("company_id", ["a", "a"], ["a"]),
    ],
)
def test_values_match_by_the_kind_of_their_field(name: str, values: list[str], like: list[str]) -> None:
    read: Any = FILTERS[name].parse
    assert read(values) == read(like)
    assert len(read(values)) == len(like)


@pytest.mark.parametrize(
    ("name", "value", "other"),
    [("company_id", "a", "A"), ("company_id", "a", "a "), ("latitude", "x", "X"), ("city", "New York", "NewYork")],
)
def test_values_differ_by_the_kind_of_their_field(name: str, value: str, other: str) -> None:
    assert FILTERS[name].parse([value]) != FILTERS[name].parse([other])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["name"], ("name",)),
        (["updated_at,store_id"], ("store_id", "updated_at")),
        ([" city\t, name ,,city", "", "name"], ("name", "city")),
        (["created_at", "city"], ("city", "created_at")),
        ([""], UNSET),
        ([" , ,", "\u3000"], UNSET),
    ],
)
def test_fields_are_names_in_the_order_of_the_record(values: list[str], expected: object) -> None:
    assert fields_parameter(STORES).parse(values) == expected


@pytest.mark.parametrize("value", ["size", "City", "city;name", "null", "city name", "distance", "city,size"])
def test_fields_are_members_of_the_record(value: str) -> None:
    assert refusal(fields_parameter(STORES, near=False), value) == ("enum", STORE_SORT_KEYS)
    if "distance" not in value:
        assert refusal(fields_parameter(STORES), value) == ("enum", WITH_DISTANCE)
    assert refusal(fields_parameter(COMPANIES), value, "created_at") == ("enum", choice(members(COMPANY_FIELDS)))


def test_fields_may_name_the_distance_last_if_there_is_a_point() -> None:
    assert fields_parameter(STORES).parse(["distance,city"]) == ("city", "distance")


@pytest.mark.parametrize(
    ("resource", "fields"), [(STORES, STORE_FIELDS), (COMPANIES, COMPANY_FIELDS)], ids=["stores", "companies"]
)
@pytest.mark.parametrize("value", ["name", "latitude", "store_id", "Country", "domain,name"])
def test_facets_are_fields_that_can_be_counted(resource: Resource, fields: Fields, value: str) -> None:
    assert refusal(facets_parameter(resource), value) == ("enum", choice(names(fields, "facets")))


def test_there_are_at_most_five_distinct_facets() -> None:
    given = ["company_id", "parent_company_id", "city", "province", "country", "is_open"]
    facets = facets_parameter(STORES)
    assert facets.parse([",".join(given[:5]), *given[:5]]) == tuple(given[:5])
    too_long = ("too_long", "List should have at most 5 items after validation, not {}")
    assert refusal(facets, *given) == (too_long[0], too_long[1].format(6))
    assert refusal(facets, *given, "size", "postal_code", "city") == (too_long[0], too_long[1].format(8))
    assert refusal(facets, *given[:4], "size") == ("enum", choice(names(STORE_FIELDS, "facets")))
    assert refusal(facets, *"abcdef") == refusal(facets_parameter(COMPANIES), *"abcdef") == refusal(facets, *given)
