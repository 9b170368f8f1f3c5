"""Request targets: paths to routes, and queries."""

from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given, strategies as st

from service.model.query import query_pairs
from service.web.http.request import without_trailing_slash
from service.web.http.response import Answer
from service.web.pipeline.routes import AnswerRoute, Routes

PATHS = ("/stores", "/stores/{store_id}", "/companies", "/companies/{company_id}", "/docs", "/docs/page.js")
ROUTES = Routes(AnswerRoute(path=path, answer=lambda *_: Answer(())) for path in PATHS)


def found(path: str) -> tuple[str | None, str]:
    """Return the path of the route that a path leads to, and the parameter, decoded."""
    route, segment = ROUTES.find(path)
    return (None if route is None else route.path), unquote(segment)


@given(st.sampled_from(PATHS), st.lists(st.booleans(), min_size=30, max_size=30))
def test_a_name_is_found_however_much_of_it_is_percent_encoded(path: str, escaped: list[bool]) -> None:
    written = (
        f"%{ord(sign):02x}" if sign != "/" and escape else sign for sign, escape in zip(path, escaped, strict=False)
    )
    route, _ = found("".join(written))
    assert route == path


def test_an_escaped_slash_is_part_of_the_parameter_which_may_be_anything() -> None:
    for written in ("acme", "a%2Fb", "{company_id}", "{}", "%7B%7D", "%41" * 2000):
        assert found(f"/companies/{written}") == ("/companies/{company_id}", unquote(written))
    assert found("/%63ompanies/a%2Fb") == ("/companies/{company_id}", "a/b")


def test_other_paths_lead_nowhere() -> None:
    for path in (
        *(
            "",
            "/",
            "/nope",
            "stores/",
            "//stores",
            "/stores/",
            "/stores%2F",
            "/companies/",
            "/companies/a/",
            "/docs/{}",
        ),
        *("/companies/a/b", "/companies//a", "/{}", "/{}/a"),
        *("/" * 8000, "/a" * 4000, "/%41" * 2000, "/" + "%41" * 2700),
    ):
        assert found(path)[0] is None, path
    assert Routes(()).find("/stores")[0] is None


@given(st.text(st.one_of(st.sampled_from("%+&=;89ACEFé日"), st.characters(min_codepoint=0x21, max_codepoint=0x7E))))
def test_a_query_is_decoded_as_parse_qsl_does(query: str) -> None:
    assert query_pairs(query) == parse_qsl(query, keep_blank_values=True)


@pytest.mark.parametrize(("written", "value"), [("%FF", "\ufffd"), ("\udcff", "\ufffd"), ("\udcc3\udc96", "Ö")])
def test_bytes_that_are_not_utf_8_are_replaced(written: str, value: str) -> None:
    assert query_pairs(f"a={written}") == [("a", value)]


def test_a_location_is_ascii_whatever_the_target() -> None:
    assert without_trailing_slash("/companies/\udcff/", "q=\udcff") == "/companies/%FF?q=%FF"
