"""The answers that clients got: each is checked, and counted by what it was."""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from email.message import Message
from hashlib import sha256
from http import HTTPStatus
from threading import Lock
from types import MappingProxyType
from typing import Final

import msgspec

from bench.samples import Edition
from bench.shapes import KEY
from tests.web.reply import DECODERS

_MARK: Final = re.compile(rb'"name":"(g\d+ |)')
_MAX_REPORTED: Final = 20
_KEYED: Final[Mapping[str, str]] = MappingProxyType({"x-api-key": KEY})
_VARNISH_ERROR: Final = b"Backend fetch failed"


class Sent(msgspec.Struct, frozen=True):
    """A request; the version of the data of its entity tag, and that in its X-Dataset-Version, if it has them.

    `status` is what it is answered with; of one that is not for data, that is all that is checked.
    """

    target: str
    tag_version: str = ""
    pinned_version: str = ""
    status: int = HTTPStatus.OK
    method: str = "GET"
    fields: Mapping[str, str] = _KEYED
    has_data: bool = True


class Ledger:
    """Checks and counts answers; may be used by many threads.

    An answer is counted as

    complete  all of it is as expected. Also counted are, of these, each status; `moved`: 412 to X-Dataset-Version,
              as another version is served; and HIT, MISS and REVALIDATED: what Varnish did
    cut       it is incomplete, which the client notices; or Varnish knew soon enough to send a 503 instead
    failed    there is none, or one with another status
    mixed     its content is not of the edition that X-Dataset-Version says, or not that of another answer to the same
              request from this edition

    problems   the first of those that failed or are mixed
    last_seen  when an edition was last served, by its version
    """

    def __init__(self, editions: Sequence[Edition]) -> None:
        self._marks = {edition.version: edition.mark for edition in editions}
        self._first: dict[tuple[str, str, str], tuple[str, bytes]] = {}
        self._lock, self._counts = Lock(), Counter[str]()
        self.problems: list[str] = []
        self.last_seen: dict[str, float] = {}

    def take(self) -> Counter[str]:
        """Return the counts since the last call."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken

    def problem(self, kind: str, sent: Sent, why: str) -> None:
        """Count a problem of a kind."""
        self.count(kind)
        with self._lock:
            self.problems += [f"{kind}: {sent.target}: {why}"] if len(self.problems) < _MAX_REPORTED else []

    def check(self, sent: Sent, status: int, fields: Message, body: bytes) -> None:
        """Check and count a whole answer."""
        version, cache = fields.get("X-Dataset-Version", ""), fields.get("x-cache")
        if status == HTTPStatus.SERVICE_UNAVAILABLE and _VARNISH_ERROR in body:
            self.count("cut")
        elif not _is_expected(sent, status, version):
            self.problem("failed", sent, f"{status} {body[:200]!r}")
        elif not sent.has_data:
            self.count("complete", str(status))
        elif version not in self._marks:
            self.problem("mixed", sent, f"no edition has the version {version!r}")
        elif status == HTTPStatus.OK and (why := self._mixture(sent, version, fields, body)):
            self.problem("mixed", sent, why)
        elif status == HTTPStatus.NOT_MODIFIED and version != sent.tag_version:
            self.problem("mixed", sent, f"304 of {version} to a tag of {sent.tag_version}")
        else:
            moved = ["moved"] if status == HTTPStatus.PRECONDITION_FAILED else []
            self.count("complete", str(status), *moved, *([cache] if cache else []))
            self.last_seen[version] = time.monotonic()

    def count(self, *kinds: str) -> None:
        """Count an answer."""
        with self._lock:
            self._counts.update(kinds)

    def _mixture(self, sent: Sent, version: str, fields: Message, body: bytes) -> str:
        """Return what is mixed in a 200; empty if nothing is."""
        coding = fields.get("Content-Encoding", "")
        content = DECODERS[coding](body) if coding else body
        marks = _MARK.findall(content)
        if set(marks) - {self._marks[version]}:
            return f"{version} with {Counter(marks)}"
        if len(marks) != int(fields.get("X-Total-Count", len(marks))):
            return f"{len(marks)} of {fields['X-Total-Count']} records"
        found = (fields["ETag"], sha256(body).digest())
        with self._lock:
            first = self._first.setdefault((sent.target, version, coding), found)
        return "" if found == first else f"other bytes or another tag than earlier: {found[0]}, {first[0]}"


def _is_expected(sent: Sent, status: int, version: str) -> bool:
    if status == HTTPStatus.PRECONDITION_FAILED:
        return bool(sent.pinned_version) and version != sent.pinned_version
    if status == HTTPStatus.NOT_MODIFIED:
        return bool(sent.tag_version)
    return status == sent.status and sent.pinned_version in ("", version)
