"""What a session covered: what never occurred was not tested; and how many requests of the low-rate key it accepted."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from tests.composition.configurations import BURST, LOW_RATE_KEY, REVOKED_KEY, WEBSITES
from tests.composition.questions import OPEN_AT
from tests.composition.request import HTTP_1_0, Request, Sent
from tests.composition.target import PathKind
from tests.declared_attributes import PREFIX
from tests.web.reply import Reply

_LONG: Final = 32 << 10
_MOST_IGNORED: Final = 8
_TIMES: Final = {"created_at": "times", "updated_at": "times", OPEN_AT: OPEN_AT}
_MAP: Final = "/clusters"
# A kind of which fewer are needed may be missing by chance: which requests are drawn depends on the replies before.
_JUDGED: Final = 4
# Kind -> how many there are at least in every thousand requests of a long session; half of them must be in any.
NEEDED: Final[Mapping[str, float]] = {
    **dict.fromkeys(("status 200", "method HEAD", "pipelined"), 100),
    **dict.fromkeys(("coding identity", "coding gzip", "coding br", "coding zstd"), 20),
    **dict.fromkeys(("304 by tag", "status 412", "ignored parameters"), 10),
    **dict.fromkeys(("304 with ignored parameters", "many ignored parameters"), 1),
    **dict.fromkeys(("status 307", "status 401", "status 404", "status 405", "status 422", "status 429"), 3),
    **dict.fromkeys(("304 by *", "coded over 32 KiB", "problem details", "strict"), 3),
    **dict.fromkeys((f"{kind} of a map" for kind in ("status 200", "method HEAD")), 5),
    **dict.fromkeys((f"{kind} of a map" for kind in ("304 by tag", "status 401", "status 412", "strict")), 1),
    **dict.fromkeys((f"{kind} of a map" for kind in ("coding gzip", "coding br", "status 422")), 0.5),
    "file 200": 10,
    **dict.fromkeys(("file in identity", "file in zstd", "file in br", "file in gzip"), 7),
    **dict.fromkeys(("304 by date", "file 304", "file 412", "page of GeoJSON in identity"), 2),
    **dict.fromkeys((f"page of GeoJSON in {coding}" for coding in ("zstd", "br", "gzip")), 0.5),
    **dict.fromkeys(("HTTP/1.0 kept alive", "HTTP/1.0 closed"), 5),
    "HTTP/1.0 file 200 closed": 0.5,
    "HTTP/1.0 file 304 kept alive": 0.005,
    **dict.fromkeys(("start of a browser", "start of a client"), 0.5),
    **dict.fromkeys((f"{each} with filters of attributes" for each in (200, 422)), 1),
    **dict.fromkeys((f"304 with filters of attributes{each}" for each in ("", ", ignored")), 0.1),
    "200 with filters of attributes, ignored": 1,
    **dict.fromkeys(("200 with times", "304 with times", "200 with open_at", "304 with open_at"), 0.1),
    "embedded 200": 5,
    **dict.fromkeys((f"embedded {each}" for each in ("304", "in identity", "in gzip", "in br", "in zstd")), 0.2),
    "documents 200": 0.5,
    "resource /places": 10,
    "documents 304": 0.2,
    **dict.fromkeys(
        (f"public key in the {place} {status}" for place in ("query", "field") for status in (200, 403)), 2
    ),
    **dict.fromkeys(
        ("public key in the query 304", "public key in the query 412", "revoked key in the query 401"), 0.5
    ),
    **dict.fromkeys(
        ("status 204", "status 503", "low rate accepted", "connection closed", "reloads", "old data during a reload"), 1
    ),
}


class CoverageCounters(Counter[str]):
    """The number of requests and replies of each kind."""

    def note(self, sent: Sent, reply: Reply, *, old: bool) -> None:
        """Count a reply; `old` if it is from the data before a reload that is in progress."""
        kinds = list(_kinds(sent, reply))
        self.update(kinds)
        if sent.request.target.question.resource == _MAP:
            self.update(f"{kind} of a map" for kind in kinds)
        self["old data during a reload"] += old

    def missing(self) -> dict[str, int]:
        """Return the counts that are too low, but for those that luck explains."""
        thousands = self["requests"] / 1000
        needed = {kind: least * thousands for kind, least in NEEDED.items()}
        return {kind: self[kind] for kind, least in needed.items() if least >= _JUDGED and self[kind] < least / 2}

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
        yield f"304 with{'' if 'X-Ignored-Parameters' in reply.headers else 'out'} ignored parameters"
    if reply.coding != "identity" and len(reply.body) and len(reply.plain) > _LONG:
        yield "coded over 32 KiB"
    if reply.headers.get("Content-Type") == "application/problem+json":
        yield "problem details"
    if ignored := reply.headers.get("X-Ignored-Parameters"):
        yield "many ignored parameters" if ignored.count(",") == _MOST_IGNORED - 1 else "ignored parameters"
    yield from {f"{reply.status} with {_TIMES[name]}" for name, _ in request.target.question.pairs if name in _TIMES}
    if request.key in (*WEBSITES, REVOKED_KEY):
        place = "query" if request.named else "field"
        yield f"{'public' if request.key in WEBSITES else 'revoked'} key in the {place} {reply.status}"
    if PREFIX in str(request.target.names):
        yield f"{reply.status} with filters of attributes{', ignored' if PREFIX in (ignored or '') else ''}"
    if "Preference-Applied" in reply.headers:
        yield "strict"
    if request.key == LOW_RATE_KEY and reply.status in (200, 304, 412, 422):
        yield "low rate accepted"
    yield from _formats(sent.request, reply)
    yield from _connections(sent, reply)


def _connections(sent: Sent, reply: Reply) -> Iterator[str]:
    if not sent.persists:
        yield "connection closed"
    if sent.version == HTTP_1_0:
        kept = "kept alive" if "Connection" in reply.headers else "closed"
        yield f"HTTP/1.0 {kept}"
        if sent.request.target.question.is_file:
            yield f"HTTP/1.0 file {reply.status} {kept}"


def _formats(request: Request, reply: Reply) -> Iterator[str]:
    if request.target.question.is_file:
        yield f"file {reply.status}"
        yield f"file in {reply.coding}"
    if request.target.kind is PathKind.START and reply.status in (200, 307):
        yield "start of a browser" if reply.status == 307 else "start of a client"
    if request.target.kind is PathKind.EMBED and reply.status in (200, 304):
        yield f"embedded {reply.status}"
        yield f"embedded in {reply.coding}"
    if request.method == "GET" and reply.status == 200 and b"numberMatched" in reply.plain[:99]:
        yield f"page of GeoJSON in {reply.coding}"


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
