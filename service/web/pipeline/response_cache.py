"""The response cache."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec
from aiohttp import hdrs

from service.engine.columns.bounded_cache import BoundedCache
from service.publishing.snapshot import SnapshotHolder
from service.web.http.conditional import evaluate_conditions
from service.web.http.request import Request, RequestFields
from service.web.http.response import Answer, held_bytes
from service.web.pipeline.counters import Event
from service.web.pipeline.plan import Representation, encoded_body, unchanged
from service.web.pipeline.routes import Call, ResourceRoute

# Documents have a cache of their own: anyone may request them, so they must not evict data or be evicted by it.
_DOCUMENT_BYTES: Final = 8 << 20
# Memory of the objects of an entry without their texts, and of a character of the request in its links and values.
_OVERHEAD_BYTES: Final = 4096
_CHARACTER_BYTES: Final = 16

# To look a member of an enumeration up in its class takes six times as long.
ANSWER_HIT: Final = Event.ANSWER_HIT

# All that an answer depends on except the snapshot, as lines: the request line (of a HEAD: that of its GET), or the
# path of a document; then `RequestFields.wanted`. Not a pair, which the garbage collector would traverse.
_Key: TypeAlias = bytes


class CachedResponse(msgspec.Struct, eq=False, gc=False):
    """A cached answer, and what evaluates the conditions of the next request for it.

    route  the name of the route, for counters and logs
    path   the path of the request
    tag    the entity tag of the 200; None if its coding depends on a length that is not known
    ok     the 200; None if the request only got a 304
    _tags  the tags in the content codings that the request accepts; empty until a request has a condition
    """

    route: str
    path: str
    representation: Representation
    tag: str | None
    ok: Answer | None
    _tags: Sequence[str] = ()

    def answer(self, fields: RequestFields) -> Answer | None:
        """Return the answer to a request; None if it has to be made. Raises `PreconditionFailed`."""
        if fields.is_conditional:
            if not self._tags:
                self._tags = self.representation.tags(fields.codings)
            tag = evaluate_conditions(fields.all, self._tags, self.representation.common.modified)
            if tag is not None:
                matched = tag or self.tag
                return None if matched is None else self.representation.not_modified(matched)
        return self.ok

    @property
    def nbytes(self) -> int:
        """Its memory in bytes, except what depends on the length of the request."""
        return _OVERHEAD_BYTES + (0 if self.ok is None else held_bytes(self.ok.pieces))


class ResponseCache:
    """Makes answers by the plans of routes, and caches those of the current snapshot."""

    def __init__(self, snapshots: SnapshotHolder, max_bytes: int, count: Callable[[Event], None]) -> None:
        self._snapshots, self._count = snapshots, count
        self._data = BoundedCache[_Key, CachedResponse](max_bytes)
        self._documents = BoundedCache[_Key, CachedResponse](_DOCUMENT_BYTES)
        snapshots.caches += (self._data, self._documents)

    def get(self, line: bytes, fields: RequestFields) -> CachedResponse | None:
        """Look up the answer to a GET of data by its line and header fields."""
        return self._data.get(line + fields.wanted)

    async def answer(self, route: ResourceRoute, segment: str, request: Request) -> Answer:
        """Return the answer to a request to a route. Raises `RequestError`."""
        fields = request.fields
        if route.protected:
            line = request.line if request.method == hdrs.METH_GET else _as_get(request)
            cache, key = self._data, line + fields.wanted
        else:  # a document has no parameters
            cache, key = self._documents, route.path.encode() + fields.wanted
        cached = cache.get(key)
        if cached is not None and (answer := cached.answer(fields)) is not None:
            self._count(ANSWER_HIT)
            return answer
        self._count(Event.ANSWER_MISS)
        snapshot, codings = self._snapshots.current, fields.codings
        plan = route.plan(Call(segment, request.query, fields))
        if fields.is_conditional and (tag := await unchanged(plan, fields)) is not None:
            answer, ok = plan.representation.not_modified(tag), None
            known_tag = tag if len(codings) == 1 else None
        else:
            body = await encoded_body(plan, codings)
            answer = ok = plan.ok(body)
            known_tag = plan.representation.tag(body.coding)
        # The snapshot may have been swapped while the body was made.
        if not plan.format.is_stream and self._snapshots.current is snapshot:
            entry = CachedResponse(route.name, request.path, plan.representation, known_tag, ok)
            cache.put(key, entry, entry.nbytes + _CHARACTER_BYTES * len(key))
        return answer


def _as_get(request: Request) -> bytes:
    """Return the line of the GET for the same target: the answer to a HEAD has the same header fields."""
    return hdrs.METH_GET.encode() + request.line.removeprefix(request.method.encode())
