"""Representations: the current states of resources, which answers to GET transfer (RFC 9110 section 3.2)."""

from collections.abc import Sequence
from http import HTTPStatus

import msgspec

from service.web.answer import Answer, HeaderLines
from service.web.headers.content_coding import IDENTITY, Coding
from service.web.identity import Identified


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
    """

    identified: Identified
    common: CommonHeaders
    is_document: bool = False

    def content(self) -> Content:
        """Compute the content."""
        raise NotImplementedError

    def links(self, total_count: int) -> HeaderLines:  # noqa: ARG002 - only pages have links
        """Return the Link field. It depends on the query as the client wrote it, so it is no part of the content."""
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
        return Answer((), status=HTTPStatus.NOT_MODIFIED.value, headers=headers, vary=self.common.vary)
