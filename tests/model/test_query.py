"""Parsing of query strings, and all their errors at once."""

import msgspec
import pytest

from service.model.coordinates import Box, Circle, Coordinates
from service.model.errors import UnprocessableContent
from service.model.kinds import IDENTIFIER, WORDS
from service.model.query import ALL_ROWS, Criteria, Filter, Query, QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.model.words import Term
from tests.declared_attributes import STORES_WITH_HOURS

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


def of_map(query: str) -> Query:
    return QueryParser(STORES, of_map=True).parse([each.partition("=")[::2] for each in query.split("&")], strict=True)


@pytest.mark.parametrize("zoom", ["7", "+7", " 0_7.0 ", "&zoom=null&zoom=7"])
def test_a_map_has_a_box_a_zoom_and_conditions(zoom: str) -> None:
    query = of_map(f"bbox=1,2,3,4&zoom={zoom}&q=a+&city=x&bbox=")
    assert (query.bbox, query.zoom) == (Box(1, 2, 3, 4), 7)
    assert query.criteria == Criteria((Filter("city", ("x",)),), box=Box(1, 2, 3, 4), terms=query.q or ())
    assert b'"zoom":7' in msgspec.json.encode(query)


@pytest.mark.parametrize(
    ("query", "reported"),
    [
        ("", [("bbox", "missing"), ("zoom", "missing")]),
        ("zoom=&bbox=null", [("bbox", "missing"), ("zoom", "missing")]),
        ("zoom=x", [("bbox", "missing"), ("zoom", "int_parsing")]),
        ("zoom=23&bbox=0", [("bbox", "value_error"), ("zoom", "less_than_equal")]),
        ("zoom=-1&is_open=?&bbox=0,0,0,0", [("is_open", "bool_parsing"), ("zoom", "greater_than_equal")]),
        (
            "near=0,0&bbox=0,0,0,0&limit=0",
            [("zoom", "missing"), *((name, "extra_forbidden") for name in ("near", "limit"))],
        ),
    ],
)
def test_errors_of_maps_are_in_the_order_of_their_parameters(query: str, reported: list[tuple[str, str]]) -> None:
    with pytest.raises(UnprocessableContent) as caught:
        of_map(query)
    items = msgspec.to_builtins(caught.value.body)["detail"]
    assert [(item["loc"][1], item["type"]) for item in items if item["loc"][1]] == reported


@pytest.mark.parametrize("resource", [STORES, COMPANIES, None], ids=["stores", "companies", "one company"])
def test_an_empty_query_selects_everything_in_the_default_order(resource: Resource | None) -> None:
    query = parse([], resource)
    given = (query.filters, query.sort_by, query.sort_order, query.limit, query.page_num)
    assert given == ((), "created_at", "asc", 1000, 1)
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
    pairs = [("city", "Toronto"), ("city", ""), ("limit", "2"), ("city", "Ottawa"), ("city", " OTTAWA")]
    (query_filter,) = parse(pairs).filters
    assert query_filter.field == "city"
    assert sorted(query_filter.keys) == sorted([WORDS.normalize("Toronto"), WORDS.normalize("Ottawa")])


@pytest.mark.parametrize("value", ["", "  ", "\x1f", "null"], ids=ascii)
def test_a_filter_with_no_value_left_does_not_filter(value: str) -> None:
    pairs = [(field.name, value) for field in STORES.filters] * 2
    assert parse(pairs) == parse([])
    assert parse([(field.name, value) for field in COMPANIES.filters], COMPANIES) == parse([], COMPANIES)


def test_several_invalid_values_of_a_filter_are_one_error() -> None:
    assert errors([("is_open", "maybe"), ("is_open", "yes"), ("is_open", "perhaps")]) == [("is_open", *NOT_A_FLAG)]


def test_a_repeated_parameter_of_paging_or_sorting_is_ambiguous() -> None:
    names = ["limit", "page_num", "sort_order", "sort_by"]
    pairs = [(name, value) for name in names for value in ("1", "1")]
    assert errors(pairs) == [(name, *REPEATED) for name in names]
    assert errors([("limit", "5"), ("city", "x"), ("limit", "5")]) == [("limit", *REPEATED)]
    assert errors([("limit", ""), ("limit", "")]) == [("limit", *REPEATED)]


def test_strict_handling_reports_unknown_names_after_other_errors_in_query_order() -> None:
    pairs = [("zeta", "1"), ("limit", "0"), ("alpha", ""), ("city", "Oslo"), ("zeta", "2"), ("is_open", "?"), ("", "")]
    unknown = [(name, *UNKNOWN) for name in ("zeta", "alpha", "")]
    assert errors(pairs, strict=True) == [("is_open", *NOT_A_FLAG), ("limit", *BELOW_ONE), *unknown]


def test_without_parameters_strict_handling_rejects_every_name() -> None:
    unknown = [(name, *UNKNOWN) for name in ("limit", "company_id")]
    assert errors([("limit", "0"), ("company_id", "a")], None, strict=True) == unknown
    assert parse([("limit", "0"), ("limit", "0")], None) == parse([], None)


def test_a_parser_has_no_state_between_queries() -> None:
    query_parser = QueryParser(STORES)
    query_parser.parse([("city", "Oslo"), ("limit", "1")], strict=False)
    assert query_parser.parse([], strict=False) == parse([])


def test_fields_and_facets_are_not_part_of_a_query_without_them() -> None:
    bare = msgspec.json.encode(parse([]))
    assert bare == b'{"filters":[],"sort_by":"created_at","sort_order":"asc","limit":1000,"page_num":1}'
    assert msgspec.json.encode(parse([("fields", ""), ("facets", " ,")])) == bare
    assert parse([("fields", "city,name")]).fields == ("name", "city")
    assert parse([("facets", "city")]).facets == ("city",)


NEAR = ("near", "value_error", "Value error, expected latitude,longitude in decimal degrees, such as 43.65,-79.38")
BBOX = "Value error, expected west,south,east,north in decimal degrees, such as -79.6,43.5,-79.1,43.9"
MISSING = ("near", "missing", "Field required")
NOT_A_NUMBER = ("float_parsing", "Input should be a valid number, unable to parse string as a number")
NOT_FINITE = ("finite_number", "Input should be a finite number")
MANY_NINES = "1E+" + "9" * 5000
NOT_POSITIVE = ("greater_than", "Input should be greater than 0")
TOO_MANY_WORDS = ("q", "value_error", "Value error, expected at most 16 words and 256 characters")


@pytest.mark.parametrize("text", ["{}!", "{}.{}!", ".{}!", "1e{}!"])
def test_a_radius_of_many_digits_is_rejected_in_time_that_grows_with_their_number(text: str) -> None:
    digits = "0" * 500_000  # in time that grows with the square of it, this would take half an hour
    found = errors([("near", "0,0"), ("radius", text.replace("{}", digits))])
    assert [(name, kind) for name, kind, _ in found] == [("radius", "float_parsing")]


def test_a_point_a_radius_a_box_and_words_are_parsed() -> None:
    query = parse([("q", "King St"), ("bbox", "-80,43,-79,44"), ("radius", "5e3"), ("near", "43.7, -79.4")])
    assert (query.near, query.radius, query.bbox) == (Coordinates(43.7, -79.4), 5000.0, Box(-80, 43, -79, 44))
    assert query.q == (Term("king"), Term("st", is_prefix=True))
    assert query.criteria == Criteria((), Circle(Coordinates(43.7, -79.4), 5000.0), Box(-80, 43, -79, 44), query.q)
    assert query.sort_by == "distance"
    assert parse([("q", "a")], COMPANIES).criteria == Criteria(terms=(Term("a", is_prefix=True),))


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
        [[], [("q", "!!")], [("q", "null")], [("bbox", "")], [("near", "null")], [("radius", " ")], [("q", "")] * 2],
    ],
    ids=str,
)
def test_equivalent_places_and_words_are_one_query(spellings: list[Pairs]) -> None:
    first, *others = [parse(pairs) for pairs in spellings]
    assert all(msgspec.json.encode(other) == msgspec.json.encode(first) for other in others)
    assert all(other == first for other in others)


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("near", "x")], [NEAR]),
        ([("near", "1,2"), ("near", "1,2")], [("near", *REPEATED)]),
        ([("near", "x"), ("radius", "5"), ("sort_by", "distance")], [NEAR]),
        ([("radius", "5")], [MISSING]),
        ([("radius", "5"), ("near", " ")], [MISSING]),
        ([("radius", "5"), ("sort_by", "distance")], [MISSING]),
        ([("sort_by", "distance")], [MISSING]),
        ([("radius", "x")], [MISSING, ("radius", *NOT_A_NUMBER)]),
        ([("radius", "5"), ("radius", "6")], [MISSING, ("radius", *REPEATED)]),
        *(
            ([("near", "1,2"), ("radius", text)], [("radius", *error)])
            for error, texts in {
                NOT_A_NUMBER: ("x", "1_000", "5 km", "0x1", "1,5", "\u0661", "--1", "1e", "1e5.5", "infinite", "na n"),
                NOT_FINITE: ("nan", "-inf", "+Infinity", "NaN", "1e999", "-1e9999", MANY_NINES, " INF "),
                NOT_POSITIVE: ("0", "-5", "-0.0", "1e-999"),
            }.items()
            for text in texts
        ),
        ([("bbox", "1,2,3")], [("bbox", "value_error", BBOX)]),
        ([("bbox", "0,1,0,-1")], [("bbox", "value_error", "Value error, south must not be greater than north")]),
        ([("bbox", "0,0,0,0"), ("bbox", "x")], [("bbox", *REPEATED)]),
        ([("q", "a b c d e f g h i j k l m n o p q")], [TOO_MANY_WORDS]),
        ([("q", "a"), ("q", "a")], [("q", *REPEATED)]),
    ],
    ids=str,
)
def test_errors_of_places_and_words(pairs: Pairs, expected: list[tuple[str, str, str]]) -> None:
    assert errors(pairs) == expected
    assert errors(pairs[::-1]) == expected


@pytest.mark.parametrize("name", ["sort_by", "fields"])
def test_the_distance_is_a_choice_of_requests_with_a_point_alone(name: str) -> None:
    ((_, kind, without),) = errors([(name, "size")])
    ((_, _, with_point),) = errors([(name, "size"), ("near", "0,0")])
    assert with_point == without.replace(" or 'updated_at'", ", 'updated_at' or 'distance'")
    assert errors([(name, "size"), ("near", "")]) == [(name, kind, without)]
    parse([(name, "distance"), ("near", "0,0")])
    assert errors([("fields", "distance")]) == [("fields", kind, errors([("fields", "size")])[0][2])]


def test_a_repeated_sort_by_distance_does_not_need_a_point() -> None:
    assert errors([("sort_by", "distance"), ("sort_by", "distance")]) == [("sort_by", *REPEATED)]


def test_all_errors_of_stores_are_in_the_order_of_the_interface() -> None:
    names = ["is_open", "near", "radius", "bbox", "q", "limit", "page_num", "sort_order", "sort_by", "fields", "facets"]
    bad = [(name, "?" if name != "q" else "x" * 257) for name in names]
    assert [name for name, _, _ in errors(bad[::-1])] == names
    assert [name for name, _, _ in errors([each for each in bad[::-1] if each[0] != "near"])] == names


def test_companies_have_no_place() -> None:
    pairs = [("near", "x"), ("radius", "x"), ("bbox", "x")]
    assert parse(pairs, COMPANIES) == parse([], COMPANIES)
    assert errors(pairs, COMPANIES, strict=True) == [(name, *UNKNOWN) for name, _ in pairs]
    assert [kind for _, kind, _ in errors([("sort_by", "distance"), ("near", "0,0")], COMPANIES)] == ["enum"]
    assert parse([("near", "0,0")], COMPANIES).sort_by == "created_at"


def test_the_memory_of_criteria_includes_their_values() -> None:
    assert Criteria((Filter("city", ("x" * 5000,)),)).nbytes > 5000
    assert Criteria(terms=(Term("x" * 5000),)).nbytes > 5000


@pytest.mark.parametrize(
    ("value", "minute"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-12-24T10:00:00+01:00", 29968380),
        (" 2026-12-24 10:00:59.999999 01:00\t", 29968380),
        ("2026-12-24T09:00Z", 29968380),
        ("2026-12-24T04:00:30-05:00", 29968380),
        ("2100-12-31T23:59:59.9Z", 68899679),
        ("1969-12-31T23:00:00-01:00", 0),
    ],
)
def test_open_at_is_the_minute_of_an_instant(value: str, minute: int) -> None:
    assert parse([("open_at", value), ("open_at", "null"), ("open_at", " ")], STORES_WITH_HOURS).open_at == minute


@pytest.mark.parametrize(
    "value",
    [
        *("now", "2026-12-24", "2026-12-24Z", "2026-12-24T10:00:00", "2026-12-24 10:00", "2026-12-24T10:00:00.5"),
        *("2026-12-24T10:00:00z", "2026-12-24T24:00Z", "2026-02-30T10:00Z", "2026-12-24T10:00+1:00", "\0"),
        *("2026-12-24T10:00Z/..", "1969-12-31T23:59:59Z", "2101-01-01T00:00Z", "2100-12-31T23:59-00:01", "1e9"),
        *("0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00"),
    ],
)
def test_open_at_needs_a_time_with_an_offset_from_1970_to_2100(value: str) -> None:
    why = "Value error, expected a date-time with an offset, such as 2026-12-24T10:00:00+01:00"
    assert errors([("open_at", value)], STORES_WITH_HOURS) == [("open_at", "value_error", why)]


def test_errors_of_open_at_are_after_those_of_filters_and_before_those_of_places() -> None:
    given = [("radius", "x"), ("near", "x"), ("open_at", "x"), ("open_at", "2026-12-24T10:00Z"), ("updated_at", "x")]
    found = errors([*given, ("opened_at", "x")], STORES_WITH_HOURS, strict=True)
    assert [name for name, *_ in found] == ["updated_at", "open_at", "near", "radius", "opened_at"]
    assert found[1] == ("open_at", *REPEATED)


def test_where_no_hours_are_declared_open_at_is_unknown() -> None:
    assert errors([("open_at", "2026-12-24T10:00Z")], STORES, strict=True) == [("open_at", *UNKNOWN)]
