"""The written form of a request rate limit."""

import pytest
from hypothesis import given, strategies as st

from service.access.token_bucket import MAX_REQUESTS, Rate, parse_rate

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


@given(
    requests=st.integers(1, MAX_REQUESTS), period=st.sampled_from(sorted(SECONDS)), burst=st.integers(1, MAX_REQUESTS)
)
def test_a_written_rate_is_parsed_and_a_given_burst_replaces_the_default(
    requests: int, period: str, burst: int
) -> None:
    assert parse_rate(f"{requests}/{period}") == Rate(requests, SECONDS[period], requests)
    assert parse_rate(f"{requests}/{period}", burst) == Rate(requests, SECONDS[period], burst)


@pytest.mark.parametrize(
    "text",
    [
        *("", "100", "/s", "0/s", "-1/s", "+1/s", "1.5/s", "01/s", "1e3/s", " 1/s", "1/s\n", "1 / s", "1/w", "1/S"),
        *("1_0/s", "1/2s", "\N{ARABIC-INDIC DIGIT ONE}/s", f"{MAX_REQUESTS + 1}/s"),
    ],
)
def test_an_invalid_rate_is_rejected_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it as 100/s, with one of s, min, h, d"):
        parse_rate(text)


@pytest.mark.parametrize("burst", [0, -1, MAX_REQUESTS + 1])
def test_a_burst_out_of_range_is_rejected(burst: int) -> None:
    with pytest.raises(ValueError, match=f"a burst of {burst} is out of range"):
        parse_rate("100/s", burst)
