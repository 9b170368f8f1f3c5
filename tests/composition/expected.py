"""What a request must be answered with, of one data set: the order of judgement, and what each header field changes."""

from collections.abc import Mapping, Set as AbstractSet
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final

import msgspec
import orjson

from tests.composition.conditions import judge
from tests.composition.editions import Edition
from tests.composition.ledger import Ledger, Representation
from tests.composition.links import links
from tests.composition.mix import ACCEPTS, PREFERENCES
from tests.composition.request import Request
from tests.composition.target import Place
from tests.composition.terms import FILED, KEY, PLAIN_KEY, Terms
from tests.model.asking import Answered
from tests.web.negotiation import acceptable, negotiated

# Stands for any text but the empty one.
SOME: Final = "(some text)"
JSON: Final = "application/json"
_VARY: Final = frozenset({"accept-encoding", "prefer", "x-dataset-version", "x-api-key"})
_NO_CONTENT: Final = dict.fromkeys(("Content-Encoding", "Link"))


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer must be.

    fields   the values of header fields, None for one that must not be there
    vary     what Vary must name, at least
    plain    the body without its coding; None where it is not known to the byte
    members  what the body of an error must have
    tagged   the representations of which one has its entity tag
    """

    status: int
    fields: Mapping[str, str | None]
    vary: AbstractSet[str] = frozenset()
    plain: bytes | None = None
    members: Mapping[str, Any] | None = None
    tagged: AbstractSet[Representation] = frozenset()


def expected(request: Request, edition: Edition, terms: Terms, ledger: Ledger, *, limited: bool = False) -> Expected:
    """Return what a request must be answered with; `limited` says whether its key is over its rate."""
    answer = _judged(request, edition, terms, ledger, limited=limited)
    origin = terms.allowed_origin(request.field("Origin"))
    rated = terms.rate_fields and "rate" in FILED.get(request.field(KEY), {}) and _is_let_through(request, answer)
    strict = _is_strict(request) and request.target.place is Place.ANSWERED and answer.status in (200, 404, 422)
    common = {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": origin and SOME,
        "RateLimit": SOME if rated else None,
        "RateLimit-Policy": SOME if rated else None,
        "Preference-Applied": "handling=strict" if strict else None,
    }
    vary = answer.vary | (set() if terms.origin == "*" else {"origin"})
    return msgspec.structs.replace(answer, fields={**common, **answer.fields}, vary=vary)


def _judged(request: Request, edition: Edition, terms: Terms, ledger: Ledger, *, limited: bool) -> Expected:
    target, key = request.target, request.field(KEY)
    if target.place is Place.UNKNOWN:
        return _error(request, 404)
    if target.place is Place.MOVED:
        above = msgspec.structs.replace(target, path=target.path.removesuffix("/"))
        return Expected(status=307, fields={**_NO_CONTENT, "Location": str(above)})
    if request.method == "OPTIONS" and _is_preflight(request, terms):
        return Expected(status=204, fields={**_NO_CONTENT, "Access-Control-Allow-Methods": SOME, "Allow": None})
    if request.method not in ("GET", "HEAD"):
        return _error(request, 405, {"Allow": "GET, HEAD"})
    if key not in (PLAIN_KEY, *FILED):
        return _error(request, 401, {"WWW-Authenticate": SOME})
    if limited:
        return _error(request, 429, {"Retry-After": SOME})
    plain = _plain(request, edition)
    if plain.status == 422:
        return _error(request, 422, plain=plain)
    if request.field("X-Dataset-Version") not in ("", edition.version):
        return _error(request, 412, {"X-Dataset-Version": edition.version})
    if plain.status == 404:
        return _error(request, 404, plain=plain)
    return _represented(request, edition, ledger, plain.body)


def _represented(request: Request, edition: Edition, ledger: Ledger, body: bytes) -> Expected:
    accepted = request.field("Accept-Encoding")
    coding, question = negotiated(accepted, len(body)), request.target.question
    chosen = Representation(question, edition.version, coding)
    codings = acceptable(accepted) or {"identity"}
    others = {Representation(question, edition.version, coding) for coding in codings}
    status, tagged = judge(request, edition.modified, others, chosen, ledger)
    if status == 412:
        return _error(request, 412, {"X-Dataset-Version": None})
    fields = {
        "Cache-Control": "private, no-cache",
        "X-Dataset-Version": edition.version,
        "Last-Modified": None if edition.modified is None else formatdate(edition.modified, usegmt=True),
    }
    if status == 304:
        bodiless = dict.fromkeys(("Content-Type", "Content-Length"))
        return Expected(status=304, fields={**fields, **_NO_CONTENT, **bodiless}, vary=_VARY, tagged=tagged)
    content = {
        "Content-Type": JSON,
        "Content-Encoding": None if coding == "identity" else coding,
        "Link": links(request.target, body),
    }
    return Expected(status=200, fields={**fields, **content}, vary=_VARY, plain=body, tagged=tagged)


def _error(
    request: Request, status: int, more: Mapping[str, str | None] | None = None, plain: Answered | None = None
) -> Expected:
    """Return an error in the form that Accept asks for; of some the model gives the items, or all of it."""
    problem = ACCEPTS.get(request.field("Accept"), False)
    detail = orjson.loads(plain.body)["detail"] if plain is not None else SOME
    members: dict[str, Any] = {"detail": detail}
    if problem:
        title = HTTPStatus(status).phrase
        members = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        if isinstance(detail, list):
            members |= {"detail": SOME, "errors": detail}
    form = "application/problem+json" if problem else JSON
    absent = dict.fromkeys(("ETag", "Last-Modified"))
    fields = {"Cache-Control": "no-store", "Content-Type": form, **_NO_CONTENT, **absent, **(more or {})}
    return Expected(status=status, fields=fields, vary={"accept"}, members=members)


def _plain(request: Request, edition: Edition) -> Answered:
    """Return the plain answer; to a question that cannot be refused, in the spelling that stands for it."""
    target, strict = request.target, _is_strict(request)
    as_written = target.faulty or (target.noisy and strict)
    return edition.plain(target.question.path, target.query if as_written else target.question.query, strict)


def _is_strict(request: Request) -> bool:
    return PREFERENCES.get(request.field("Prefer"), False)


def _is_preflight(request: Request, terms: Terms) -> bool:
    origin = request.field("Origin")
    return bool(origin and request.field("Access-Control-Request-Method") and terms.allowed_origin(origin))


def _is_let_through(request: Request, answer: Expected) -> bool:
    """Return whether the rate of its key was asked about a request."""
    behind = request.target.place is Place.ANSWERED and request.method in ("GET", "HEAD")
    return behind and answer.status != 401
