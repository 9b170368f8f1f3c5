"""Refusals without asking the rate store, compared with the store."""

from contextlib import ExitStack

from hypothesis import given, settings, strategies as st

from service.access.rate_limiter import LocalBound
from service.access.token_bucket import MemoryLimiter, Rate
from tests.access.gcra_model import Clock

RATES = st.builds(Rate, st.sampled_from((1, 2, 4)), st.sampled_from((1, 60)), st.integers(1, 6))


@settings(max_examples=100)
@given(RATES, st.lists(st.tuples(st.integers(0, 200), st.booleans()), min_size=1, max_size=60))
def test_the_store_would_refuse_what_is_refused_locally_for_at_least_as_long(
    rate: Rate, steps: list[tuple[int, bool]]
) -> None:
    clock = Clock()
    bound, store = LocalBound(clock=clock), MemoryLimiter(clock=clock)  # another process uses the store as well
    for step, ours in steps:
        clock.now += step / 64
        if not ours:
            store.take("a", rate)
        elif refusal := bound.refusal("a", rate):
            refused = store.take("a", rate)
            assert not refused.allowed
            assert refusal.seconds <= refused.seconds
        else:
            with bound.pending("a", rate):
                bound.record("a", rate, store.take("a", rate))


@given(RATES, st.integers(1, 20))
def test_for_a_single_process_it_refuses_exactly_what_the_store_would(rate: Rate, requests: int) -> None:
    clock = Clock()
    bound, store = LocalBound(clock=clock), MemoryLimiter(clock=clock)
    for _ in range(requests):
        refusal = bound.refusal("a", rate)
        decision = store.take("a", rate)
        assert (refusal is None) is decision.allowed
        assert refusal in (None, decision)
        bound.record("a", rate, decision)


def test_pending_requests_are_limited_to_the_burst_and_failed_ones_cost_nothing() -> None:
    clock = Clock()
    bound, rate = LocalBound(clock=clock), Rate(1, 60, 3)
    for _ in range(2):
        with ExitStack() as pending:
            for _ in range(3):
                assert bound.refusal("a", rate) is None
                pending.enter_context(bound.pending("a", rate))
            refusal = bound.refusal("a", rate)
            assert refusal is not None
            assert (refusal.allowed, refusal.remaining, refusal.seconds) == (False, 0, 60)
            assert bound.refusal("b", rate) is None
