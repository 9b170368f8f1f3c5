"""Parameters are parsed once, and what is made of them is made once per data version and `total_count`."""

import pytest

from service.model.attributes import NO_ATTRIBUTES
from service.model.envelope import opening
from service.model.errors import UnprocessableContent
from service.model.query import QueryParser
from service.model.records import STORES
from service.web.pipeline.identity import Identity
from service.web.pipeline.parsed_parameters import ParsedParameters, parser


def parsed(raw: str) -> ParsedParameters:
    return parser("/stores", lambda _: QueryParser(STORES))(NO_ATTRIBUTES, "", raw, False)


def test_a_frame_is_reused_while_the_total_count_is_the_same() -> None:
    query = parsed("limit=2")
    assert query.frame(5) is query.frame(5)


def test_a_frame_follows_the_total_count() -> None:
    query = parsed("limit=2&page_num=2")
    for total_count in (5, 9, 0, 5):
        frame = query.frame(total_count)
        assert frame.opening == opening(query.query, total_count)
        assert frame.links == parsed("limit=2&page_num=2").frame(total_count).links
        assert f'page_num={max(-(-total_count // 2), 1)}>; rel="last"' in frame.links[0]


def test_an_identity_follows_the_data_version() -> None:
    query = parsed("limit=2")
    for version in ("a", "b", "a"):
        identified = query.identified(version)
        assert identified is query.identified(version)
        assert identified.identity == Identity("/stores", query.query, version)


def test_an_identity_has_the_decoded_segment() -> None:
    parse = parser("/companies/{company_id}", lambda _: QueryParser())
    assert parse(NO_ATTRIBUTES, "a%2Fb", "", False).identified("v").identity.parameters == "a/b"


def test_parameters_are_cached_unless_they_are_long() -> None:
    parse = parser("/stores", lambda _: QueryParser(STORES))
    short, long = f"city={'x' * 251}", f"city={'x' * 252}"
    assert parse(NO_ATTRIBUTES, "", short, False) is parse(NO_ATTRIBUTES, "", short, False)
    assert parse(NO_ATTRIBUTES, "", long, False) is not parse(NO_ATTRIBUTES, "", long, False)
    assert parse(NO_ATTRIBUTES, "s", short, False) is not parse(NO_ATTRIBUTES, "s", short, False)


def test_strict_and_lenient_parses_are_cached_separately() -> None:
    parse = parser("/stores", lambda _: QueryParser(STORES))
    for _ in range(2):
        assert parse(NO_ATTRIBUTES, "", "x=1", False) is parse(NO_ATTRIBUTES, "", "x=1", False)
        with pytest.raises(UnprocessableContent):
            parse(NO_ATTRIBUTES, "", "x=1", True)


def test_ignored_parameters_are_listed_once_for_all_requests_that_are_written_alike() -> None:
    parse = parser("/stores", lambda _: QueryParser(STORES))
    first = parse(NO_ATTRIBUTES, "", "page=2&City=x", False).ignored
    assert first == ("X-Ignored-Parameters: page, City",)
    assert parse(NO_ATTRIBUTES, "", "page=2&City=x", False).ignored is first
    assert parse(NO_ATTRIBUTES, "", "City=x&page=2", False).ignored == ("X-Ignored-Parameters: City, page",)
    assert parse(NO_ATTRIBUTES, "", "city=x", False).ignored == ()


def test_errors_are_not_cached() -> None:
    parse, errors = parser("/stores", lambda _: QueryParser(STORES)), []
    for _ in range(2):
        with pytest.raises(UnprocessableContent) as raised:
            parse(NO_ATTRIBUTES, "", "limit=0", False)
        errors.append(raised.value)
    assert errors[0] is not errors[1]


def test_each_operation_has_its_own_parameters_and_its_own_cache() -> None:
    stores, none = (
        parser("/stores", lambda _: QueryParser(STORES)),
        parser("/companies/{company_id}", lambda _: QueryParser()),
    )
    with pytest.raises(UnprocessableContent):
        stores(NO_ATTRIBUTES, "", "limit=0", False)
    assert none(NO_ATTRIBUTES, "", "limit=0", False).query.limit == 1000
