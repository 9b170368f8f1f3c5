"""The parameters of a request, parsed: the path segment and the query."""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias
from urllib.parse import unquote

import msgspec
from msgspec import UNSET

from service.model.attributes import Schema
from service.model.operation import JSON
from service.model.query import Query, QueryParser
from service.web.headers.header_lines import HeaderLines
from service.web.headers.ignored_parameters import ignored_parameter_lines
from service.web.headers.links import body_link_base
from service.web.pipeline.identity import Identity
from service.web.pipeline.plan import CommonHeaders, Representation
from service.web.requests.request_target import query_pairs

# The data set that is served, and the one that requests still read.
_SCHEMAS: Final = 2


class RequestParameters(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The path segment, decoded, and the query of a request to an operation, whose query string was `raw`.

    ignored  the field of the unknown parameters
    """

    operation: str
    segment: str
    raw: str
    query: Query
    media_type: str = JSON
    ignored: HeaderLines = ""

    def representation(self, version: str, common: CommonHeaders, media_type: str = "") -> Representation:
        """Return the representation from the data of a version, in another media type than the default."""
        media_type = media_type or self.media_type
        links = UNSET if media_type == self.media_type else body_link_base(self.operation, self.raw)
        asked = self.segment or self.query.normalized
        return Representation(Identity(self.operation, asked, version, media_type, links=links), common, self.ignored)


# Parses a raw path segment and query string, whose parameters are those of a schema; if the flag is set, unknown names
# are errors. Raises UnprocessableContent.
Parse: TypeAlias = Callable[[Schema, str, str, bool], RequestParameters]


def parser(operation: str, make: Callable[[Schema], QueryParser], media_type: str = JSON) -> Parse:
    """Return the parser of the parameters of an operation with responses of a media type."""
    reader_of = lru_cache(_SCHEMAS)(make)

    def parse(schema: Schema, segment: str, raw: str, strict: bool) -> RequestParameters:  # noqa: FBT001 - of a request
        reader, pairs = reader_of(schema), query_pairs(raw)
        query = reader.parse(pairs, strict=strict)
        unknown = reader.unknown(pairs)
        ignored = ignored_parameter_lines(unknown) if unknown else ""
        decoded = unquote(segment) if "%" in segment else segment
        return RequestParameters(operation, decoded, raw, query, media_type, ignored)

    return parse
