"""The plan of an answer: everything that is decided before the body is made."""

from abc import abstractmethod
from collections.abc import Sequence
from http import HTTPStatus
from typing import ClassVar, Final

import msgspec

from service.web.answers.answer import Answer
from service.web.answers.stream import Stream
from service.web.headers.content_coding import IDENTITY, Coding
from service.web.headers.header_lines import LINE_END, HeaderLines
from service.web.pipeline.identity import Identity, entity_tag

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
