"""Rates kept in memory, against a model."""

from itertools import combinations_with_replacement

from hypothesis import given, strategies as st

from service.access.memory_limiter import MemoryLimiter
from service.access.request_rate import Rate
from tests.access.gcra_model import Bucket, stopped

# Whose intervals are exact as floats, as are the steps of the clock: there model and library round nothing.
EXACT = st.builds(Rate, st.sampled_from((1, 2, 4, 8, 16)), st.sampled_from((1, 60, 3600)), st.integers(1, 12))
ANY = st.builds(Rate, st.integers(1, 999), st.sampled_from((1, 60, 3600, 86_400)), st.integers(1, 40))


@given(EXACT, st.lists(st.integers(0, 400), min_size=1, max_size=60))
def test_each_request_is_decided_as_the_model_decides_it(rate: Rate, steps: list[int]) -> None:
    memory, model = MemoryLimiter(), Bucket(rate)
    with stopped() as clock:
        for step in steps:
            clock.now += step / 64
            assert memory.take("a", rate) == model.take(clock.now)


@given(ANY, st.lists(st.floats(0, 30), min_size=1, max_size=60), st.integers(1, 4))
def test_in_no_span_more_is_let_through_than_the_burst_and_the_rate(
    rate: Rate, steps: list[float], processes: int
) -> None:
    memories = [MemoryLimiter(processes) for _ in range(processes)]
    passed = []
    with stopped() as clock:
        for step in steps:
            clock.now += step
            passed += [clock.now for memory in memories for _ in range(3) if memory.take("a", rate).allowed]
    burst = max(rate.burst, processes)  # a process lets through one at least
    for begins, ends in combinations_with_replacement(range(len(passed)), 2):
        assert ends - begins + 1 <= burst + rate.requests / rate.seconds * (passed[ends] - passed[begins]) + 1e-6


@given(ANY)
def test_after_the_time_that_is_told_a_request_passes(rate: Rate) -> None:
    memory = MemoryLimiter()
    with stopped() as clock:
        while (taken := memory.take("a", rate)).allowed:
            pass
        for _ in range(5):
            clock.now += taken.seconds + 1e-6  # an answer takes longer than that to arrive
            assert memory.take("a", rate).allowed
            while (taken := memory.take("a", rate)).allowed:
                pass


def test_after_a_rest_the_burst_is_there_again_and_no_more() -> None:
    memory, rate = MemoryLimiter(), Rate(8, 1, 30)
    with stopped() as clock:
        for _ in range(3):
            assert sum(memory.take("a", rate).allowed for _ in range(50)) == 30
            clock.now += 1024


def test_keys_have_buckets_of_their_own() -> None:
    memory, rate = MemoryLimiter(), Rate(1, 60, 2)
    with stopped():
        assert [memory.take("a", rate).allowed for _ in range(3)] == [True, True, False]
        assert [memory.take("b", rate).allowed for _ in range(3)] == [True, True, False]


def test_a_key_whose_rate_changes_is_held_to_the_new_one_and_back_to_the_old() -> None:
    memory = MemoryLimiter()
    with stopped():
        assert [memory.take("a", Rate(1, 60, 1)).allowed for _ in range(2)] == [True, False]
        assert sum(memory.take("a", Rate(1, 60, 5)).allowed for _ in range(9)) == 5
        assert not memory.take("a", Rate(1, 60, 1)).allowed


def test_a_process_of_several_lets_its_share_through() -> None:
    memory, rate = MemoryLimiter(4), Rate(100, 1, 200)
    with stopped() as clock:
        assert sum(memory.take("a", rate).allowed for _ in range(99)) == 50
        clock.now += 1
        assert sum(memory.take("a", rate).allowed for _ in range(99)) == 25


def test_a_share_is_never_less_than_one_request_at_once() -> None:
    memory, rate = MemoryLimiter(8), Rate(1, 1, 1)
    with stopped() as clock:
        assert [memory.take("a", rate).allowed for _ in range(2)] == [True, False]
        clock.now += 8
        assert [memory.take("a", rate).allowed for _ in range(2)] == [True, False]
