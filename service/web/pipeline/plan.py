"""The plan of an answer: its identity, entity tags and headers; and what makes its body, at once or in a thread."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from hashlib import blake2b
from http import HTTPStatus
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from service.background import background_threads
from service.model.errors import PreconditionFailed, TooManyLongQueries
from service.model.operation import JSON
from service.model.query import Query
from service.web.http.conditional import evaluate_conditions
from service.web.http.content_coding import IDENTITY, MIN_BYTES, Coding
from service.web.http.header_fields import LINE_END, HeaderLines
from service.web.http.request import RequestFields
from service.web.http.response import Answer
from service.web.pipeline.auth import check_amount

# Increment it when a release changes the body of an otherwise equal identity.
OUTPUT: Final = 3

_DIGEST: Final = blake2b(digest_size=16)  # to copy it takes less time than to make one
_ENCODE: Final = msgspec.json.Encoder().encode


class Identity(msgspec.Struct, frozen=True, gc=False):
    """Everything that the body of a 200 depends on, except its content coding: equal identities, equal bodies.

    operation   the path of the operation, as OpenAPI writes it
    parameters  the query, or the decoded path segment, or "" if the operation takes neither
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
    digest = _DIGEST.copy()
    digest.update(_ENCODE((identity, coding.token, coding.release)))
    return digest.hexdigest()


class CommonHeaders(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The header fields that the answers from one data set share.

    headers   fields of a 200 and of a 304
    vary      value of Vary: the request fields that select the representation
    modified  when the resource was last modified, in whole seconds since the epoch, or None if unknown
    """

    headers: HeaderLines
    vary: str
    modified: int | None = None


_NOT_MODIFIED: Final = HTTPStatus.NOT_MODIFIED.value


class Representation(msgspec.Struct, eq=False, gc=False):
    """What is known of an answer without its body (RFC 9110 section 3.2); with `ok`, an answer that is kept.

    identity   determines the body, but for its content coding
    ignored    the field of parameters that were ignored
    route      the name of the route, for counters and logs
    path       the path of the request
    tag        the entity tag of the 200; None if its coding depends on a length that is not known
    ok         the 200; None if the request only got a 304
    _tags      the tags in the content codings that the request accepts; empty until a request has a condition
    _known     the last 304, and the tag in it
    """

    identity: Identity
    common: CommonHeaders
    ignored: HeaderLines = ""
    route: str = ""
    path: str = ""
    tag: str | None = None
    ok: Answer | None = None
    _tags: tuple[str, ...] = ()
    _known: Answer | None = None
    _known_tag: str = ""

    def tags(self, codings: Sequence[Coding]) -> Sequence[str]:
        """Return the entity tags of the answer in the content codings of the requests for it."""
        if not self._tags:
            self._tags = tuple([entity_tag(self.identity, coding) for coding in codings])
        return self._tags

    def not_modified(self, tag: str) -> Answer:
        """Return the 304 for a client that has the representation with this tag, which is one of ours."""
        if self._known is None or self._known_tag != tag:
            headers = f'ETag: "{tag}"{LINE_END}{self.common.headers}{self.ignored}'
            self._known, self._known_tag = Answer((), status=_NOT_MODIFIED, headers=headers, vary=self.common.vary), tag
        return self._known

    def answer(self, fields: RequestFields, *, is_public: bool = False) -> Answer | None:
        """Return the answer to a request; None if it has to be made. Raises `PreconditionFailed`, `Forbidden`."""
        if is_public:
            check_amount(self.identity.operation, self.identity.parameters)
        if fields.is_conditional:
            tag = evaluate_conditions(fields.all, self.tags(fields.codings), self.common.modified)
            if tag is not None:
                matched = tag or self.tag
                return None if matched is None else self.not_modified(matched)
        return self.ok


# One query at a time, because queries take memory. NumPy releases the GIL meanwhile.
QUERY_THREAD: Final = background_threads(1, "engine")


class Plan(msgspec.Struct, frozen=True, eq=False):
    """What will be answered.

    make       makes the body in no content coding, with the fields that only this kind of answer has; raises
               `RequestError`, or `OverBudget` for a query that has to run in a thread
    is_stream  whether the body is made while it is sent: it is encoded in any accepted coding, and not cached
    may_fail   whether `make` may raise: an error comes before any condition (RFC 9110 section 13.2.1)
    threads    run a long query
    """

    representation: Representation
    make: Callable[[], Answer]
    is_stream: bool = False
    may_fail: bool = False
    threads: Executor = QUERY_THREAD

    def not_modified_or_made(self, fields: RequestFields) -> Answer:
        """Return the 304 if the client has the representation, else the body. Raises `PreconditionFailed`.

        The body is made only if the client does not name the tag, and the body may fail or its length decides the
        coding.
        """
        codings, representation = fields.codings, self.representation
        tags = representation.tags(codings)
        try:
            tag = evaluate_conditions(fields.all, tags, representation.common.modified)
        except PreconditionFailed:
            if self.may_fail:
                self.make()
            raise
        if tag is None:
            return self.make()
        if not tag:
            known = self.is_stream or (codings[0] is IDENTITY and not self.may_fail)
            tag = tags[0 if known else codings.index(self.coding(self.make(), codings))]
        representation.tag = tag if len(codings) == 1 else None
        return representation.not_modified(tag)

    def coding(self, answer: Answer, codings: Sequence[Coding]) -> Coding:
        """Return the content coding of a body: of a short one that needs none if the client accepts that."""
        if self.is_stream or codings[0] is IDENTITY or answer.length >= MIN_BYTES or IDENTITY not in codings:
            return codings[0]
        return IDENTITY

    def finish(self, answer: Answer, coding: Coding) -> Answer:
        """Return the 200 of a body, in a content coding."""
        representation = self.representation
        common, tag = representation.common, entity_tag(representation.identity, coding)
        if answer.stream is None:
            if coding is not IDENTITY:
                answer.pieces = (coding.encode(b"".join(answer.pieces)),)
            answer.size = sum(map(len, answer.pieces))
        elif coding is not IDENTITY:
            answer.stream = answer.stream.map(coding.encode_pieces, coding.part_encoder_bytes)
        answer.media_type, answer.vary = representation.identity.media_type, common.vary
        answer.headers = (
            f'ETag: "{tag}"{LINE_END}{coding.lines}{common.headers}{representation.ignored}{answer.headers}'
        )
        representation.tag, representation.ok = tag, answer
        return answer


# At most this many queries wait for a thread or run there: in a process, and of one key. More would not be answered in
# time.
MAX_LONG_QUERIES = 64
MAX_LONG_QUERIES_OF_A_KEY = 4

_owners: Final = list[str | None]()  # of the queries that wait or run


async def in_turn(threads: Executor, query: Callable[[], Answer], key: str | None) -> Answer:
    """Run a long query in one of some threads, unless its request is cancelled before it begins.

    `key` is the name of the client's key; None without keys, when clients cannot be told apart: behind a proxy they
    share an address. Raises `TooManyLongQueries`.
    """
    if len(_owners) >= MAX_LONG_QUERIES or (key is not None and _owners.count(key) >= MAX_LONG_QUERIES_OF_A_KEY):
        raise TooManyLongQueries
    _owners.append(key)
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, _without_stop, query)
    finally:
        _owners.remove(key)


def _without_stop(query: Callable[[], Answer]) -> Answer:
    """Return what a function returns. Raises `RuntimeError` for a `StopIteration`, which no future passes on."""
    try:
        return query()
    except StopIteration as error:
        raise RuntimeError("a query raised StopIteration") from error
