"""How much a key may ask, as it is written."""

import pytest
from hypothesis import given, strategies as st

from service.access.request_rate import MOST_REQUESTS, Rate, read_rate

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


@given(requests=st.integers(1, MOST_REQUESTS), period=st.sampled_from(sorted(SECONDS)))
def test_a_rate_is_read_as_it_is_written(requests: int, period: str) -> None:
    rate = read_rate(f"{requests}/{period}")
    assert rate == Rate(requests, SECONDS[period], requests)
    assert str(rate) == f"{requests}/{period}"


@given(burst=st.integers(1, MOST_REQUESTS))
def test_a_burst_is_what_is_given(burst: int) -> None:
    assert read_rate("100/s", burst) == Rate(100, 1, burst)


@pytest.mark.parametrize(
    "text",
    [
        *("", "100", "/s", "0/s", "-1/s", "+1/s", "1.5/s", "01/s", "1e3/s", " 1/s", "1/s\n", "1 / s", "1/w", "1/S"),
        *("1_0/s", "1/2s", "\N{ARABIC-INDIC DIGIT ONE}/s", f"{MOST_REQUESTS + 1}/s"),
    ],
)
def test_what_is_no_rate_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match="write it as 100/s, with one of s, min, h, d"):
        read_rate(text)


@pytest.mark.parametrize("burst", [0, -1, MOST_REQUESTS + 1])
def test_a_burst_out_of_range_is_refused(burst: int) -> None:
    with pytest.raises(ValueError, match=f"{burst} is no burst"):
        read_rate("100/s", burst)


@given(st.text())
def test_any_text_is_a_rate_or_refused(text: str) -> None:
    try:
        assert str(read_rate(text)) == text
    except ValueError:
        return
