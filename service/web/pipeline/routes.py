"""Routes: what answers a path, and how its parameters are parsed."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import msgspec
from msgspec import UNSET

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.operation import JSON, Operation
from service.model.query import Query, QueryParser
from service.web.http.header_fields import HeaderLines
from service.web.http.links import body_link_base, ignored_parameter_lines
from service.web.http.request import RequestFields, query_pairs
from service.web.http.response import Answer
from service.web.pipeline.plan import CommonHeaders, Identity, Plan, Representation

_ANY: Final = "{}"


class Call(msgspec.Struct, frozen=True, gc=False):
    """A request to a route.

    segment  raw value of the route's path parameter: it is not decoded for clients without a key
    query    raw query string
    fields   header fields
    """

    segment: str
    query: str
    fields: RequestFields


class _Path(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A path.

    describe  describes it in the OpenAPI document, given the schema of records; None if it is not in there
    group     what its requests are counted and logged as, if not as those of the path
    """

    path: str
    describe: Callable[[Schema], Operation] | None = None
    group: str = ""

    @cached_property
    def name(self) -> str:
        """What its requests are counted and logged as."""
        return self.group or self.path

    @cached_property
    def protected(self) -> bool:
        """Whether it needs a key."""
        return self.describe is not None and self.describe(NO_ATTRIBUTES).protected


class AnswerRoute(_Path, frozen=True, kw_only=True):
    """A path that a function answers, which gets the header fields and whether the request has a valid key."""

    answer: Callable[[RequestFields, bool], Answer]


class ResourceRoute(_Path, frozen=True, kw_only=True):
    """The path of a resource: a function returns the plan of the answer to a call. Raises `RequestError`."""

    plan: Callable[[Call], Plan]


Route: TypeAlias = AnswerRoute | ResourceRoute

# A route, or None, and the raw value of its path parameter.
Match = tuple[Route | None, str]

_MAX_SEGMENTS: Final = 2
# The characters that one character of a name can take: `%2F`.
_ESCAPE: Final = 3


class Routes:
    """Finds the route of a path; a path has at most two segments, of which the second may be a parameter.

    Anyone may request any path: no more of it is split or decoded than a name of a route can have.
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: Mapping[tuple[str, ...], Route] = {_pattern(route.path): route for route in routes}
        self._longest = max((_ESCAPE * len(name) for pattern in self._routes for name in pattern), default=0)
        self._literal: Mapping[str, Match] = {
            route.path: (route, "") for pattern, route in self._routes.items() if _ANY not in pattern
        }
        # Parents of a parameter that have no other children.
        self._parents: Mapping[str, Route] = {
            f"/{parent}": self._routes[parent, _ANY]
            for parent, *children in self._routes
            if children == [_ANY] and [each for each, *rest in self._routes if rest].count(parent) == 1
        }

    def find(self, path: str) -> Match:
        """Return the route of a raw path, and the raw value of its path parameter."""
        match = self._literal.get(path)
        if match is not None:
            return match
        parent, _, last = path.rpartition("/")
        route = self._parents.get(parent)
        if route is not None and last:
            return route, last
        return self._match(path.removeprefix("/").split("/", _MAX_SEGMENTS))

    def _match(self, segments: list[str]) -> Match:
        if len(segments) > _MAX_SEGMENTS or segments == [""]:  # an empty path is not that of /
            return None, ""
        names = tuple(map(self._name, segments))
        route = self._routes.get(names)
        if route is not None and _ANY not in names:
            return route, ""
        last = segments[-1]
        return (self._routes.get((*names[:-1], _ANY)) if last else None), last

    def _name(self, segment: str) -> str:
        """Return a segment percent-decoded, so that `%2F` is part of it, unless it is too long for a name."""
        return unquote(segment) if len(segment) <= self._longest else segment


def _pattern(path: str) -> tuple[Any, ...]:
    return tuple(_ANY if segment.startswith("{") else segment for segment in path.removeprefix("/").split("/"))


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
        parameters = self.segment or self.query.normalized
        return Representation(
            Identity(self.operation, parameters, version, media_type, links=links), common, self.ignored
        )


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
