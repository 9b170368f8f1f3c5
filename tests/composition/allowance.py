"""What the rate of the narrow key must let through at a service: its burst, whatever the requests are answered."""

from tests.composition.request import Sent
from tests.composition.target import Place
from tests.composition.terms import BURST, KEY, NARROW_KEY
from tests.web.reply import Reply


class Allowance:
    """Counts requests of the narrow key. Each worker may let through its share alone, all together no more than all."""

    def __init__(self, workers: int) -> None:
        self._least = BURST // workers
        self._passed = self._refused = 0

    def note(self, sent: Sent, reply: Reply) -> None:
        """Count an answer. Raises `AssertionError` where too much passed."""
        request = sent.request
        judged = request.target.place is Place.ANSWERED and request.method in ("GET", "HEAD")
        if judged and request.field(KEY) == NARROW_KEY:
            self._refused += reply.status == 429
            self._passed += reply.status != 429
            assert self._passed <= BURST, f"rate: {self._passed} requests of {BURST} are let through, with {sent}"

    def check(self) -> None:
        """Fail where requests were refused before what is allowed had passed."""
        enough = not self._refused or self._passed >= self._least
        assert enough, f"rate: requests are refused after {self._passed}, though {self._least} are allowed"
