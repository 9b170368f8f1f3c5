"""Rate limiting in memory, compared with a model."""

from itertools import combinations_with_replacement

import pytest
from hypothesis import given, strategies as st

from service.access.token_bucket import MAX_BUCKETS, MemoryLimiter, Rate
from tests.access.gcra_model import Bucket, Clock

# Intervals and clock steps that are exact as floats, so that neither the model nor the limiter rounds.
EXACT = st.builds(Rate, st.sampled_from((1, 2, 4, 8, 16)), st.sampled_from((1, 60, 3600)), st.integers(1, 12))
ANY = st.builds(Rate, st.integers(1, 999), st.sampled_from((1, 60, 3600, 86_400)), st.integers(1, 40))


@given(EXACT, st.lists(st.integers(0, 400), min_size=1, max_size=60))
def test_each_decision_equals_that_of_the_model(rate: Rate, steps: list[int]) -> None:
    clock = Clock()
    memory, model = MemoryLimiter(clock=clock), Bucket(rate)
    for step in steps:
        clock.now += step / 64
        assert memory.take("a", rate) == model.take(clock.now)


@given(ANY, st.lists(st.floats(0, 30), min_size=1, max_size=60), st.integers(1, 4))
def test_no_period_allows_more_requests_than_the_burst_and_the_rate(
    rate: Rate, steps: list[float], processes: int
) -> None:
    clock = Clock()
    memories = [MemoryLimiter(processes, clock=clock) for _ in range(processes)]
    allowed = []
    for step in steps:
        clock.now += step
        allowed += [clock.now for memory in memories for _ in range(3) if memory.take("a", rate).allowed]
    burst = max(rate.burst, processes)  # each process allows at least one
    for begins, ends in combinations_with_replacement(range(len(allowed)), 2):
        assert ends - begins + 1 <= burst + rate.requests / rate.seconds * (allowed[ends] - allowed[begins]) + 1e-6


@given(ANY)
def test_a_request_is_allowed_after_the_returned_seconds(rate: Rate) -> None:
    clock = Clock()
    memory = MemoryLimiter(clock=clock)
    while (decision := memory.take("a", rate)).allowed:
        pass
    for _ in range(5):
        clock.now += decision.seconds + 1e-6  # a response takes longer than that to arrive
        assert memory.take("a", rate).allowed
        while (decision := memory.take("a", rate)).allowed:
            pass


def test_each_key_and_each_rate_has_its_own_bucket_and_an_old_one_persists() -> None:
    memory, rate = MemoryLimiter(clock=Clock()), Rate(1, 60, 2)
    for key, each in (("a", rate), ("b", rate), ("a", Rate(1, 60, 5))):
        assert [memory.take(key, each).allowed for _ in range(9)] == [True] * each.burst + [False] * (9 - each.burst)
    assert not memory.take("a", rate).allowed


@pytest.mark.parametrize(
    ("processes", "rate", "at_once", "period", "again"),
    [(4, Rate(100, 1, 200), 50, 1, 25), (8, Rate(1, 1, 1), 1, 8, 1)],
)
def test_one_of_several_processes_allows_its_share_which_is_never_less_than_one_request_at_once(
    processes: int, rate: Rate, at_once: int, period: int, again: int
) -> None:
    memory = MemoryLimiter(processes, clock=(clock := Clock()))
    assert sum(memory.take("a", rate).allowed for _ in range(99)) == at_once
    clock.now += period
    assert sum(memory.take("a", rate).allowed for _ in range(99)) == again


def test_beyond_the_largest_number_of_keys_the_least_recently_used_one_starts_with_a_full_bucket() -> None:
    memory, rate = MemoryLimiter(clock=Clock()), Rate(1, 60, 1)
    for key in ("old", "used"):
        assert memory.take(key, rate).allowed
    for number in range(MAX_BUCKETS - 2):
        memory.take(f"{number}", rate)
    assert not memory.take("used", rate).allowed
    memory.take("one more", rate)
    assert memory.take("old", rate).allowed
    assert not memory.take("used", rate).allowed
