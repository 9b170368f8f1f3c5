"""Header fields that are lists, and the weights in them."""

import pytest
from hypothesis import given, strategies as st

from service.web.fields import MAX_CHARACTERS, readable, weights


@pytest.mark.parametrize("space", ["\x1c", "\x1f", "\x0b", "\x85", "\u00a0", "\u3000"], ids=ascii)
def test_only_spaces_and_tabs_may_stand_around_a_weight(space: str) -> None:
    assert weights([f"gzip;q=0.5{space}", f"br;q={space}1", "zstd; q= 0.5\t"]) == {"zstd": 0.5}


@given(st.lists(st.text(max_size=600)))
def test_long_fields_are_read_as_none_and_nobody_keeps_them(fields: list[str]) -> None:
    assert list(readable(fields)) == (fields if len("".join(fields)) <= MAX_CHARACTERS else [])
