"""What an answer must be, and the forms of errors."""

from collections.abc import Mapping, Set as AbstractSet
from http import HTTPStatus
from typing import Any, Final

import msgspec
import orjson

from tests.composition.ledger import Representation
from tests.model.asking import Answered

# Stands for any text but the empty one.
SOME: Final = "(some text)"
JSON: Final = "application/json"
PROBLEM: Final = "application/problem+json"
# What is not there where nothing of the data is sent.
NO_CONTENT: Final[Mapping[str, None]] = dict.fromkeys(("Content-Encoding", "Link"))
_NO_VALIDATORS: Final[Mapping[str, None]] = dict.fromkeys(("ETag", "Last-Modified"))


class Expected(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer must be.

    fields   the values of header fields, None for one that must not be there
    vary     what Vary must name, at least
    plain    the body without its coding; None where it is not known to the byte
    members  what the body of an error must have; None where there is no body
    tagged   the representations of which one has its entity tag
    """

    status: int
    fields: Mapping[str, str | None]
    vary: AbstractSet[str] = frozenset()
    plain: bytes | None = None
    members: Mapping[str, Any] | None = None
    tagged: AbstractSet[Representation] = frozenset()


def error(
    status: int, *, problem: bool, plain: Answered | None = None, fields: Mapping[str, str | None] = NO_CONTENT
) -> Expected:
    """Return an error with more fields, as problem details or not; with the detail that the model gives, or any."""
    detail = SOME if plain is None else orjson.loads(plain.body)["detail"]
    members = {"detail": detail}
    if problem:
        members = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
        if isinstance(detail, list):
            members |= {"detail": SOME, "errors": detail}
    common = {"Cache-Control": "no-store", "Content-Type": PROBLEM if problem else JSON}
    return Expected(
        status=status, fields={**common, **_NO_VALIDATORS, **NO_CONTENT, **fields}, vary={"accept"}, members=members
    )
