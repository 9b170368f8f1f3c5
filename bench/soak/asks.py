"""What is asked, and what is kept of the answers: one question has one answer for one version of the data."""

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from threading import Lock
from types import MappingProxyType
from typing import Final

import msgspec

from bench.wire.shapes import KEY

_MOST_TOLD: Final = 20
_EDITIONS: Final = 2
_LET_IN: Final[Mapping[str, str]] = MappingProxyType({"x-api-key": KEY})


class Ask(msgspec.Struct, frozen=True):
    """A request, the status that it earns, and whether it asks on condition of what its client has."""

    target: str
    status: int = 200
    method: str = "GET"
    fields: Mapping[str, str] = _LET_IN
    conditional: bool = False


def _packed(coding: str) -> Mapping[str, str]:
    return {**_LET_IN, "Accept-Encoding": coding}


def asks(company: str) -> list[Ask]:
    """Return every kind of request; `company` is the identifier of one that there is."""
    targets = [
        "/stores?limit=100",
        "/stores?country=CA&sort_by=name&sort_order=desc&limit=50",
        "/stores?city=Toronto&city=Ottawa&is_open=true",
        "/stores?sort_by=latitude&limit=20&page_num=7",
        "/companies?sort_by=name&limit=200",
        f"/stores?company_id={company}",
        f"/companies/{company}",
    ]
    of_data = [Ask(target) for target in targets]
    packed = [Ask(target, fields=_packed(coding)) for target in targets[:5] for coding in ("gzip", "zstd", "br")]
    conditional = [Ask(target, conditional=True) for target in targets]
    heads = [Ask(target, method="HEAD") for target in targets]
    others = [Ask(target, fields={}) for target in ("/health", "/ready", "/metrics", "/openapi.json", "/docs")]
    refused = [
        Ask("/stores", 401, fields={}),
        Ask("/companies", 401, fields={"x-api-key": "wrong"}),
        Ask("/nowhere", 404),
        Ask("/companies/nobody", 404),
        Ask("/stores?limit=0&sort_by=x&is_open=maybe", 422),
        Ask("/stores?colour=red", 422, fields={**_LET_IN, "Prefer": "handling=strict"}),
        Ask("/stores", 405, method="POST"),
    ]
    return [*of_data, *packed, *conditional, *heads, *others, *refused]


class Ledger:
    """What the answers of one service were, told by many threads.

    statuses  how many answers there were of each
    failures  the first answers, or lack of them, that were not in order
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._bodies: dict[tuple[str, str, str], bytes] = {}
        self._versions: set[str] = set()
        self.statuses: Counter[int] = Counter()
        self.failed = 0
        self.failures: list[str] = []

    def fail(self, why: str) -> None:
        """Count what was not in order."""
        with self._lock:
            self.failed += 1
            self.failures += [why] if len(self.failures) < _MOST_TOLD else []

    def told(self, ask: Ask, status: int, fields: Mapping[str, str], body: bytes) -> None:
        """Judge an answer."""
        with self._lock:
            self.statuses[status] += 1
        if status != ask.status and not (ask.conditional and status in (200, 304)):
            self.fail(f"{ask.method} {ask.target}: {status} instead of {ask.status}")
        elif status == ask.status and (version := fields.get("X-Dataset-Version")) and ask.method != "HEAD":
            self._hold(ask.target, version, fields, body)

    def _hold(self, target: str, version: str, fields: Mapping[str, str], body: bytes) -> None:
        """Hold an answer against the first one to the same question of the same version."""
        key, digest = (target, version, fields.get("Content-Encoding", "")), sha256(body).digest()
        with self._lock:
            self._versions.add(version)
            first = self._bodies.setdefault(key, digest)
        if first != digest or len(self._versions) > _EDITIONS:
            self.fail(f"{target}: another answer of version {version}")
