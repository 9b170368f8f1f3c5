"""Query strings are parsed once, and the frame of a page is built once per `total_count`."""

from service.model.envelope import opening
from service.model.errors import UnprocessableContent
from service.model.query import QueryParser
from service.model.records import STORES
from service.web.parsed_query import ParsedQuery, parser


def parsed(raw: str) -> ParsedQuery:
    found = parser(QueryParser(STORES))(raw, False)
    assert isinstance(found, ParsedQuery)
    return found


def test_a_frame_is_reused_while_the_total_count_is_the_same() -> None:
    query = parsed("limit=2")
    assert query.frame(5) is query.frame(5)


def test_a_frame_follows_the_total_count() -> None:
    query = parsed("limit=2&page_num=2")
    for total_count in (5, 9, 0, 5):
        frame = query.frame(total_count)
        assert frame.opening == opening(query.query, total_count)
        assert frame.links == parsed("limit=2&page_num=2").frame(total_count).links
        assert f'page_num={max(-(-total_count // 2), 1)}>; rel="last"' in frame.links


def test_a_query_string_is_cached_unless_it_is_long() -> None:
    parse = parser(QueryParser(STORES))
    short, long = f"city={'x' * 251}", f"city={'x' * 252}"
    assert parse(short, False) is parse(short, False)
    assert parse(long, False) is not parse(long, False)


def test_strict_and_lenient_parses_are_cached_separately() -> None:
    parse = parser(QueryParser(STORES))
    assert isinstance(parse("x=1", False), ParsedQuery)
    errors = parse("x=1", True)
    assert isinstance(errors, UnprocessableContent)
    assert errors is parse("x=1", True)
    assert isinstance(parse("x=1", False), ParsedQuery)


def test_each_operation_has_its_own_parameters_and_its_own_cache() -> None:
    stores, none = parser(QueryParser(STORES)), parser(QueryParser())
    assert isinstance(stores("limit=0", False), UnprocessableContent)
    assert isinstance(none("limit=0", False), ParsedQuery)
