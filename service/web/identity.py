"""What identifies an answer: one value, which entity tags are made of and answers are cached by."""

from hashlib import blake2b
from sys import getsizeof
from typing import Final

import msgspec

from service.model.query import Query, nbytes
from service.web.answer import JSON
from service.web.headers.content_coding import Coding

# To be raised where an identity that is otherwise equal has another body than in an earlier release.
OUTPUT: Final = 2

_TAG_BYTES: Final = 16
# The objects of an identity, whatever is in it.
_OVERHEAD_BYTES: Final = 1024
_ENCODE: Final = msgspec.json.Encoder().encode


class Identity(msgspec.Struct, frozen=True):
    """All that the body of a 200 answer depends on, but for its content coding: equal identities, equal bodies.

    operation   the path of the operation, as OpenAPI writes it
    asked       the normalised query, or the decoded path segment, or "" where the operation takes neither
    version     of the data, or of a document: a digest of it
    media_type  of the body
    output      of the software
    """

    operation: str
    asked: Query | str
    version: str
    media_type: str = JSON
    output: int = OUTPUT

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory it takes: clients choose how long what they ask is."""
        asked = self.asked
        long = getsizeof(asked) if isinstance(asked, str) else nbytes(asked.filters) + getsizeof(asked.page_num)
        return _OVERHEAD_BYTES + long


def entity_tag(identity: Identity, coding: Coding) -> str:
    """Return the opaque tag of an answer in a content coding: a 128-bit digest, 32 hexadecimal digits.

    It is strong (RFC 9110 section 8.8.1): one tag is one sequence of bytes. A library that encodes may write other
    bytes in another release, so its release is a part of the tag.
    """
    text = _ENCODE((identity, coding.token, coding.release))
    return blake2b(text, digest_size=_TAG_BYTES).hexdigest()
