"""The expected reply to a request, given the data set: the order of checks, and what each header field changes."""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from email.utils import formatdate
from pathlib import Path
from typing import Final

import msgspec
import orjson

from service.web.endpoints.documents import served
from tests.composition.configurations import FILED, PLAIN_KEY, PUBLIC_RESOURCES, WEBSITES, Configuration
from tests.composition.editions import Edition
from tests.composition.expected import (
    GEO_JSON,
    HELP,
    JSON,
    MEDIA_TYPES,
    NO_CONTENT,
    NO_VALIDATORS,
    OF_FILES,
    SOME,
    Expected,
    base,
    decide,
    error,
    links,
)
from tests.composition.ledger import Ledger, Variant
from tests.composition.questions import OPEN_AT, RESOURCES
from tests.composition.random_requests import ACCEPTS, BROWSER, OF_GEO_JSON, PREFERENCES
from tests.composition.request import HTTP_1_1, Request, Sent
from tests.composition.target import PathKind
from tests.declared_attributes import PREFIX
from tests.fastapi_model.raw_client import RawAnswer, ignored
from tests.web.negotiation import acceptable, negotiated

_VARY: Final = frozenset({"accept-encoding", "prefer", "x-dataset-version", "x-api-key"})
_STORES: Final = "/stores"
_MAP: Final = "/clusters"
_VERSION: Final = "X-Dataset-Version"
_LONG: Final = 1 << 20
_IGNORED: Final = "X-Ignored-Parameters"
_EMBEDDED: Final = Path(__file__).parents[2] / "service" / "web" / "embed" / "store-locator.js"
# The members of a page that say how many records it has, and which.
_AMOUNT: Final = re.compile(rb'"limit":([0-9]+),"num_pages":[0-9]+,"page_num":([0-9]+),')


class Case(msgspec.Struct, frozen=True):
    """A request that was sent to a service that serves a data set.

    limited  whether the key is over its rate
    busy     whether it has another long query, so that this one is refused if it is run
    """

    sent: Sent
    edition: Edition
    config: Configuration
    ledger: Ledger
    limited: bool = False
    busy: bool = False

    @property
    def request(self) -> Request:
        """The request without what depends on the connection."""
        return self.sent.request

    @property
    def answered(self) -> bool:
        """Whether path and method are those of a resource, so that the key matters."""
        return self.request.target.kind is PathKind.RESOURCE and self.request.method in ("GET", "HEAD")

    @property
    def is_from_website(self) -> bool:
        """Whether the request of a public key is from a page of its website, or of the service."""
        origin = self.request.fields.get("Origin")
        own = self.request.field("Sec-Fetch-Site") == "same-origin"
        return own if origin is None else origin == WEBSITES[self.request.key]

    @property
    def strict(self) -> bool:
        """Whether unknown parameters are rejected."""
        return PREFERENCES.get(self.request.field("Prefer"), False)

    @property
    def problem(self) -> bool:
        """Whether errors are problem details."""
        return ACCEPTS.get(self.request.field("Accept"), False)

    @property
    def geo_json(self) -> bool:
        """Whether it asks for a page of GeoJSON."""
        return self.request.target.question.resource == _STORES and self.request.field("Accept") in OF_GEO_JSON

    @property
    def plain(self) -> RawAnswer:
        """The answer of the oracle; to the canonical query unless the one as written may be rejected or repeated."""
        return self._plain(GEO_JSON) if self.geo_json else self.page

    @property
    def page(self) -> RawAnswer:
        """The answer of the oracle, not as GeoJSON."""
        return self._plain("")

    def _plain(self, accept: str) -> RawAnswer:
        target = self.request.target
        unknown = target.noisy or any(name.startswith((PREFIX, OPEN_AT)) for name in target.names)
        as_written = target.invalid or accept or (unknown and self.strict)
        query = target.query if as_written else target.question.query
        return self.edition.plain(target.question.path, query, self.strict, accept)


def expected_reply(case: Case) -> Expected:
    """Return the reply of the first step that gives one, with the fields that all replies have."""
    answer = next(found for step in ORDER if (found := step(case)) is not None)
    origin, is_public = _readers(case, answer.status)
    entry = FILED.get(case.request.key, {})
    limits_client = "per_client" in entry and _is_place(case) and case.is_from_website
    rated = case.config.rate_fields and case.answered and ("rate" in entry or limits_client)
    strict = case.strict and case.request.target.kind is PathKind.RESOURCE and answer.status in (200, 404, 422)
    common = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": origin and SOME,
        **dict.fromkeys(("RateLimit", "RateLimit-Policy"), SOME if rated else None),
        "Preference-Applied": "handling=strict" if strict else None,
        _IGNORED: None,
    }
    vary = answer.vary | ({"origin"} if is_public or origin != "*" else set())
    fields = {**common, **answer.fields}
    return msgspec.structs.replace(answer, fields={**fields, **_connection(case.sent, fields)}, vary=vary)


def _readers(case: Case, status: int) -> tuple[str | None, bool]:
    """Return the origin that may read a reply, and whether that is a reply to a public key."""
    request, origin = case.request, case.request.field("Origin")
    if request.target.kind is PathKind.EMBED:
        return "*", False
    is_public = status == 204 and origin in WEBSITES.values() and _is_place(case)
    if case.answered and request.key in WEBSITES:
        is_public = _is_place(case) and case.is_from_website
    own = origin if is_public and origin else None
    if status in (401, 403) and request.named:
        own, is_public = "*", True
    return case.config.allowed_origin(origin) or own, is_public


def _is_place(case: Case) -> bool:
    target = case.request.target
    return target.kind is PathKind.RESOURCE and target.question.resource in PUBLIC_RESOURCES


def _connection(sent: Sent, fields: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return the fields of the connection (RFC 9112 sections 6.1, 9.3): in HTTP/1.0 a file ends with it."""
    if sent.version == HTTP_1_1:
        return {"Connection": None if sent.persists else "close"}
    persists = sent.persists and not fields["Transfer-Encoding"]
    return {"Connection": "keep-alive" if persists else None, "Transfer-Encoding": None}


def _path(case: Case) -> Expected | None:
    target = case.request.target
    if target.kind is PathKind.UNKNOWN:
        return error(404, problem=case.problem, fields={"Link": HELP})
    if target.kind in (PathKind.RESOURCE, PathKind.START, PathKind.EMBED):
        return None
    above = msgspec.structs.replace(target, path=target.path.removesuffix("/"))
    return Expected(status=307, fields={**NO_CONTENT, "Location": str(above)})


def _preflight(case: Case) -> Expected | None:
    request, origin = case.request, case.request.field("Origin")
    asks = request.method == "OPTIONS" and origin and request.field("Access-Control-Request-Method")
    is_website = origin in WEBSITES.values() and _is_place(case)
    if not asks or not (case.config.allowed_origin(origin) or is_website):
        return None
    return Expected(status=204, fields={**NO_CONTENT, "Access-Control-Allow-Methods": SOME, "Allow": None})


def _method(case: Case) -> Expected | None:
    if case.request.method in ("GET", "HEAD"):
        return None
    return error(405, problem=case.problem, fields={"Allow": "GET, HEAD"})


def _start(case: Case) -> Expected | None:
    """Return the way from / to the explorer for browsers, and to the operations for other clients."""
    if case.request.target.kind is not PathKind.START:
        return None
    fields = {**NO_CONTENT, **NO_VALIDATORS, "Cache-Control": "no-store", _VERSION: None}
    if case.request.field("Accept") == BROWSER:
        return Expected(status=307, fields={**fields, "Location": "explorer"}, vary={"accept"})
    return Expected(status=200, fields={**fields, "Content-Type": JSON}, vary={"accept"}, members={"paths": SOME})


def _embed(case: Case) -> Expected | None:
    """Return a file of the element, which needs no key and does not depend on the data."""
    target = case.request.target
    if target.kind is not PathKind.EMBED:
        return None
    body, accepted = served(_EMBEDDED), case.request.field("Accept-Encoding")
    variants = {coding: Variant(target.question, "", coding) for coding in acceptable(accepted) or ["identity"]}
    coding = negotiated(accepted, len(body))
    status, tagged = decide(case.request, None, frozenset(variants.values()), variants[coding], case.ledger)
    if status == 412:
        return error(412, problem=case.problem, fields={_VERSION: None})
    common = {"Cache-Control": "public, max-age=3600", "Cross-Origin-Resource-Policy": "cross-origin", _VERSION: None}
    if status == 304:
        fields = {**common, **NO_CONTENT, "Content-Type": None, "Content-Length": None}
        return Expected(status=304, fields=fields, vary={"accept-encoding"}, tagged=tagged)
    fields = {**common, **OF_FILES, "Content-Type": "text/javascript; charset=utf-8", "Last-Modified": None}
    fields["Content-Encoding"] = None if coding == "identity" else coding
    return Expected(status=200, fields=fields, vary={"accept-encoding"}, plain=body, tagged=tagged)


def _key(case: Case) -> Expected | None:
    request = case.request
    misplaced = request.named.endswith(f"={PLAIN_KEY}")
    if request.key in (PLAIN_KEY, *FILED) and not misplaced:
        return None
    fields = {"WWW-Authenticate": SOME, "Link": HELP}
    return error(401, problem=case.problem, fields=fields)


def _website(case: Case) -> Expected | None:
    if case.request.key not in WEBSITES or (_is_place(case) and case.is_from_website):
        return None
    return error(403, problem=case.problem)


def _rate(case: Case) -> Expected | None:
    return error(429, problem=case.problem, fields={"Retry-After": SOME}) if case.limited else None


def _parameters(case: Case) -> Expected | None:
    plain = case.plain
    return error(422, problem=case.problem, plain=plain) if plain.status == 422 else None


def _amount(case: Case) -> Expected | None:
    if case.request.key not in WEBSITES or case.request.target.question.resource != _STORES:
        return None
    found = _AMOUNT.search(case.page.body)
    assert found is not None
    limit, number = map(int, found.groups())
    return error(403, problem=case.problem) if limit > 50 or limit * number > 1000 else None


def _version(case: Case) -> Expected | None:
    if case.request.field(_VERSION) in ("", case.edition.version):
        return None
    return error(412, problem=case.problem, fields={_VERSION: case.edition.version})


def _record(case: Case) -> Expected | None:
    plain = case.plain
    return error(404, problem=case.problem, plain=plain) if plain.status == 404 else None


def _variant(case: Case) -> Expected:
    edition, body, accepted = case.edition, case.plain.body, case.request.field("Accept-Encoding")
    target, of_file = case.request.target, _of_file(case)
    sendable = {
        coding: Variant(edition.meant(target.question), edition.version, coding, base(target) if case.geo_json else "")
        for coding in acceptable(accepted) or ["identity"]
    }
    coding = negotiated(accepted, _LONG if of_file else len(body))
    vary = _VARY | ({"accept"} if target.question.resource == _STORES else set())
    status, tagged = decide(case.request, edition.modified, frozenset(sendable.values()), sendable[coding], case.ledger)
    if case.busy and _runs_query(case, status):
        return error(503, problem=case.problem, fields={"Retry-After": "1"})
    if status == 412:
        return error(412, problem=case.problem, fields={_VERSION: None})
    modified = None if edition.modified is None else formatdate(edition.modified, usegmt=True)
    fields = {"Cache-Control": "private, no-cache", _VERSION: edition.version, "Last-Modified": modified}
    resource = target.question.resource
    known = [name for name in RESOURCES.get(resource, ()) if edition.knows(resource, name)]
    fields[_IGNORED] = ignored(target.names, known) or None
    if status == 304:
        fields |= {**NO_CONTENT, "Content-Type": None, "Content-Length": None}
        return Expected(status=304, fields=fields, vary=vary, tagged=tagged)
    fields |= {
        "Content-Type": GEO_JSON if case.geo_json else MEDIA_TYPES.get(target.question.resource, JSON),
        "Link": links(target, case.page.body),
        **(of_file or OF_FILES),
    }
    fields["Content-Encoding"] = None if coding == "identity" else coding
    return Expected(status=200, fields=fields, vary=vary, plain=body, tagged=tagged)


def _runs_query(case: Case, status: int) -> bool:
    """Return whether a query is run for a reply: clusters are before any 412, others unless a tag decides."""
    resource, named = case.request.target.question.resource, case.request.field("If-None-Match")
    if not RESOURCES.get(resource):  # a record, which has no parameters
        return False
    return status == 200 or (resource == _MAP if status == 412 else named in ("", "*"))


def _of_file(case: Case) -> Mapping[str, str | None]:
    """Return the fields of a file, none of another resource."""
    path, body = case.request.target.question.path, case.plain.body
    if path.endswith(".csv"):
        count = len(list(csv.reader(io.StringIO(body.decode(), newline="")))) - 1
    elif path.endswith(".ndjson"):
        count = body.count(b"\n")
    elif path.endswith(".geojson"):
        count = len(orjson.loads(body)["features"])
    else:
        return {}
    return {
        "Transfer-Encoding": "chunked",
        "X-Total-Count": str(count),
        "Content-Disposition": f'attachment; filename="{path[1:]}"',
        "Accept-Ranges": "none",
        "Content-Length": None,
    }


# The order of checks; the last one always returns a reply.
ORDER: Final[Sequence[Callable[[Case], Expected | None]]] = (
    *(_path, _preflight, _method, _start, _embed, _key, _website, _rate, _parameters, _amount, _version, _record),
    _variant,
)
