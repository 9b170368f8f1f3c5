"""An expected reply: the formats of errors, preconditions (RFC 9110 section 13.2.2), links (RFC 8288)."""

import re
from collections.abc import Mapping, Set as AbstractSet
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from math import inf
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus

import msgspec
import orjson

from tests.composition.ledger import Ledger, Variant
from tests.composition.request import Request
from tests.composition.target import Target
from tests.fastapi_model.raw_client import RawAnswer

# Any text but the empty one.
SOME: Final = "(some text)"
JSON: Final = "application/json"
# Resource -> the media type of its 200s, if it is not JSON.
GEO_JSON: Final = "application/geo+json"
MEDIA_TYPES: Final = {
    "/clusters": GEO_JSON,
    "/stores.csv": "text/csv; charset=utf-8",
    "/stores.ndjson": "application/x-ndjson",
    "/stores.geojson": GEO_JSON,
    "/companies.csv": "text/csv; charset=utf-8",
    "/companies.ndjson": "application/x-ndjson",
}
PROBLEM: Final = "application/problem+json"
# Fields that a reply without data must not have.
OF_FILES: Final[Mapping[str, None]] = dict.fromkeys(
    ("Transfer-Encoding", "X-Total-Count", "Content-Disposition", "Accept-Ranges")
)
NO_CONTENT: Final[Mapping[str, None]] = {**dict.fromkeys(("Content-Encoding", "Link")), **OF_FILES}
NO_VALIDATORS: Final[Mapping[str, None]] = dict.fromkeys(("ETag", "Last-Modified"))


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """An expected reply.

    fields   the values of header fields; None: the field must be absent
    vary     what Vary must name, at least
    plain    the decoded body, if it is known to the byte
    members  the members of an error body; without either there is no body
    tagged   the variants one of which the entity tag must identify
    """

    status: int
    fields: Mapping[str, str | None]
    vary: AbstractSet[str] = frozenset()
    plain: bytes | None = None
    members: Mapping[str, Any] | None = None
    tagged: AbstractSet[Variant] = frozenset()


def error(
    status: int, *, problem: bool, plain: RawAnswer | None = None, fields: Mapping[str, str | None] = NO_CONTENT
) -> Expected:
    """Return an error with further fields, as problem details or not, with the detail of the oracle or any."""
    form = {"Cache-Control": "no-store", "Content-Type": PROBLEM if problem else JSON}
    reply = Expected(status=status, fields={**form, **NO_VALIDATORS, **NO_CONTENT, **fields}, vary={"accept"})
    if plain is not None and not problem:
        return msgspec.structs.replace(reply, plain=plain.body)
    detail = SOME if plain is None else orjson.loads(plain.body)["detail"]
    members = {"detail": detail}
    if problem:
        members = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
        if isinstance(detail, list):
            members |= {"detail": SOME, "errors": detail}
    return msgspec.structs.replace(reply, members=members)


_MEMBER: Final = re.compile(r'(W/)?("[^"]*")')


class Outcome(NamedTuple):
    """The status of a reply, and the variants one of which its entity tag must identify."""

    status: int
    tagged: AbstractSet[Variant] = frozenset()


def decide(
    request: Request, modified: int | None, sendable: AbstractSet[Variant], chosen: Variant, ledger: Ledger
) -> Outcome:
    """Evaluate the conditions of a request.

    sendable  the variants that it accepts, in any coding; `chosen` is the one that would be sent
    modified  the time in Last-Modified, in seconds; without one, dates do not count
    """
    match, none_match = request.field("If-Match"), request.field("If-None-Match")
    if match:
        if match != "*" and not _named(match, ledger, weak=False) & sendable:
            return Outcome(412)
    elif modified is not None and modified > _seconds(request.field("If-Unmodified-Since"), otherwise=inf):
        return Outcome(412)
    if none_match == "*":
        return Outcome(304, {chosen})
    if none_match:
        found = _named(none_match, ledger, weak=True) & sendable
        return Outcome(304, found) if found else Outcome(200, {chosen})
    if modified is not None and modified == _seconds(request.field("If-Modified-Since"), otherwise=-inf):
        return Outcome(304, {chosen})
    return Outcome(200, {chosen})


def _named(field: str, ledger: Ledger, *, weak: bool) -> AbstractSet[Variant]:
    """Return the variants whose tags a field lists, with or without those of weak tags."""
    tags = (tag for mark, tag in _MEMBER.findall(field) if weak or not mark)
    return {known for known in map(ledger.tagged, tags) if known is not None}


def _seconds(date: str, *, otherwise: float) -> float:
    """Return a date in seconds, or `otherwise` if it is not a date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return otherwise


_PAGES: Final = re.compile(rb'"num_pages":([0-9]+),"page_num":([0-9]+),')
_ENVELOPE: Final = 500
# The longest link, without its page number, of which a page has more than one.
_LONGEST: Final = 1000
# From an error to the documentation.
HELP: Final = '</docs>; rel="help"'


def base(target: Target) -> str:
    """Return the links to pages in a body, but for the number."""
    kept = [pair for pair in target.pairs if unquote_plus(pair.partition("=")[0]) not in ("page_num", "key")]
    return f"{target.question.path}?{''.join(f'{pair}&' for pair in kept)}page_num="


def links(target: Target, page: bytes) -> str | None:
    """Return the value of the Link field of a page; None if the body is not a page."""
    found = _PAGES.search(page[:_ENVELOPE])
    if found is None:
        return None
    count, number = max(int(found[1]), 1), int(found[2])
    kept = "".join(f"{pair}&" for pair in target.pairs if unquote_plus(pair.partition("=")[0]) != "page_num")
    pages = {"next": number + 1, "prev": min(number - 1, count), "first": 1, "last": count}
    shown = [name for name in pages if (name != "next" or number < count) and (name != "prev" or number > 1)]
    if len(f"?{kept}page_num=") > _LONGEST:
        shown = [name for name in shown if name == "next"]
    return ", ".join(f'<?{kept}page_num={pages[name]}>; rel="{name}"' for name in shown) or None
