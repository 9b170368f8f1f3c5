"""The identity of an answer: one value, from which its entity tags are derived."""

from hashlib import blake2b
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from service.model.operation import JSON
from service.model.query import Query
from service.web.headers.content_coding import Coding

# Increment it when a release changes the body of an otherwise equal identity.
OUTPUT: Final = 3

_TAG_BYTES: Final = 16
_ENCODE: Final = msgspec.json.Encoder().encode


class Identity(msgspec.Struct, frozen=True, gc=False):
    """Everything that the body of a 200 depends on, except its content coding: equal identities, equal bodies.

    operation   the path of the operation, as OpenAPI writes it
    parameters  the normalized query, or the decoded path segment, or "" if the operation takes neither
    version     of the data, or the digest of a document
    media_type  of the body
    output      number of the software's output format
    links       the start of the links in the body, if it has any: they repeat the raw query string
    """

    operation: str
    parameters: Query | str = msgspec.field(name="asked")  # the name is part of the digest
    version: str
    media_type: str = JSON
    output: int = OUTPUT
    links: str | UnsetType = UNSET


def entity_tag(identity: Identity, coding: Coding) -> str:
    """Return the opaque tag of an answer in a content coding: a 128-bit digest as 32 hexadecimal digits.

    The tag is strong (RFC 9110 section 8.8.1): one tag, one sequence of bytes. The digest includes the release of the
    encoding library, because another release may write other bytes.
    """
    text = _ENCODE((identity, coding.token, coding.release))
    return blake2b(text, digest_size=_TAG_BYTES).hexdigest()
