"""An expected reply, and the formats of errors."""

from collections.abc import Mapping, Set as AbstractSet
from http import HTTPStatus
from typing import Any, Final

import msgspec
import orjson

from tests.composition.ledger import Variant
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
