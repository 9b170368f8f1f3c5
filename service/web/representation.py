"""The representation that answers a GET: validators first, then the content, in a coding that is accepted."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final

import msgspec
from aiohttp import hdrs

from service.engine.bounded_cache import BoundedCache
from service.web.answer import Answer
from service.web.coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding, acceptable
from service.web.conditional import Headers, is_conditional, unchanged
from service.web.event import Event
from service.web.fields import readable
from service.web.identity import Identity, entity_tag

# Encoded documents: anybody may ask for them, so each is encoded once whatever is cached of the data.
_DOCUMENT_BYTES: Final = 8 << 20
# Of its own, so that a reload does not wait behind long bodies.
_THREADS: Final = 2


class Content(msgspec.Struct, frozen=True):
    """A body, in pieces; of a page, how many rows match in all."""

    pieces: Sequence[bytes | memoryview]
    total_count: int = 0

    @property
    def length(self) -> int:
        """The length of the body in bytes."""
        return sum(map(len, self.pieces))


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """The header fields that the representations of one data set share.

    headers   lines of a 200 and of a 304 alike
    vary      the header fields of the request that choose between representations
    modified  when the resource was last modified, in whole seconds, if that is known
    """

    headers: str
    vary: str
    modified: int | None = None


class Representation(msgspec.Struct, frozen=True):
    """A resource at this moment.

    identity  decides the content: nothing else does
    content   computes the content
    links     returns the Link header line for a `total_count`; it depends on how the query string was written, too
    document  whether it is one of the service's own documents
    """

    identity: Identity
    common: Common
    content: Callable[[], Content]
    links: Callable[[int], str] | None = None
    document: bool = False

    def whole(self, content: Content, coding: Coding = IDENTITY) -> Answer:
        """Return the answer with content in a coding."""
        common = self.common
        links = self.links(content.total_count) if self.links else ""
        lines = f'ETag: "{entity_tag(self.identity, coding)}"\r\n{coding.line}{common.headers}{links}'
        return Answer(content.pieces, self.identity.media_type, headers=lines, vary=common.vary)

    def not_modified(self, tag: str) -> Answer:
        """Return the answer to a client that has the representation of a tag."""
        lines = f'ETag: "{tag}"\r\n{self.common.headers}'
        return Answer((), status=HTTPStatus.NOT_MODIFIED.value, headers=lines, vary=self.common.vary)


class Sender:
    """Answers requests for representations, and caches encoded content: by identity and coding, up to some size."""

    def __init__(self, encoded_bytes: int, count: Callable[[Event], None]) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="encoding")
        self._caches = {
            document: BoundedCache[tuple[Identity, Coding], Content](size)
            for document, size in ((False, encoded_bytes), (True, _DOCUMENT_BYTES))
        }

    def answer(self, asked: Representation, headers: Headers) -> Answer | Awaitable[Answer]:
        """Answer a GET request with its header fields, at once unless much is to be encoded.

        Raises `PreconditionFailed`.
        """
        codings = acceptable(*readable(headers.getall(hdrs.ACCEPT_ENCODING, ())))
        if is_conditional(headers):
            tags = [entity_tag(asked.identity, coding) for coding in codings]
            tag = unchanged(headers, tags, asked.common.modified)
            if tag is not None:
                return asked.not_modified(tag or tags[codings.index(_coding_of(asked, codings))])
        if codings[0] is IDENTITY:
            return asked.whole(asked.content())
        encoded = self._caches[asked.document].get((asked.identity, codings[0]))
        if encoded is None:
            return self._encoded_answer(asked, codings)
        self._count(Event.ENCODED_HIT)
        return asked.whole(encoded, codings[0])

    def _encoded_answer(self, asked: Representation, codings: Sequence[Coding]) -> Answer | Awaitable[Answer]:
        content = asked.content()
        coding = _chosen(codings, content)
        if coding is IDENTITY:
            return asked.whole(content)
        self._count(Event.ENCODED_MISS)
        if content.length > INLINE_BYTES:
            return self._encoded_meanwhile(asked, content, coding)
        encoded = _encoded(content, coding)
        if content.length >= MIN_BYTES:  # a shorter one is encoded only for clients that refuse identity: few
            self._cache(asked, coding, encoded)
        return asked.whole(encoded, coding)

    async def _encoded_meanwhile(self, asked: Representation, content: Content, coding: Coding) -> Answer:
        encoded = await asyncio.get_running_loop().run_in_executor(self._threads, _encoded, content, coding)
        self._cache(asked, coding, encoded)
        return asked.whole(encoded, coding)

    def _cache(self, asked: Representation, coding: Coding, encoded: Content) -> None:
        key, cache = (asked.identity, coding), self._caches[asked.document]
        if key not in cache:  # no other request was faster
            cache.put(key, encoded, encoded.length + asked.identity.nbytes)


def _coding_of(asked: Representation, codings: Sequence[Coding]) -> Coding:
    """Return the coding that would be answered in: the one thing for which a 304 may need the content."""
    return IDENTITY if codings[0] is IDENTITY else _chosen(codings, asked.content())


def _chosen(codings: Sequence[Coding], content: Content) -> Coding:
    return IDENTITY if content.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encoded(content: Content, coding: Coding) -> Content:
    return Content((coding.encode(b"".join(content.pieces)),), content.total_count)
