"""The checker of answers: each must be that which a request deserves of one of the data sets that may be served."""

from collections.abc import Sequence
from typing import Final

import orjson

from tests.composition.editions import Edition
from tests.composition.expected import SOME, Expected
from tests.composition.judgement import Case, judge
from tests.composition.ledger import Contradiction, Ledger
from tests.composition.request import REQUEST_ID, Sent
from tests.composition.terms import NARROW_KEY, Terms
from tests.web.reply import Reply

_UNDUE: Final = {
    304: ("not modified", "nothing that the request names is what would be sent now"),
    412: ("precondition", "what the request names is what would be sent now"),
}


class Violation(AssertionError):
    """An answer that breaks a promise, which is the text before the first colon of its message."""

    def __init__(self, promise: str, why: str, sent: Sent, reply: Reply, earlier: Sequence[Sent]) -> None:
        shown = [f"{promise}: {why}", str(sent), *(f"  < {line}" for line in _head(reply))]
        shown += [f"earlier, {each}" for each in earlier]
        super().__init__("\n".join(shown))
        self.promise = promise


class Checker:
    """Checks answers against the model, and against all answers before."""

    def __init__(self) -> None:
        self.ledger = Ledger()

    def check(self, sent: Sent, reply: Reply, editions: Sequence[Edition], terms: Terms) -> Edition:
        """Return the data set that an answer is of, the first where it may be of several. Raises `Violation`.

        `editions` are those that may be served, by when they were published.
        """
        if reply.headers.get(REQUEST_ID) != sent.identifier:
            raise self._violation("order", "the answer is not that to this request", sent, reply)
        version = reply.headers.get("X-Dataset-Version")
        violations = []
        for edition in editions:
            if version in (None, edition.version):
                try:
                    self._check(sent, reply, edition, terms)
                except Violation as violation:
                    violations.append(violation)
                else:
                    return edition
        if not violations:
            raise self._violation("version", f"data of version {version} is not served now", sent, reply)
        raise violations[-1]

    def _check(self, sent: Sent, reply: Reply, edition: Edition, terms: Terms) -> None:
        limited = reply.status == 429 and sent.request.field("x-api-key") == NARROW_KEY
        wanted = judge(Case(sent.request, edition, terms, self.ledger, limited))
        if reply.status != wanted.status:
            promise, why = _UNDUE.get(reply.status, ("status", "the status is another"))
            raise self._violation(promise, f"{why}: {reply.status}, expected {wanted.status}", sent, reply)
        if sent.request.method != "HEAD":
            self._check_body(sent, reply, wanted)
        if wanted.tagged:
            self._check_tag(sent, reply, wanted)
        self._check_fields(sent, reply, wanted)

    def _check_body(self, sent: Sent, reply: Reply, wanted: Expected) -> None:
        if wanted.plain is not None:
            (representation,) = wanted.tagged
            if not self.ledger.holds(representation, reply.body) and _decoded(reply) != wanted.plain:
                raise self._violation("body", "the decoded body is not the plain answer", sent, reply)
        elif wanted.members is None:
            if reply.body:
                raise self._violation("body", "there is a body", sent, reply)
        elif not _has(reply.body, wanted):
            why = f"the error is {reply.body.decode()}, expected {wanted.members}"
            raise self._violation("error", why, sent, reply)

    def _check_tag(self, sent: Sent, reply: Reply, wanted: Expected) -> None:
        tag = reply.headers.get("ETag", "")
        representation = self.ledger.tagged(tag)
        length = int(reply.headers["Content-Length"]) if "Content-Length" in reply.headers else None
        raw = reply.body if wanted.plain is not None and sent.request.method == "GET" else None
        if representation is None or representation not in wanted.tagged:
            representation = next(iter(wanted.tagged))  # and is refused unless the tag is a new one
        if representation.coding == "identity" and wanted.plain is not None and length != len(wanted.plain):
            raise self._violation("length", f"Content-Length is {length}, expected {len(wanted.plain)}", sent, reply)
        try:
            self.ledger.enter(representation, tag, sent, length=length, raw=raw)
        except Contradiction as found:
            raise self._violation("tag", str(found), sent, reply, found.earlier) from None

    def _check_fields(self, sent: Sent, reply: Reply, wanted: Expected) -> None:
        for name, value in wanted.fields.items():
            given = reply.headers.getall(name, [])
            if given != ([] if value is None else [value]) and not (value is SOME and len(given) == 1 and given[0]):
                raise self._violation("fields", f"{name} is {given}, expected {value}", sent, reply)
        missing = wanted.vary - reply.listed("Vary")
        if missing:
            raise self._violation("fields", f"Vary lacks {sorted(missing)}", sent, reply)

    def _violation(self, promise: str, why: str, sent: Sent, reply: Reply, *earlier: Sent) -> Violation:
        """Return a violation, with the requests that first met the tags that the answer and its request name."""
        named = [reply.headers.get("ETag", ""), *sent.request.tags]
        first = {each.number: each for each in (*earlier, *map(self.ledger.first, named)) if each is not None}
        return Violation(promise, why, sent, reply, [each for each in first.values() if each is not sent])


def _head(reply: Reply) -> list[str]:
    return [str(reply.status), *(f"{name}: {value}" for name, value in reply.headers.items())]


def _decoded(reply: Reply) -> bytes | None:
    """Return the body without its coding, None where it is not of that coding."""
    try:
        return reply.plain
    except Exception:  # noqa: BLE001 - each library has errors of its own
        return None


def _has(body: bytes, wanted: Expected) -> bool:
    """Return whether the body of an error is an object of just the members that are wanted."""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    members = wanted.members or {}
    return (
        isinstance(given, dict)
        and given.keys() == members.keys()
        and all(
            isinstance(given[name], str) and given[name] if value is SOME else given[name] == value
            for name, value in members.items()
        )
    )
