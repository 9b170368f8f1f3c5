"""A bound on what a shared rate store can allow, known without asking it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

import msgspec

from service.access.memory_limiter import MemoryLimiter
from service.access.request_rate import Rate
from service.access.token_bucket import RateDecision


class LocalBound:
    """Refuses requests that the rate store would refuse as well, without a round trip.

    For each key it knows what the store allowed this process and what is pending; other processes may have had more.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._allowed = MemoryLimiter(clock=clock)
        self._pending: Counter[tuple[str, Rate]] = Counter()

    def refusal(self, name: str, rate: Rate) -> RateDecision | None:
        """Return the refusal of a request that the store would refuse, else None."""
        left = self._allowed.peek(name, rate)
        if left.remaining > self._pending[name, rate]:
            return None
        return msgspec.structs.replace(left, allowed=False, remaining=0)

    @contextmanager
    def pending(self, name: str, rate: Rate) -> Iterator[None]:
        """Count a request as one that may be allowed, until the store has decided."""
        self._pending[name, rate] += 1
        try:
            yield
        finally:
            self._pending[name, rate] -= 1
            if not self._pending[name, rate]:
                del self._pending[name, rate]

    def record(self, name: str, rate: Rate, decision: RateDecision) -> None:
        """Count a decision of the store. A refused request costs nothing there either."""
        if decision.allowed:
            self._allowed.take(name, rate)
