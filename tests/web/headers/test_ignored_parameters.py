"""X-Ignored-Parameters: the unknown parameters of a request, which have no effect."""

import re
from itertools import product
from urllib.parse import unquote

import pytest
from hypothesis import example, given, strategies as st

from service.web.http.links import ignored_parameter_lines
from tests.web.live import Client
from tests.web.reply import ask

FIELD = "X-Ignored-Parameters"
# tchar of RFC 9110 section 5.6.2 without the percent sign, which begins an escape.
_NAME = r"(?:[!#$&'*+.^_`|~0-9A-Za-z-]|%[0-9A-F]{2})+"
_LIST = re.compile(rf"{_NAME}(?:, {_NAME}){{0,7}}")
MAP = "bbox=-180,-90,180,90&zoom=3"


NAMES = (
    ("/stores?z=1&city=Toronto&a=1&z=2&", "z, a"),
    ("/stores?a+b=1&a%2Bb=1&a%25b=1&%C3%96=1&%FF=1", "a%20b, a+b, a%25b, %C3%96, %EF%BF%BD"),
    ("/stores?a,b=1&a%22b=1&a;b=1&a%3Db=1&=x&!$'*-.^_`|~=1", "a%2Cb, a%22b, a%3Bb, a%3Db, !$'*-.^_`|~"),
    ("/clusters?bbox=-180,-90,180,90&zoom=3&near=0,0&limit=5&city=x", "near, limit"),
    ("/companies/acme?company_id=acme&limit=1", "company_id, limit"),
)


async def test_unknown_parameters_are_named_once_each_in_the_order_of_the_query(client: Client) -> None:
    for (target, names), method in product(NAMES, ("GET", "HEAD")):
        for conditions, status in (((), 200), (("If-None-Match: *",), 304)):
            answer = await ask(client, target, *conditions, method=method)
            assert (answer.status, answer.headers.getall(FIELD)) == (status, [names])


async def test_errors_and_responses_without_data_name_none(client: Client) -> None:
    for target, fields, status in (
        ("/stores?x=1&limit=0", (), 422),
        ("/stores?x=1", ("Prefer: handling=strict",), 422),
        ("/stores/nowhere?x=1", (), 404),
        ("/nope?x=1", (), 404),
        ("/stores?x=1", ("X-Dataset-Version: x",), 412),
        ("/stores?x=1", ('If-Match: "x"',), 412),
        ("/stores/?x=1", (), 307),
        ("/openapi.json?x=1", (), 200),
        ("/docs?x=1", ("If-None-Match: *",), 304),
        ("/health?x=1", (), 200),
        ("/ready?x=1", (), 200),
        ("/metrics?x=1", (), 200),
    ):
        answer = await ask(client, target, *fields)
        assert (answer.status, FIELD in answer.headers) == (status, False)
    assert (await ask(client, "/stores?x=1", key="")).headers.getall(FIELD, []) == []


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
