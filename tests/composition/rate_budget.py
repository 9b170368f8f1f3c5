"""The number of requests of the low-rate key that a service accepts: its burst, whatever their replies are."""

from tests.composition.configurations import BURST, LOW_RATE_KEY
from tests.composition.request import Sent
from tests.composition.target import PathKind
from tests.web.reply import Reply


class RateBudget:
    """Counts requests of the low-rate key: at least one worker's share, at most the burst."""

    def __init__(self, workers: int) -> None:
        self._least = BURST // workers
        self._accepted = self._rejected = 0

    def note(self, sent: Sent, reply: Reply) -> None:
        """Count a reply. Raises `AssertionError` if too many requests were accepted."""
        request = sent.request
        limited = request.target.kind is PathKind.RESOURCE and request.method in ("GET", "HEAD")
        if limited and request.key == LOW_RATE_KEY:
            self._rejected += reply.status == 429
            self._accepted += reply.status != 429
            assert self._accepted <= BURST, f"rate: {self._accepted} requests are accepted of {BURST}; {sent}"

    def check(self) -> None:
        """Raise `AssertionError` if requests were rejected too early."""
        enough = not self._rejected or self._accepted >= self._least
        assert enough, f"rate: requests are rejected after {self._accepted}, {self._least} are allowed"
