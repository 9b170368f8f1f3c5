"""Routes: which function answers a path."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import msgspec

from service.model.errors import RequestError
from service.model.operation import Operation
from service.web.answer import Answer
from service.web.representation import Representation

_ANY: Final = "{}"


class Call(msgspec.Struct, frozen=True):
    """A request to a route.

    segment        raw value of the route's path parameter: it is not decoded for clients without a key
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

    def find(self, path: str) -> Match:
        """Return the route of a raw path, and the raw value of its path parameter."""
        return self._literal.get(path) or self._match(path.removeprefix("/").split("/", _MAX_SEGMENTS))

    def _match(self, segments: list[str]) -> Match:
        if len(segments) > _MAX_SEGMENTS:
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
