"""Which path is answered by what."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import msgspec

from service.errors import RequestError
from service.operation import Operation
from service.web.answer import Answer
from service.web.representation import Representation

_ANY: Final = "{}"


class Call(msgspec.Struct, frozen=True):
    """What a route is asked.

    segment   that which stands for its parameter, raw: whoever has no key does not have it decoded
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


# A route, or None, and the raw segment that stands for its parameter.
Found = tuple[Route | None, str]

_MAX_SEGMENTS: Final = 2
# The characters that one of a name may take: `%2F`.
_ESCAPE: Final = 3


class Routes:
    """Finds the route of a path; a path has at most two segments, of which the second may be a parameter.

    Anybody may ask for any path: no more of one is split or decoded than could be a name.
    """

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes: Mapping[tuple[str, ...], Route] = {_pattern(route.path): route for route in routes}
        self._longest = max((_ESCAPE * len(name) for pattern in self._routes for name in pattern), default=0)
        self._as_written: Mapping[str, Found] = {
            route.path: (route, "") for pattern, route in self._routes.items() if _ANY not in pattern
        }

    def find(self, path: str) -> Found:
        """Return the route of a raw path, and its raw segment that stands for the parameter."""
        return self._as_written.get(path) or self._decoded(path.removeprefix("/").split("/", _MAX_SEGMENTS))

    def _decoded(self, segments: list[str]) -> Found:
        if len(segments) > _MAX_SEGMENTS:
            return None, ""
        names = tuple(map(self._name, segments))
        route = self._routes.get(names)
        if route is not None and _ANY not in names:
            return route, ""
        last = segments[-1]
        return (self._routes.get((*names[:-1], _ANY)) if last else None), last

    def _name(self, segment: str) -> str:
        """Return a segment percent-decoded, so that `%2F` is part of it, if it can be the name of one."""
        return unquote(segment) if len(segment) <= self._longest else segment


def _pattern(path: str) -> tuple[Any, ...]:
    return tuple(_ANY if segment.startswith("{") else segment for segment in path.removeprefix("/").split("/"))
