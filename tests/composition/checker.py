"""The checker of replies: each must be right for one of the data sets that may be served at the moment."""

from collections.abc import Sequence
from typing import Final

import orjson

from tests.composition.configurations import LOW_RATE_KEY, Configuration
from tests.composition.editions import Edition
from tests.composition.expected import SOME, Expected
from tests.composition.expected_replies import Case, expected_reply
from tests.composition.ledger import Contradiction, Ledger
from tests.composition.request import REQUEST_ID, Sent
from tests.web.reply import Reply

_UNDUE: Final = {
    304: ("not modified", "the request does not name what would be sent now"),
    412: ("precondition", "the request names what would be sent now"),
}


class Violation(AssertionError):
    """A reply breaks a promise, which the first word of the message names."""

    def __init__(self, promise: str, why: str, sent: Sent, reply: Reply, earlier: Sequence[Sent]) -> None:
        shown = [f"{promise}: {why}", str(sent), *(f"  < {line}" for line in _head(reply))]
        shown += [f"earlier, {each}" for each in earlier]
        super().__init__("\n".join(shown))
        self.promise = promise


class Checker:
    """Checks replies against the oracle, and against all earlier replies."""

    def __init__(self) -> None:
        self.ledger = Ledger()

    def check(self, sent: Sent, reply: Reply, editions: Sequence[Edition], config: Configuration) -> Edition:
        """Return the data set that a reply is from, the first one that fits. Raises `Violation`.

        `editions` are those that may be served, in the order of publication.
        """
        if reply.headers.get(REQUEST_ID) != sent.identifier:
            raise self._violation("order", "this is the reply to another request", sent, reply)
        version = reply.headers.get("X-Dataset-Version")
        violations = []
        for edition in editions:
            if version in (None, edition.version):
                try:
                    self._check(sent, reply, edition, config)
                except Violation as violation:
                    violations.append(violation)
                else:
                    return edition
        if not violations:
            raise self._violation("version", f"version {version} is not to be served any more, or not yet", sent, reply)
        raise violations[-1]

    def _check(self, sent: Sent, reply: Reply, edition: Edition, config: Configuration) -> None:
        limited = reply.status == 429 and sent.request.key == LOW_RATE_KEY
        busy = reply.status == 503 and sent.contended and config.impatient
        wanted = expected_reply(Case(sent, edition, config, self.ledger, limited, busy))
        if reply.status != wanted.status:
            promise, why = _UNDUE.get(reply.status, ("status", "wrong status"))
            raise self._violation(promise, f"{why}: {reply.status}, expected {wanted.status}", sent, reply)
        if sent.request.method != "HEAD":
            self._check_body(sent, reply, wanted)
        length = reply.headers.get("Content-Length")
        is_known = wanted.plain is not None and reply.coding == "identity" and "Content-Length" not in wanted.fields
        if wanted.plain is not None and is_known and length != str(len(wanted.plain)):
            raise self._violation("length", f"Content-Length is {length}, expected {len(wanted.plain)}", sent, reply)
        if wanted.tagged:
            self._check_tag(sent, reply, wanted)
        self._check_fields(sent, reply, wanted)

    def _check_body(self, sent: Sent, reply: Reply, wanted: Expected) -> None:
        if wanted.plain is not None:
            known = any(self.ledger.holds(variant, reply.body) for variant in wanted.tagged)
            if not known and _decoded(reply) != wanted.plain:
                raise self._violation("body", "the decoded body is not that of the oracle", sent, reply)
        elif wanted.members is None:
            if reply.body:
                raise self._violation("body", "the body is not empty", sent, reply)
        elif not _has(reply.body, wanted):
            why = f"the object is {reply.body.decode()}, expected {wanted.members}"
            raise self._violation("error", why, sent, reply)

    def _check_tag(self, sent: Sent, reply: Reply, wanted: Expected) -> None:
        tag = reply.headers.get("ETag", "")
        variant = self.ledger.tagged(tag)
        length = int(reply.headers["Content-Length"]) if "Content-Length" in reply.headers else None
        raw = reply.body if wanted.plain is not None and sent.request.method == "GET" else None
        if variant is None or variant not in wanted.tagged:
            variant = next(iter(wanted.tagged))  # a contradiction, unless the tag is new
        try:
            self.ledger.enter(variant, tag, sent, length=length, raw=raw)
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
        """Return a violation with the earlier requests that matter: the first for each tag in the request or reply."""
        named = [reply.headers.get("ETag", ""), *sent.request.tags]
        first = {each.number: each for each in (*earlier, *map(self.ledger.first, named)) if each is not None}
        return Violation(promise, why, sent, reply, [each for each in first.values() if each is not sent])


def _head(reply: Reply) -> list[str]:
    return [str(reply.status), *(f"{name}: {value}" for name, value in reply.headers.items())]


def _decoded(reply: Reply) -> bytes | None:
    """Return the decoded body, None if it is not in its coding."""
    try:
        return reply.plain
    except Exception:  # noqa: BLE001 - each library has errors of its own
        return None


def _has(body: bytes, wanted: Expected) -> bool:
    """Return whether a body is an object of exactly the expected members."""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        return False
    members = wanted.members or {}
    return (
        isinstance(given, dict)
        and given.keys() == members.keys()
        and all(
            isinstance(given[name], str | dict) and given[name] if value is SOME else given[name] == value
            for name, value in members.items()
        )
    )
