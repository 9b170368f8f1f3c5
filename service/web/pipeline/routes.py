"""Routes: what answers a path."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import msgspec

from service.model.attributes import NO_ATTRIBUTES, Schema
from service.model.operation import Operation
from service.web.http.request import Request, RequestFields
from service.web.http.response import Answer
from service.web.pipeline.plan import Plan

_ANY: Final = "{}"


class _Path(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A path.

    describe    describes it in the OpenAPI document, given the schema of records; None if it is not in there
    group       what its requests are counted and logged as, if not as those of the path
    any_origin  whether pages of any origin may read its answers
    """

    path: str
    describe: Callable[[Schema], Operation] | None = None
    group: str = ""
    any_origin: bool = False

    @cached_property
    def name(self) -> str:
        """What its requests are counted and logged as."""
        return self.group or self.path

    @cached_property
    def protected(self) -> bool:
        """Whether it needs a key."""
        return self.describe is not None and self.describe(NO_ATTRIBUTES).protected

    @cached_property
    def public(self) -> bool:
        """Whether a public key is valid for it."""
        return self.describe is not None and self.describe(NO_ATTRIBUTES).public


class AnswerRoute(_Path, frozen=True, kw_only=True):
    """A path that a function answers, which gets the header fields and whether the request has a valid key."""

    answer: Callable[[RequestFields, bool], Answer]


class ResourceRoute(_Path, frozen=True, kw_only=True):
    """The path of a resource: a function returns the plan of an answer. Raises `RequestError`.

    It gets the raw value of the path parameter, which is not decoded for clients without a key, and the request.
    """

    plan: Callable[[str, Request], Plan]


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
        self._by_parent: Mapping[str, Route] = {
            route.path.rpartition("/")[0]: route for pattern, route in self._routes.items() if _ANY in pattern
        }

    def find(self, path: str) -> Match:
        """Return the route of a raw path, and the raw value of its path parameter."""
        match = self._literal.get(path)
        if match is not None:
            return match
        parent, _, last = path.rpartition("/")
        if last and "%" not in last and (route := self._by_parent.get(parent)) is not None:
            return route, last
        segments = path.removeprefix("/").split("/", _MAX_SEGMENTS)
        if len(segments) > _MAX_SEGMENTS or segments == [""]:  # an empty path is not that of /
            return None, ""
        # Percent-decoded, so that `%2F` is part of a segment, unless one is too long for a name.
        names = tuple([unquote(each) if "%" in each and len(each) <= self._longest else each for each in segments])
        if (route := self._routes.get(names)) is not None and _ANY not in names:
            return route, ""
        return (self._routes.get((*names[:-1], _ANY)) if last else None), last


def _pattern(path: str) -> tuple[Any, ...]:
    return tuple(_ANY if segment.startswith("{") else segment for segment in path.removeprefix("/").split("/"))
