"""What is refused without asking the store, held against the store that it spares."""

from contextlib import ExitStack

from hypothesis import given, settings, strategies as st

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_bound import RateBound
from service.access.request_rate import Rate
from tests.access.gcra_model import stopped

RATES = st.builds(Rate, st.sampled_from((1, 2, 4)), st.sampled_from((1, 60)), st.integers(1, 6))


@settings(max_examples=100)
@given(RATES, st.lists(st.tuples(st.integers(0, 200), st.booleans()), min_size=1, max_size=60))
def test_what_is_refused_the_store_would_refuse_too_and_no_more_is_told_to_wait(
    rate: Rate, steps: list[tuple[int, bool]]
) -> None:
    bound, store = RateBound(), MemoryLimiter()  # which another process asks, too
    with stopped() as clock:
        for step, ours in steps:
            clock.now += step / 64
            if not ours:
                store.take("a", rate)
            elif refusal := bound.refusal("a", rate):
                refused = store.take("a", rate)
                assert not refused.allowed
                assert refusal.seconds <= refused.seconds
            else:
                with bound.asking("a", rate):
                    bound.heed("a", rate, store.take("a", rate))


@given(RATES, st.integers(1, 20))
def test_alone_it_refuses_what_the_store_would(rate: Rate, requests: int) -> None:
    bound, store = RateBound(), MemoryLimiter()
    with stopped():
        for _ in range(requests):
            refusal = bound.refusal("a", rate)
            taken = store.take("a", rate)
            assert (refusal is None) is taken.allowed
            assert refusal in (None, taken)
            bound.heed("a", rate, taken)


def test_who_asks_at_once_may_be_as_many_as_the_burst_and_what_fails_costs_nothing() -> None:
    bound, rate = RateBound(), Rate(1, 60, 3)
    with stopped():
        for _ in range(2):
            with ExitStack() as asked:
                for _ in range(3):
                    assert bound.refusal("a", rate) is None
                    asked.enter_context(bound.asking("a", rate))
                refusal = bound.refusal("a", rate)
                assert refusal is not None
                assert (refusal.allowed, refusal.remaining, refusal.seconds) == (False, 0, 60)
                assert bound.refusal("b", rate) is None
