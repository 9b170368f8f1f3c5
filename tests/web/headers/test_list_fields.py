"""Header fields that are lists, with weights."""

import pytest
from hypothesis import given, strategies as st

from service.web.http.header_fields import MAX_CHARACTERS, MAX_MEMBERS, bounded_fields, members, weights


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
