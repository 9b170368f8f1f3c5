"""What was mixed, in numbers; a run that lacks a kind of answer proves nothing of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from tests.composition.request import Sent
from tests.composition.terms import KEY, NARROW_KEY
from tests.web.reply import Reply

_LONG: Final = 32 << 10
# How many of each kind there must be at least in every thousand requests.
NEEDED: Final[Mapping[str, float]] = {
    **dict.fromkeys(("status 200", "method HEAD", "pipelined"), 100),
    **dict.fromkeys(("coding identity", "coding gzip", "coding br", "coding zstd"), 20),
    **dict.fromkeys(("304 by tag", "status 412"), 10),
    **dict.fromkeys(("status 307", "status 401", "status 404", "status 405", "status 422", "status 429"), 3),
    **dict.fromkeys(("304 by *", "304 by date", "coded over 32 KiB", "problem details", "strict"), 3),
    **dict.fromkeys(("status 204", "narrow key let through", "connection closed", "reloads", "answers of old data"), 1),
}


class Tally(Counter[str]):
    """Counts of what was met."""

    def note(self, sent: Sent, reply: Reply, *, old: bool) -> None:
        """Count an answer, which may be of old data: while a reload is under way."""
        self.update(_kinds(sent, reply))
        self["answers of old data"] += old

    def lacking(self) -> dict[str, int]:
        """Return how often each kind was met that was met too seldom."""
        thousands = self["requests"] / 1000
        return {kind: self[kind] for kind, least in NEEDED.items() if self[kind] < int(least * thousands)}

    def __str__(self) -> str:
        """Return the counts, sorted."""
        return ", ".join(f"{kind}: {count:,}" for kind, count in sorted(self.items()))


def _kinds(sent: Sent, reply: Reply) -> Iterator[str]:
    request = sent.request
    yield "requests"
    yield f"requests to {sent.service}"
    yield f"status {reply.status}"
    yield f"method {request.method}"
    yield f"resource {request.target.question.resource}"
    if reply.status == 200:
        yield f"coding {reply.coding}"
    if reply.status == 304:
        named = request.field("If-None-Match")
        yield f"304 by {'tag' if named not in ('', '*') else named or 'date'}"
    if reply.coding != "identity" and len(reply.body) and len(reply.plain) > _LONG:
        yield "coded over 32 KiB"
    if reply.headers.get("Content-Type") == "application/problem+json":
        yield "problem details"
    if "Preference-Applied" in reply.headers:
        yield "strict"
    if sent.closes:
        yield "connection closed"
    if request.field(KEY) == NARROW_KEY and reply.status in (200, 304, 412, 422):
        yield "narrow key let through"
