"""The query parameters: which exist, what they accept, and the errors for other values (as pydantic 2 reports them)."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import UNSET

from service.model.parameters import (
    LIMIT,
    PAGE_NUM,
    facets_parameter,
    fields_parameter,
    map_parameters_of,
    parameters_of,
    parse_integer,
)
from service.model.query import Query, QueryParser
from service.model.records import COMPANIES, STORES
from service.model.search_parameters import InvalidValue, Parameter
from tests.declared_attributes import STORES_WITH_HOURS
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, choice, members, names

NOT_AN_INTEGER = ("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
TOO_LONG = ("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
BELOW_ONE = ("greater_than_equal", "Input should be greater than or equal to 1")
ABOVE_LIMIT = ("less_than_equal", "Input should be less than or equal to 1000")
STORE_SORT_KEYS = choice(names(STORE_FIELDS))
WITH_DISTANCE = choice([*names(STORE_FIELDS), "distance"])


def short(value: object) -> str:
    return str(value)[:20]


def refusal(parameter: Parameter, *values: str) -> tuple[str, str]:
    return refused(parameter.parse, values if parameter.repeats else values[0])


def refused(parse: Callable[[Any], object], value: object) -> tuple[str, str]:
    with pytest.raises(InvalidValue) as caught:
        parse(value)
    return caught.value.type, caught.value.msg


def test_the_parameters_of_maps_are_in_the_order_of_the_interface() -> None:
    filters = names(STORE_FIELDS, "filters")
    assert [parameter.name for parameter in map_parameters_of(STORES)] == [*filters, "bbox", "zoom", "q"]


def test_open_at_is_after_the_filters_where_stores_have_hours() -> None:
    listed = [parameter.name for parameter in parameters_of(STORES_WITH_HOURS)]
    plain = [parameter.name for parameter in parameters_of(STORES)]
    assert listed == [*plain[: plain.index("near")], "open_at", *plain[plain.index("near") :]]
    assert [parameter.name for parameter in map_parameters_of(STORES_WITH_HOURS)][-4:] == [
        "open_at",
        "bbox",
        "zoom",
        "q",
    ]
    assert "open_at" in {parameter.name for parameter in QueryParser(STORES_WITH_HOURS, of_file="ndjson").parameters}


ALL_PARAMETERS = [*parameters_of(STORES_WITH_HOURS), *parameters_of(COMPANIES), *map_parameters_of(STORES)]


def test_parameters_are_filters_or_members_of_a_query() -> None:
    filters = {field.name for resource in (STORES, COMPANIES) for field in resource.filters}
    members = set(Query.__struct_fields__) - {"filters", "place"}  # which `q` of places is
    of_files = {parameter.name for parameter in QueryParser(STORES, of_file="csv").parameters}
    assert {parameter.name for parameter in ALL_PARAMETERS} - filters | of_files - filters == members
    assert not filters & {*Query.__struct_fields__}


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        *((LIMIT, each, BELOW_ONE) for each in ("0", "-0", "-1", "-" + "9" * 4300)),
        *((LIMIT, each, ABOVE_LIMIT) for each in ("1001", "9" * 4300)),
        *((LIMIT, each, TOO_LONG) for each in ("9" * 4301, "-" + "9" * 4301)),
        (LIMIT, "null", NOT_AN_INTEGER),
        *(
            (PAGE_NUM, each, expected)
            for each, expected in (("0", BELOW_ONE), ("-3", BELOW_ONE), ("9" * 4301, TOO_LONG))
        ),
    ],
    ids=short,
)
def test_a_number_out_of_bounds_is_rejected(parameter: Parameter, value: str, expected: tuple[str, str]) -> None:
    assert refusal(parameter, value) == expected


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


def test_there_are_at_most_five_distinct_facets() -> None:
    given = ["company_id", "parent_company_id", "city", "province", "country", "is_open"]
    facets = facets_parameter(STORES)
    assert facets.parse([",".join(given[:5]), *given[:5]]) == tuple(given[:5])
    too_long = ("too_long", "List should have at most 5 items after validation, not {}")
    assert refusal(facets, *given) == (too_long[0], too_long[1].format(6))
    assert refusal(facets, *given, "size", "postal_code", "city") == (too_long[0], too_long[1].format(8))
    assert refusal(facets, *given[:4], "size") == ("enum", choice(names(STORE_FIELDS, "facets")))
    assert refusal(facets, *"abcdef") == refusal(facets_parameter(COMPANIES), *"abcdef") == refusal(facets, *given)


# Unicode's property White_Space, all of it (PropList.txt).
WHITE_SPACE = [chr(point) for point in (*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B))]
WHITE_SPACE += ["\u2028", "\u2029", "\u202f", "\u205f", "\u3000"]
# White space to Python's `str` alone, or to nobody, however empty it looks.
NO_WHITE_SPACE = ["\x1c", "\x1d", "\x1e", "\x1f", "\u180e", "\u200b", "\u2060", "\ufeff", "\x00"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("7", 7), (" 7 ", 7), ("+7", 7), ("-7", -7), ("007", 7), ("1.0", 1), ("1.000", 1), ("-1.0", -1)),
        *(("0", 0), ("-0", 0), ("000", 0), ("1_000", 1000), ("1_0_0", 100), ("0_1", 1), ("00_01_0.00", 10)),
        *(("1_0.0", 10), ("\r\n\t7\v\f", 7)),
    ],
)
def test_integers_are_parsed_as_by_pydantic(text: str, number: int) -> None:
    assert parse_integer(text) == number


@pytest.mark.parametrize(
    "text",
    [
        *("abc", "1.5", "1.", ".0", ".", "+", "-", "+-1", "--1", "1-", "1_", "_1", "1__0", "0__1", "0-1", "1.0_0"),
        *("1.0_", "1_.0", "1e3", "1E0", "0x1", "0b1", "1,000", "1.0.0", "∞", "nan", "inf", "null", "true", "None"),
        *("\uff11", "\u0661", "\u00b2", "1\u0660", "1.\uff10", "\u22121", "1\u200b0"),
        *("", " ", "1 0", "- 1", "+ 1", "1 .0", "1. 0", "1 _0", "1\n2"),
    ],
)
def test_other_texts_are_not_integers(text: str) -> None:
    assert refused(parse_integer, text) == NOT_AN_INTEGER


@pytest.mark.parametrize("space", WHITE_SPACE, ids=ascii)
def test_unicode_white_space_around_an_integer_is_ignored(space: str) -> None:
    assert parse_integer(f"{space}{space}-7.0{space}") == -7


@pytest.mark.parametrize("character", NO_WHITE_SPACE, ids=ascii)
def test_other_separators_around_an_integer_are_rejected(character: str) -> None:
    for text in (f"{character}7", f"7{character}"):
        assert refused(parse_integer, text) == NOT_AN_INTEGER


@pytest.mark.parametrize("form", ["{}", "+{}", "-{}", "000{}", " {} ", "{}.000", "0_{}.0", "-00_0{}.0 "])
def test_an_integer_has_at_most_4300_digits(form: str) -> None:
    assert abs(parse_integer(form.format("9" * 4300))) == 10**4300 - 1
    assert refused(parse_integer, form.format("9" * 4301)) == TOO_LONG


def test_leading_zeros_underscores_and_a_fraction_of_zeros_are_not_counted_as_digits() -> None:
    assert parse_integer("0" * 5000 + "_1" * 4300 + "." + "0" * 5000) == int("1" * 4300)
    assert parse_integer("0" * 5000) == 0


@given(st.integers(), st.sampled_from(WHITE_SPACE), st.integers(0, 3))
def test_every_integer_is_parsed_as_itself(number: int, space: str, zeros: int) -> None:
    sign, digits = ("-" if number < 0 else ""), str(abs(number))
    assert parse_integer(f"{space}{sign}{'0' * zeros}{'_'.join(digits)}.0{'0' * zeros}") == number
