"""Rate limiting in memory, compared with a model."""

from itertools import combinations_with_replacement

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


def test_each_key_has_its_own_bucket() -> None:
    clock = Clock()
    memory, rate = MemoryLimiter(clock=clock), Rate(1, 60, 2)
    assert [memory.take("a", rate).allowed for _ in range(3)] == [True, True, False]
    assert [memory.take("b", rate).allowed for _ in range(3)] == [True, True, False]


def test_a_changed_rate_has_its_own_bucket_and_the_old_one_persists() -> None:
    clock = Clock()
    memory = MemoryLimiter(clock=clock)
    assert [memory.take("a", Rate(1, 60, 1)).allowed for _ in range(2)] == [True, False]
    assert sum(memory.take("a", Rate(1, 60, 5)).allowed for _ in range(9)) == 5
    assert not memory.take("a", Rate(1, 60, 1)).allowed


def test_one_of_several_processes_allows_its_share() -> None:
    clock = Clock()
    memory, rate = MemoryLimiter(4, clock=clock), Rate(100, 1, 200)
    assert sum(memory.take("a", rate).allowed for _ in range(99)) == 50
    clock.now += 1
    assert sum(memory.take("a", rate).allowed for _ in range(99)) == 25


def test_a_share_is_never_less_than_one_request_at_once() -> None:
    clock = Clock()
    memory, rate = MemoryLimiter(8, clock=clock), Rate(1, 1, 1)
    assert [memory.take("a", rate).allowed for _ in range(2)] == [True, False]
    clock.now += 8
    assert [memory.take("a", rate).allowed for _ in range(2)] == [True, False]


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
