"""Routes: which function answers a path."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from service.model.errors import RequestError
from service.model.operation import Operation
from service.web.answer import Answer
from service.web.representation import Representation
from service.web.request_target import path_segments

_ANY: Final = "{}"


class Call(msgspec.Struct, frozen=True):
    """A request to a route.

    segment        value of the route's path parameter
    query          raw query string
    strict         whether unknown parameters are errors
    authenticated  whether the request has a valid key, on a route that needs none
    versions       values of X-Dataset-Version, the data versions that the client expects
    """

    segment: str
    query: str
    strict: bool = False
    authenticated: bool = True
    versions: Sequence[str] = ()


# Of a representation the sender makes a 200 or a 304, in a content coding.
Outcome: TypeAlias = Answer | Representation | RequestError


class Route(msgspec.Struct, frozen=True):
    """A path and the function that answers it.

    operation  describes it in the OpenAPI document; None if it is not in there
    protected  whether it needs a key
    """

    path: str
    answer: Callable[[Call], Outcome]
    operation: Operation | None = None
    protected: bool = False


def operation_route(operation: Operation, answer: Callable[[Call], Outcome]) -> Route:
    """Return the route of an operation."""
    return Route(operation.path, answer, operation, operation.protected)


# A route, or None, and the value of its path parameter.
Match = tuple[Route | None, str]


class Routes:
    """Finds the route of a path; a path has at most two segments, of which the second may be a parameter."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: Mapping[tuple[str, ...], Route] = {_pattern(route.path): route for route in routes}
        self._max_segments = max(map(len, self._routes), default=0)
        self._literal: Mapping[str, Match] = {
            route.path: (route, "") for pattern, route in self._routes.items() if _ANY not in pattern
        }

    def find(self, path: str) -> Match:
        """Return the route of a raw path, and the decoded value of its path parameter."""
        found = self._literal.get(path)
        if found is not None:
            return found
        if path.count("/") > self._max_segments:  # decoding thousands of segments would take milliseconds
            return None, ""
        return self._match(path_segments(path))

    def _match(self, segments: tuple[str, ...]) -> Match:
        route = self._routes.get(segments)
        if route is not None and _ANY not in segments:
            return route, ""
        *above, last = segments
        return (self._routes.get((*above, _ANY)) if last else None), last


def _pattern(path: str) -> tuple[Any, ...]:
    return tuple(_ANY if segment.startswith("{") else segment for segment in path.removeprefix("/").split("/"))
