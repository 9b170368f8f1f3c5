"""Representations: answers to GET with validators and content codings. Conditions are evaluated before the content."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import hdrs

from service.engine.bounded_cache import BoundedCache
from service.web.answer import Answer
from service.web.headers.conditional import Headers, evaluate_conditions, is_conditional
from service.web.headers.content_coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding, acceptable
from service.web.headers.list_fields import bounded_fields
from service.web.identity import Identity, entity_tag
from service.web.telemetry.events import Event

# The cache of encoded documents: anyone may request them, so each is encoded once, whatever is cached of the data.
_DOCUMENT_BYTES: Final = 8 << 20
# A pool of its own, so that encoding long bodies does not delay a reload.
_THREADS: Final = 2


class Content(msgspec.Struct, frozen=True):
    """A body, in pieces; for a page, also the number of all matching rows."""

    pieces: Sequence[bytes | memoryview]
    total_count: int = 0

    @property
    def length(self) -> int:
        """The length of the body in bytes."""
        return sum(map(len, self.pieces))


class CommonHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """The header fields that the representations of one data set share.

    headers   header lines of a 200 and of a 304
    vary      value of Vary: the request fields that select the representation
    modified  when the resource was last modified, in whole seconds since the epoch, or None if unknown
    """

    headers: str
    vary: str
    modified: int | None = None


class Representation(msgspec.Struct, frozen=True):
    """The current state of a resource.

    identity  determines the content
    content   computes the content
    links     returns the Link line for a `total_count`; it also depends on the raw query string
    document  whether it is a document of the service, not data
    """

    identity: Identity
    common: CommonHeaders
    content: Callable[[], Content]
    links: Callable[[int], str] | None = None
    document: bool = False

    def ok(self, content: Content, coding: Coding = IDENTITY) -> Answer:
        """Return the 200 with content in a coding."""
        common = self.common
        links = self.links(content.total_count) if self.links else ""
        lines = f'ETag: "{entity_tag(self.identity, coding)}"\r\n{coding.line}{common.headers}{links}'
        return Answer(content.pieces, self.identity.media_type, headers=lines, vary=common.vary)

    def not_modified(self, tag: str) -> Answer:
        """Return the 304 for a client that has the representation with this tag."""
        lines = f'ETag: "{tag}"\r\n{self.common.headers}'
        return Answer((), status=HTTPStatus.NOT_MODIFIED.value, headers=lines, vary=self.common.vary)


class Sender:
    """Answers requests for representations, and caches encoded bodies by identity and coding."""

    def __init__(self, encoded_bytes: int, count: Callable[[Event], None]) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="encoding")
        self._caches = {
            document: BoundedCache[tuple[Identity, Coding], Content](size)
            for document, size in ((False, encoded_bytes), (True, _DOCUMENT_BYTES))
        }

    def answer(self, representation: Representation, headers: Headers) -> Answer | Awaitable[Answer]:
        """Answer a GET with these header fields; return an awaitable if a long body is encoded in a thread.

        Raises `PreconditionFailed`.
        """
        codings = acceptable(*bounded_fields(headers.getall(hdrs.ACCEPT_ENCODING, ())))
        if is_conditional(headers):
            tags = [entity_tag(representation.identity, coding) for coding in codings]
            tag = evaluate_conditions(headers, tags, representation.common.modified)
            if tag is not None:
                return representation.not_modified(tag or tags[codings.index(_ok_coding(representation, codings))])
        if codings[0] is IDENTITY:
            return representation.ok(representation.content())
        encoded = self._caches[representation.document].get((representation.identity, codings[0]))
        if encoded is None:
            return self._encoded_answer(representation, codings)
        self._count(Event.ENCODED_HIT)
        return representation.ok(encoded, codings[0])

    def _encoded_answer(self, representation: Representation, codings: Sequence[Coding]) -> Answer | Awaitable[Answer]:
        content = representation.content()
        coding = _choose(codings, content)
        if coding is IDENTITY:
            return representation.ok(content)
        self._count(Event.ENCODED_MISS)
        if content.length > INLINE_BYTES:
            return self._encode_in_thread(representation, content, coding)
        encoded = _encode(content, coding)
        if content.length >= MIN_BYTES:  # a shorter one is encoded only for the rare client that refuses identity
            self._cache(representation, coding, encoded)
        return representation.ok(encoded, coding)

    async def _encode_in_thread(self, representation: Representation, content: Content, coding: Coding) -> Answer:
        encoded = await asyncio.get_running_loop().run_in_executor(self._threads, _encode, content, coding)
        self._cache(representation, coding, encoded)
        return representation.ok(encoded, coding)

    def _cache(self, representation: Representation, coding: Coding, encoded: Content) -> None:
        key, cache = (representation.identity, coding), self._caches[representation.document]
        if key not in cache:  # no other request was faster
            cache.put(key, encoded, encoded.length + representation.identity.nbytes)


def _ok_coding(representation: Representation, codings: Sequence[Coding]) -> Coding:
    """Return the coding of the 200. Only for that may a 304 need the content."""
    return IDENTITY if codings[0] is IDENTITY else _choose(codings, representation.content())


def _choose(codings: Sequence[Coding], content: Content) -> Coding:
    return IDENTITY if content.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encode(content: Content, coding: Coding) -> Content:
    return Content((coding.encode(b"".join(content.pieces)),), content.total_count)
