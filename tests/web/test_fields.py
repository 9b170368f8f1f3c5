"""Weights in header fields that are lists."""

import pytest

from service.web.fields import weights


@pytest.mark.parametrize("space", ["\x1c", "\x1f", "\x0b", "\x85", "\u00a0", "\u3000"], ids=ascii)
def test_only_spaces_and_tabs_may_stand_around_a_weight(space: str) -> None:
    assert weights([f"gzip;q=0.5{space}", f"br;q={space}1", "zstd; q= 0.5\t"]) == {"zstd": 0.5}
