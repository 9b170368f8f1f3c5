"""What is answered to GET: known by its validators before its content is, and sent in a coding that is accepted."""

import asyncio
from collections.abc import Callable, Sequence
from http import HTTPStatus
from weakref import WeakKeyDictionary

import msgspec
from aiohttp import hdrs

from service.engine.kept import Kept
from service.web.answer import JSON, Answer, header_lines
from service.web.coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding, acceptable
from service.web.conditional import Headers, unchanged


class Content(msgspec.Struct, frozen=True):
    """A body, in pieces, and the header lines that stand beside it alone."""

    pieces: Sequence[bytes | memoryview]
    headers: str = ""


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
    tag      the opaque tag of the content without a coding
    content  works the content out
    """

    owner: object
    tag: str
    common: Common
    content: Callable[[], Content]


class Sender:
    """Answers requests for representations; keeps encoded answers, up to some size, as long as their owner lives."""

    def __init__(self, encoded_bytes: int) -> None:
        self._encoded_bytes = encoded_bytes
        self._encoded: WeakKeyDictionary[object, Kept[Answer]] = WeakKeyDictionary()

    async def answer(self, asked: Representation, headers: Headers) -> Answer:
        """Answer a GET request with its header fields. Raises `PreconditionFailed`."""
        codings = acceptable(*headers.getall(hdrs.ACCEPT_ENCODING, ()))
        tag = unchanged(headers, [asked.tag + coding.suffix for coding in codings], asked.common.modified)
        if tag is not None:
            return _not_modified(asked, tag or asked.tag + _coding_of(asked, codings).suffix)
        if codings[0] is IDENTITY:
            return _whole(asked, IDENTITY, asked.content())
        return await self._encoded_answer(asked, codings)

    async def _encoded_answer(self, asked: Representation, codings: Sequence[Coding]) -> Answer:
        kept = self._kept(asked.owner)
        tag = asked.tag + codings[0].suffix
        answer = kept.get(tag)
        if answer is not None:
            return answer
        content = asked.content()
        coding = _chosen(codings, content)
        if coding is IDENTITY:
            return _whole(asked, IDENTITY, content)
        answer = _whole(asked, coding, await _encoded(content, coding))
        if kept.get(tag) is None:  # nobody else was as quick
            kept.keep(tag, answer, sum(map(len, answer.pieces)) + len(answer.headers))
        return answer

    def _kept(self, owner: object) -> Kept[Answer]:
        kept = self._encoded.get(owner)
        if kept is None:
            kept = self._encoded[owner] = Kept(self._encoded_bytes)
        return kept


def _coding_of(asked: Representation, codings: Sequence[Coding]) -> Coding:
    """Return the coding that would be answered in."""
    return IDENTITY if codings[0] is IDENTITY else _chosen(codings, asked.content())


def _chosen(codings: Sequence[Coding], content: Content) -> Coding:
    short = sum(map(len, content.pieces)) < MIN_BYTES
    return IDENTITY if short and IDENTITY in codings else codings[0]


async def _encoded(content: Content, coding: Coding) -> Content:
    body = b"".join(content.pieces)
    encoded = coding.encode(body) if len(body) <= INLINE_BYTES else await asyncio.to_thread(coding.encode, body)
    return Content((encoded,), header_lines({"Content-Encoding": coding.token}) + content.headers)


def _not_modified(asked: Representation, tag: str) -> Answer:
    lines = _tag_line(tag) + asked.common.headers
    return Answer((), status=HTTPStatus.NOT_MODIFIED.value, headers=lines, vary=asked.common.vary)


def _whole(asked: Representation, coding: Coding, content: Content) -> Answer:
    common = asked.common
    lines = _tag_line(asked.tag + coding.suffix) + common.headers + content.headers
    return Answer(content.pieces, common.media_type, headers=lines, vary=common.vary)


def _tag_line(tag: str) -> str:
    return f'ETag: "{tag}"\r\n'
