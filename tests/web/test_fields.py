"""Header fields that are lists, and the weights in them."""

import pytest
from hypothesis import given, strategies as st

from service.web.fields import MAX_CHARACTERS, MAX_MEMBERS, members, readable, weights


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
def test_the_weight_of_a_member_is_its_first_and_that_of_a_repeated_member_the_highest(
    field: str, weight: float | None
) -> None:
    assert weights([field]).get("br") == weight


@given(st.lists(st.text(max_size=600)))
def test_long_fields_are_read_as_none_and_nobody_keeps_them(fields: list[str]) -> None:
    assert list(readable(fields)) == (fields if len("".join(fields)) <= MAX_CHARACTERS else [])


@pytest.mark.parametrize(
    "fields", [["a," * 500], ["a"] * 500, ["a,b", ",".join("c" * 100)]], ids=["one", "many", "two"]
)
def test_no_more_members_are_read_than_anybody_has(fields: list[str]) -> None:
    assert len(list(members(fields))) == MAX_MEMBERS


def test_members_behind_those_that_are_read_weigh_nothing() -> None:
    names = [f"a{number}" for number in range(MAX_MEMBERS + 1)]
    assert list(weights([",".join(names)])) == names[:-1]
