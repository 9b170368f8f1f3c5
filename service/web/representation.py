"""What is answered to GET: known by its validators before its content is, and sent in a coding that is accepted."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Final
from weakref import WeakKeyDictionary

import msgspec
from aiohttp import hdrs

from service.engine.kept import Kept
from service.web.answer import JSON, Answer
from service.web.coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding, acceptable
from service.web.conditional import Headers, is_conditional, unchanged
from service.web.event import Event
from service.web.fields import readable

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


class Common(msgspec.Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """What representations have in common.

    headers   lines that stand on a 200 and on a 304 alike
    vary      the header fields of the request that choose between representations
    modified  when the resource was last modified, in whole seconds, if that is known
    """

    headers: str
    vary: str
    media_type: str = JSON
    modified: int | None = None


class Representation(msgspec.Struct, frozen=True):
    """A resource at this moment.

    owner    that with which the content goes; can be weakly referenced
    tag      the opaque tag of the content without a coding: the same tag is the same content
    content  works the content out
    links    gives the header line of links, from `total_count`; it depends on how the question was written, too
    """

    owner: object
    tag: str
    common: Common
    content: Callable[[], Content]
    links: Callable[[int], str] | None = None

    def whole(self, content: Content, coding: Coding = IDENTITY) -> Answer:
        """Return the answer with content in a coding."""
        common = self.common
        links = self.links(content.total_count) if self.links else ""
        lines = f'ETag: "{self.tag}{coding.suffix}"\r\n{coding.line}{common.headers}{links}'
        return Answer(content.pieces, common.media_type, headers=lines, vary=common.vary)

    def not_modified(self, tag: str) -> Answer:
        """Return the answer to who has the representation of a tag."""
        lines = f'ETag: "{tag}"\r\n{self.common.headers}'
        return Answer((), status=HTTPStatus.NOT_MODIFIED.value, headers=lines, vary=self.common.vary)


class Sender:
    """Answers requests for representations; keeps encoded content, up to some size, as long as its owner lives."""

    def __init__(self, encoded_bytes: int, count: Callable[[Event], None]) -> None:
        self._encoded_bytes, self._count = encoded_bytes, count
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="encoding")
        self._encoded: WeakKeyDictionary[object, Kept[Content]] = WeakKeyDictionary()

    def answer(self, asked: Representation, headers: Headers) -> Answer | Awaitable[Answer]:
        """Answer a GET request with its header fields, at once unless much is to be encoded.

        Raises `PreconditionFailed`.
        """
        codings = acceptable(*readable(headers.getall(hdrs.ACCEPT_ENCODING, ())))
        if is_conditional(headers):
            tag = unchanged(headers, [asked.tag + coding.suffix for coding in codings], asked.common.modified)
            if tag is not None:
                return asked.not_modified(tag or asked.tag + _coding_of(asked, codings).suffix)
        if codings[0] is IDENTITY:
            return asked.whole(asked.content())
        kept = self._kept(asked, codings[0])
        if kept is None:
            return self._encoded_answer(asked, codings)
        self._count(Event.ENCODED_HIT)
        return asked.whole(kept, codings[0])

    def _encoded_answer(self, asked: Representation, codings: Sequence[Coding]) -> Answer | Awaitable[Answer]:
        content = asked.content()
        coding = _chosen(codings, content)
        if coding is IDENTITY:
            return asked.whole(content)
        self._count(Event.ENCODED_MISS)
        if content.length > INLINE_BYTES:
            return self._encoded_meanwhile(asked, content, coding)
        encoded = _encoded(content, coding)
        if content.length >= MIN_BYTES:  # a shorter one is for nobody else
            self._keep(asked, coding, encoded)
        return asked.whole(encoded, coding)

    async def _encoded_meanwhile(self, asked: Representation, content: Content, coding: Coding) -> Answer:
        encoded = await asyncio.get_running_loop().run_in_executor(self._threads, _encoded, content, coding)
        self._keep(asked, coding, encoded)
        return asked.whole(encoded, coding)

    def _kept(self, asked: Representation, coding: Coding) -> Content | None:
        kept = self._encoded.get(asked.owner)
        return None if kept is None else kept.get(asked.tag + coding.suffix)

    def _keep(self, asked: Representation, coding: Coding, encoded: Content) -> None:
        if self._kept(asked, coding) is None:  # nobody else was as quick
            kept = self._encoded.setdefault(asked.owner, Kept(self._encoded_bytes))
            kept.keep(asked.tag + coding.suffix, encoded, encoded.length)


def _coding_of(asked: Representation, codings: Sequence[Coding]) -> Coding:
    """Return the coding that would be answered in: the one thing for which a 304 may need the content."""
    return IDENTITY if codings[0] is IDENTITY else _chosen(codings, asked.content())


def _chosen(codings: Sequence[Coding], content: Content) -> Coding:
    return IDENTITY if content.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encoded(content: Content, coding: Coding) -> Content:
    return Content((coding.encode(b"".join(content.pieces)),), content.total_count)
