"""Header fields: lists with weights, preferences (RFC 7240), and what is written."""

from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from time import time

import pytest
from hypothesis import given, strategies as st

from service.web.http.header_fields import (
    MAX_CHARACTERS,
    MAX_MEMBERS,
    bounded_fields,
    header_lines,
    is_strict,
    members,
    weights,
)
from tests.web.live import KEY, Client
from tests.web.reply import ask


@pytest.mark.parametrize("code_point", [0x1C, 0x1F, 0x0B, 0x85, 0xA0, 0x3000], ids=hex)
def test_only_spaces_and_tabs_may_surround_a_weight(code_point: int) -> None:
    space = chr(code_point)
    assert weights([f"gzip;q=0.5{space}", f"br;q={space}1", "zstd; q= 0.5\t"]) == {"zstd": 0.5}


@pytest.mark.parametrize(
    ("field", "weight"),
    [
        ("br", 1.0),
        ("br;q=0.9, gzip, br;q=0.1", 0.9),
        ("br;q=0.1, br;q=0.9", 0.9),
        ("br;q=0.5;q=0.7", 0.5),
        ("br;q=1=0.5", None),
        ('br;a="x;q=0.1";q=0.2', 0.2),
        ('br;a="x\\";q=0.1";q=0.2', 0.2),
        ('br;q=0.2;a="not closed, br', 0.2),
        ('"not closed, br;q=0.2', None),
        ("br;Q=0.25", 0.25),
    ],
)
def test_the_first_q_of_a_member_counts_and_the_highest_of_a_repeated_member(field: str, weight: float | None) -> None:
    assert weights([field]).get("br") == weight


@given(st.lists(st.text(max_size=600)))
def test_long_fields_are_ignored_and_not_cached(fields: list[str]) -> None:
    assert list(bounded_fields(fields)) == (fields if len("".join(fields)) <= MAX_CHARACTERS else [])


@pytest.mark.parametrize(
    "fields", [["a," * 500], ["a"] * 500, ["a,b", ",".join("c" * 100)]], ids=["one", "many", "two"]
)
def test_the_number_of_members_is_limited(fields: list[str]) -> None:
    assert len(list(members(fields))) == MAX_MEMBERS


def test_members_after_the_limit_are_ignored() -> None:
    names = [f"a{number}" for number in range(MAX_MEMBERS + 1)]
    assert list(weights([",".join(names)])) == names[:-1]


STRICT: Sequence[list[str]] = (
    *(["handling=strict"], ["HANDLING = strict"], ['respond-async, handling="strict"; x=1']),
    ['foo="a", handling=strict'],
    *(["respond-async", "handling=strict"], ["handling=strict", "handling=lenient"], ["x," * 63 + "handling=strict"]),
    *(["handling=strict;x=1, handling=lenient"], ["x" * 1008 + ",handling=strict"]),
)
LENIENT: Sequence[list[str]] = (
    *([], ["handling"], ["strict"], ["handling=stricter"], ['handling="strict'], ["handling=lenient, handling=strict"]),
    *(['foo="a, handling=strict"'], ['foo="a\\", handling=strict"'], ["x" * 1009 + ",handling=strict"]),
    *(["x," * 64 + "handling=strict"], ["x," * 32, "x," * 32, "handling=strict"], ["handling=strict", "x" * 1010]),
)


@pytest.mark.parametrize("headers", [*STRICT, *LENIENT])
def test_the_first_of_a_repeated_preference_wins(headers: list[str]) -> None:
    assert is_strict(headers) is (headers in STRICT)


async def test_a_preference_that_was_not_applied_is_not_reported(client: Client) -> None:
    strict = "Prefer: handling=strict"
    for target, fields, key in (("/stores", (), KEY), ("/stores", (strict,), ""), ("/health", (strict,), KEY)):
        assert "Preference-Applied" not in (await ask(client, target, *fields, key=key)).headers


async def test_a_response_has_its_date(client: Client) -> None:
    before = int(time())
    response = await ask(client, "/health")
    assert before <= parsedate_to_datetime(response.headers["Date"]).timestamp() <= time()


@pytest.mark.parametrize("value", ["a\r\nSet-Cookie: b", "a\nb", "a\0", "é", "a\x7f"])
def test_header_injection_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        header_lines({"Location": value})
