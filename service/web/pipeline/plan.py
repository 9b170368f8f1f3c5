"""The plan of an answer: its identity, entity tags and headers; and its body, made and encoded."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from hashlib import blake2b
from http import HTTPStatus
from typing import ClassVar, Final

import msgspec
from msgspec import UNSET, UnsetType

from service.background import background_threads
from service.model.errors import PreconditionFailed
from service.model.operation import JSON
from service.model.query import Query
from service.web.http.conditional import evaluate_conditions
from service.web.http.content_coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding
from service.web.http.header_fields import LINE_END, HeaderLines
from service.web.http.request import RequestFields
from service.web.http.response import Answer, Stream

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


_NOT_MODIFIED: Final = HTTPStatus.NOT_MODIFIED.value


class Body(msgspec.Struct, frozen=True, gc=False):
    """A body, in pieces or as a stream, in a content coding; of rows, also the number of all that match."""

    pieces: Sequence[bytes | memoryview]
    total_count: int = 0
    coding: Coding = IDENTITY
    stream: Stream | None = None

    @property
    def length(self) -> int:
        """The length of the body in bytes."""
        return sum(map(len, self.pieces))


class BodyFormat(msgspec.Struct, frozen=True, eq=False):
    """Makes the body of one plan from its rows, clusters or document.

    is_stream  whether the body is made while it is sent: it is encoded in any accepted coding, and not cached
    may_fail   whether the body may raise: an error comes before any condition (RFC 9110 section 13.2.1)
    """

    is_stream: ClassVar[bool] = False
    may_fail: ClassVar[bool] = False

    @abstractmethod
    async def body(self) -> Body:
        """Make the body, in a thread if it takes long. Raises `RequestError`."""

    def headers(self, total_count: int) -> HeaderLines:  # noqa: ARG002 - only pages and streams have any
        """Return the fields of a 200 that only this format has."""
        return ""


class CommonHeaders(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The header fields that the answers from one data set share.

    headers   fields of a 200 and of a 304
    vary      value of Vary: the request fields that select the representation
    modified  when the resource was last modified, in whole seconds since the epoch, or None if unknown
    """

    headers: HeaderLines
    vary: str
    modified: int | None = None


class Representation(msgspec.Struct, frozen=True, eq=False, gc=False):
    """What is known of an answer without its body (RFC 9110 section 3.2).

    identity  determines the body, but for its content coding
    ignored   the field of parameters that were ignored
    """

    identity: Identity
    common: CommonHeaders
    ignored: HeaderLines = ""
    _tags: dict[str, str] = {}  # by content coding: each is a digest, and computed once
    _not_modified: dict[str, Answer] = {}  # by tag

    def tag(self, coding: Coding) -> str:
        """Return the entity tag of the answer in a content coding."""
        tag = self._tags.get(coding.token)
        if tag is None:
            tag = self._tags[coding.token] = entity_tag(self.identity, coding)
        return tag

    def tags(self, codings: Sequence[Coding]) -> Sequence[str]:
        """Return the entity tags of the answer in some content codings."""
        return tuple(map(self.tag, codings))

    def not_modified(self, tag: str) -> Answer:
        """Return the 304 for a client that has the representation with this tag, which is one of ours."""
        answer = self._not_modified.get(tag)
        if answer is None:
            headers = f'ETag: "{tag}"{LINE_END}{self.common.headers}{self.ignored}'
            answer = Answer((), status=_NOT_MODIFIED, headers=headers, vary=self.common.vary)
            self._not_modified[tag] = answer
        return answer


class Plan(msgspec.Struct, frozen=True, eq=False):
    """What will be answered; `format` makes the body."""

    representation: Representation
    format: BodyFormat

    def ok(self, body: Body) -> Answer:
        """Return the 200 with its body."""
        representation, common = self.representation, self.representation.common
        headers = (
            f'ETag: "{representation.tag(body.coding)}"{LINE_END}{body.coding.lines}'
            f"{common.headers}{representation.ignored}{self.format.headers(body.total_count)}"
        )
        media_type = representation.identity.media_type
        return Answer(body.pieces, media_type, headers=headers, vary=common.vary, stream=body.stream)


# A pool of its own, so that encoding long bodies does not delay a reload.
_THREADS: Final = background_threads(2, "encoding")


async def encoded_body(plan: Plan, codings: Sequence[Coding]) -> Body:
    """Return the body of a plan in one of the accepted codings. A long one is encoded in a thread."""
    body = await plan.format.body()
    coding = codings[0] if plan.format.is_stream else _choose(codings, body)
    if coding is IDENTITY:
        return body
    if body.stream is not None:
        stream = body.stream.map(coding.encode_pieces, coding.part_encoder_bytes)
        return msgspec.structs.replace(body, coding=coding, stream=stream)
    if body.length <= INLINE_BYTES:
        return _encode(body, coding)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, _encode, body, coding)


async def unchanged(plan: Plan, fields: RequestFields) -> str | None:
    """Return the tag of a plan's 304 if the client has its representation, else None. Raises `PreconditionFailed`.

    The body is made only if the client does not name the tag, and the body may fail or its length decides the coding.
    """
    codings, representation = fields.codings, plan.representation
    tags = representation.tags(codings)
    try:
        tag = evaluate_conditions(fields.all, tags, representation.common.modified)
    except PreconditionFailed:
        if plan.format.may_fail:
            await plan.format.body()
        raise
    if tag != "":
        return tag
    if plan.format.is_stream or (codings[0] is IDENTITY and not plan.format.may_fail):
        return tags[0]
    return tags[codings.index(_choose(codings, await plan.format.body()))]


def _choose(codings: Sequence[Coding], body: Body) -> Coding:
    return IDENTITY if body.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encode(body: Body, coding: Coding) -> Body:
    return Body((coding.encode(b"".join(body.pieces)),), body.total_count, coding)
