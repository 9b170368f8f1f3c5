"""Parsing of request targets."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given, strategies as st

from service.web.http.request import query_pairs, without_trailing_slash


@given(st.text(st.one_of(st.sampled_from("%+&=;89ACEFé日"), st.characters(min_codepoint=0x21, max_codepoint=0x7E))))
def test_a_query_is_decoded_as_parse_qsl_does(query: str) -> None:
    assert query_pairs(query) == parse_qsl(query, keep_blank_values=True)


@pytest.mark.parametrize(
    ("query", "pairs"),
    [
        ("a=b+c", [("a", "b c")]),
        ("a=1;b=2", [("a", "1;b=2")]),
        ("a=%FF", [("a", "\ufffd")]),
        ("a=\udcff", [("a", "\ufffd")]),
        ("a=\udcc3\udc96", [("a", "Ö")]),
        ("a", [("a", "")]),
    ],
)
def test_bytes_that_are_not_utf_8_are_replaced(query: str, pairs: list[tuple[str, str]]) -> None:
    assert query_pairs(query) == pairs


def test_a_location_is_ascii_whatever_the_target() -> None:
    assert without_trailing_slash("/companies/\udcff/", "q=\udcff") == "/companies/%FF?q=%FF"
