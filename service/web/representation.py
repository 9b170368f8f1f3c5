"""Representations: the current states of resources (RFC 9110 section 3.2), and which answer they give to a GET.

The answer is a 304, or a 200 in a content coding. Encoded bodies are cached.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final

import msgspec

from service.engine.bounded_cache import BoundedCache
from service.web.answer import Answer, HeaderLines
from service.web.headers.conditional import evaluate_conditions
from service.web.headers.content_coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding
from service.web.headers.request_fields import RequestFields
from service.web.identity import Identified, Identity
from service.web.telemetry.events import Event

# The cache of encoded documents: anyone may request them, so each is encoded once, whatever is cached of the data.
_DOCUMENT_BYTES: Final = 8 << 20
# A pool of its own, so that encoding long bodies does not delay a reload.
_THREADS: Final = 2
_NOT_MODIFIED: Final = HTTPStatus.NOT_MODIFIED.value


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

    headers   fields of a 200 and of a 304
    vary      value of Vary: the request fields that select the representation
    modified  when the resource was last modified, in whole seconds since the epoch, or None if unknown
    """

    headers: HeaderLines
    vary: str
    modified: int | None = None


class Representation(msgspec.Struct, frozen=True, eq=False):
    """The current state of a resource.

    identified   its identity, which determines the content
    is_document  whether it is a document of the service, not data
    takes_turns  whether the content takes so long that `prepare` is awaited before it is computed
    """

    identified: Identified
    common: CommonHeaders
    is_document: bool = False
    takes_turns: bool = False

    async def prepare(self) -> None:
        """Compute parts of the content, with turns for other requests in between."""

    @abstractmethod
    def content(self) -> Content:
        """Compute the content."""

    def links(self, total_count: int) -> HeaderLines:  # noqa: ARG002 - only pages have links
        """Return the Link field, which is not cached with the content: it repeats the raw query string."""
        return ()

    def ok(self, content: Content, coding: Coding = IDENTITY) -> Answer:
        """Return the 200 with content in a coding."""
        identified, common = self.identified, self.common
        tag = f'ETag: "{identified.tag(coding)}"'
        headers = (tag, *coding.lines, *common.headers, *self.links(content.total_count))
        return Answer(content.pieces, identified.identity.media_type, headers=headers, vary=common.vary)

    def not_modified(self, tag: str) -> Answer:
        """Return the 304 for a client that has the representation with this tag."""
        headers = (f'ETag: "{tag}"', *self.common.headers)
        return Answer((), status=_NOT_MODIFIED, headers=headers, vary=self.common.vary)


class Negotiation:
    """Answers requests for representations, and caches encoded bodies by identity and coding."""

    def __init__(self, encoded_bytes: int, count: Callable[[Event], None]) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="encoding")
        self._data, self._documents = (
            BoundedCache[tuple[Identity, str], Content](size) for size in (encoded_bytes, _DOCUMENT_BYTES)
        )

    async def answer(self, representation: Representation, fields: RequestFields) -> Answer:
        """Answer a GET with these header fields; a long body is encoded in a thread. Raises `PreconditionFailed`."""
        codings = fields.codings
        if fields.is_conditional:
            tags = [representation.identified.tag(coding) for coding in codings]
            tag = evaluate_conditions(fields.all, tags, representation.common.modified)
            if tag is not None:
                return representation.not_modified(tag or tags[codings.index(_ok_coding(representation, codings))])
        if codings[0] is IDENTITY:
            if representation.takes_turns:
                await representation.prepare()
            return representation.ok(representation.content())
        cache = self._documents if representation.is_document else self._data
        key = representation.identified.identity, codings[0].token
        encoded = cache.get(key)
        if encoded is not None:
            self._count(Event.ENCODED_HIT)
            return representation.ok(encoded, codings[0])
        if representation.takes_turns:
            await representation.prepare()
        content = representation.content()
        coding = _choose(codings, content)
        if coding is IDENTITY:
            return representation.ok(content)
        self._count(Event.ENCODED_MISS)
        if content.length <= INLINE_BYTES:
            encoded = _encode(content, coding)
        else:
            encoded = await asyncio.get_running_loop().run_in_executor(self._threads, _encode, content, coding)
        # A short body is encoded only for the rare client that refuses identity.
        if content.length >= MIN_BYTES and key not in cache:
            cache.put(key, encoded, encoded.length + key[0].nbytes)
        return representation.ok(encoded, coding)


def _ok_coding(representation: Representation, codings: Sequence[Coding]) -> Coding:
    """Return the coding of the 200. Only for that may a 304 need the content."""
    return IDENTITY if codings[0] is IDENTITY else _choose(codings, representation.content())


def _choose(codings: Sequence[Coding], content: Content) -> Coding:
    return IDENTITY if content.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encode(content: Content, coding: Coding) -> Content:
    return Content((coding.encode(b"".join(content.pieces)),), content.total_count)
