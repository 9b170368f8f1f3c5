"""Which path is answered by what."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from service.errors import RequestError
from service.operation import Operation
from service.web.answer import Answer
from service.web.representation import Representation
from service.web.target import path_segments

_ANY: Final = "{}"


class Call(msgspec.Struct, frozen=True):
    """What a route is asked.

    segment   that which stands for its parameter
    query     raw
    strict    whether unknown parameters are refused
    known     whether the caller is let in, where that need not be
    versions  which data is meant, if not any, as the fields of the request have it
    """

    segment: str
    query: str
    strict: bool = False
    known: bool = True
    versions: Sequence[str] = ()


# A representation may turn out to be what the client has already, or be sent in a coding.
Outcome: TypeAlias = Answer | Representation | RequestError


class Route(msgspec.Struct, frozen=True):
    """A path, what answers it, whether a key is needed; without an `operation` it is not in the OpenAPI document."""

    path: str
    answer: Callable[[Call], Outcome]
    operation: Operation | None = None
    protected: bool = False


def described(operation: Operation, answer: Callable[[Call], Outcome]) -> Route:
    """Return the route of an operation."""
    return Route(operation.path, answer, operation, operation.protected)


# A route, or None, and the segment that stands for its parameter.
Found = tuple[Route | None, str]


class Routes:
    """Finds the route of a path; a path has at most two segments, of which the second may be a parameter."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: Mapping[tuple[str, ...], Route] = {_pattern(route.path): route for route in routes}
        self._most_segments = max(map(len, self._routes), default=0)
        self._as_written: Mapping[str, Found] = {
            route.path: (route, "") for pattern, route in self._routes.items() if _ANY not in pattern
        }

    def find(self, path: str) -> Found:
        """Return the route of a raw path, and its decoded segment that stands for the parameter."""
        found = self._as_written.get(path)
        if found is not None:
            return found
        if path.count("/") > self._most_segments:  # thousands of them would take milliseconds to decode
            return None, ""
        return self._decoded(path_segments(path))

    def _decoded(self, segments: tuple[str, ...]) -> Found:
        route = self._routes.get(segments)
        if route is not None and _ANY not in segments:
            return route, ""
        *above, last = segments
        return (self._routes.get((*above, _ANY)) if last else None), last


def _pattern(path: str) -> tuple[Any, ...]:
    return tuple(_ANY if segment.startswith("{") else segment for segment in path.removeprefix("/").split("/"))
