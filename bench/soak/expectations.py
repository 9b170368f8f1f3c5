"""The requests of the soak test, and the check that each has the same response on the same version of the data."""

from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from threading import Lock
from types import MappingProxyType
from typing import Final

import msgspec

from bench.wire.shapes import KEY

_MAX_REPORTED: Final = 20
_EDITIONS: Final = 2
_AUTHENTICATED: Final[Mapping[str, str]] = MappingProxyType({"x-api-key": KEY})


class Request(msgspec.Struct, frozen=True):
    """A request, the expected status, and whether it has the condition If-None-Match."""

    target: str
    status: int = 200
    method: str = "GET"
    fields: Mapping[str, str] = _AUTHENTICATED
    conditional: bool = False


def _accepting(coding: str) -> Mapping[str, str]:
    return {**_AUTHENTICATED, "Accept-Encoding": coding}


def every_request(company: str) -> list[Request]:
    """Return every kind of request; `company` is the identifier of an existing company."""
    targets = [
        "/stores?limit=100",
        "/stores?country=CA&sort_by=name&sort_order=desc&limit=50",
        "/stores?city=Toronto&city=Ottawa&is_open=true",
        "/stores?sort_by=latitude&limit=20&page_num=7",
        "/companies?sort_by=name&limit=200",
        f"/stores?company_id={company}",
        f"/companies/{company}",
    ]
    data = [Request(target) for target in targets]
    compressed = [
        Request(target, fields=_accepting(coding)) for target in targets[:5] for coding in ("gzip", "zstd", "br")
    ]
    conditional = [Request(target, conditional=True) for target in targets]
    heads = [Request(target, method="HEAD") for target in targets]
    others = [Request(target, fields={}) for target in ("/health", "/ready", "/metrics", "/openapi.json", "/docs")]
    rejected = [
        Request("/stores", 401, fields={}),
        Request("/companies", 401, fields={"x-api-key": "wrong"}),
        Request("/nowhere", 404),
        Request("/companies/nobody", 404),
        Request("/stores?limit=0&sort_by=x&is_open=maybe", 422),
        Request("/stores?colour=red", 422, fields={**_AUTHENTICATED, "Prefer": "handling=strict"}),
        Request("/stores", 405, method="POST"),
    ]
    return [*data, *compressed, *conditional, *heads, *others, *rejected]


class Checker:
    """Checks and counts the responses of one service; may be used by many threads.

    statuses  the number of responses by status
    failures  the first failures
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._bodies: dict[tuple[str, str, str], bytes] = {}
        self._versions: set[str] = set()
        self.statuses: Counter[int] = Counter()
        self.failed = 0
        self.failures: list[str] = []

    def fail(self, why: str) -> None:
        """Count a failure."""
        with self._lock:
            self.failed += 1
            self.failures += [why] if len(self.failures) < _MAX_REPORTED else []

    def check(self, request: Request, status: int, fields: Mapping[str, str], body: bytes) -> None:
        """Check a response."""
        with self._lock:
            self.statuses[status] += 1
        if status != request.status and not (request.conditional and status in (200, 304)):
            self.fail(f"{request.method} {request.target}: {status} instead of {request.status}")
        elif status == request.status and (version := fields.get("X-Dataset-Version")) and request.method != "HEAD":
            self._compare(request.target, version, fields, body)

    def _compare(self, target: str, version: str, fields: Mapping[str, str], body: bytes) -> None:
        """Compare a response with the first one to the same request on the same version."""
        key, digest = (target, version, fields.get("Content-Encoding", "")), sha256(body).digest()
        with self._lock:
            self._versions.add(version)
            first = self._bodies.setdefault(key, digest)
        if first != digest or len(self._versions) > _EDITIONS:
            self.fail(f"{target}: another response of version {version}")
