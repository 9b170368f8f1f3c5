"""X-Ignored-Parameters: the unknown parameters of a request, which have no effect."""

import re
from urllib.parse import unquote

import pytest
from hypothesis import example, given, strategies as st

from service.web.http.links import ignored_parameter_lines

FIELD = "X-Ignored-Parameters"
# tchar of RFC 9110 section 5.6.2 without the percent sign, which begins an escape.
_NAME = r"(?:[!#$&'*+.^_`|~0-9A-Za-z-]|%[0-9A-F]{2})+"
_LIST = re.compile(rf"{_NAME}(?:, {_NAME}){{0,7}}")


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=90)))
@example(["a\r\nSet-Cookie: x", "b\0", "\n", "c\x7f", "\x85", "\u2028"])
def test_no_name_can_inject_a_header(names: list[str]) -> None:
    lines = ignored_parameter_lines(names)
    value = lines.removeprefix(f"{FIELD}: ").removesuffix("\r\n")
    assert lines == (f"{FIELD}: {value}\r\n" if value else "")
    assert not value or (_LIST.fullmatch(value) and len(value) <= 256)
    assert {unquote(name) for name in value.split(", ")} <= {"", *names}


@pytest.mark.parametrize(
    ("names", "value"),
    [
        (["a" * 256], "a" * 256),
        (["a" * 257], None),
        (["a" * 257, "page"], "page"),
        (["a" * 250, "b" * 4], f"{'a' * 250}, bbbb"),
        (["a" * 250, "b" * 5, "c"], f"{'a' * 250}, c"),
        (["a" * 255, "b"], "a" * 255),
        (["é" * 42], "%C3%A9" * 42),
        (["é" * 43], None),
        ([*["x" * 300] * 20, *"abcdefghij"], "a, b, c, d, e, f, g, h"),
    ],
)
def test_names_that_do_not_fit_into_256_bytes_are_left_out(names: list[str], value: str | None) -> None:
    assert ignored_parameter_lines(names) == ("" if value is None else f"{FIELD}: {value}\r\n")
