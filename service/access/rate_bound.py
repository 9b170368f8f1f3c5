"""What at most passes of a key, whatever a store says."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from service.access.memory_limiter import MemoryLimiter
from service.access.rate_decision import RateDecision
from service.access.request_rate import Rate


class RateBound:
    """Refuses what a store of rates would refuse, without asking it.

    Of a key it knows what the store let through to this process, and what it is being asked; others may have had more.
    """

    def __init__(self) -> None:
        self._passed = MemoryLimiter()
        self._asked: Counter[tuple[str, Rate]] = Counter()

    def refusal(self, name: str, rate: Rate) -> RateDecision | None:
        """Return the refusal of a request, where the store would refuse it."""
        left = self._passed.peek(name, rate)
        if left.remaining > self._asked[name, rate]:
            return None
        return msgspec.structs.replace(left, allowed=False, remaining=0)

    @contextmanager
    def asking(self, name: str, rate: Rate) -> Iterator[None]:
        """Count a request as one that may pass, until the store has decided."""
        self._asked[name, rate] += 1
        try:
            yield
        finally:
            self._asked[name, rate] -= 1
            if not self._asked[name, rate]:
                del self._asked[name, rate]

    def heed(self, name: str, rate: Rate, taken: RateDecision) -> None:
        """Count what the store decided: what it refused costs nothing there either."""
        if taken.allowed:
            self._passed.take(name, rate)
