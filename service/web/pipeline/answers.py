"""Answers to requests, made by plans and cached."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from http import HTTPStatus
from time import perf_counter
from typing import Any, Final, TypeAlias, TypeVar

from aiohttp import hdrs

from service.background import background_threads
from service.engine.columns.bounded_cache import BoundedCache
from service.engine.columns.row_budget import OverBudget, within_budget
from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.web.http.content_coding import IDENTITY, INLINE_BYTES
from service.web.http.request import Request, RequestFields
from service.web.http.response import Answer, held_bytes
from service.web.pipeline.counters import Event
from service.web.pipeline.plan import Plan, Representation, in_turn
from service.web.pipeline.routes import ResourceRoute

# Documents have a cache of their own: anyone may request them, so they must not evict data or be evicted by it.
_DOCUMENT_BYTES: Final = 8 << 20
# Memory of the objects of an entry without their texts, and of a character of the request in its links and values.
_OVERHEAD_BYTES: Final = 4096
_CHARACTER_BYTES: Final = 16
# An answer that took so long, in seconds, is kept at once, others when they are requested again: most never are.
_LONG: Final = 0.001
_OK: Final = HTTPStatus.OK.value
# Hashes of requests that were sent once, so many that their set takes a megabyte.
_MOST_ONCE: Final = 1 << 14

# To look a member of an enumeration up in its class takes six times as long.
ANSWER_HIT, _MISS = Event.ANSWER_HIT, Event.ANSWER_MISS

# A pool of its own, so that encoding long bodies does not delay a reload.
_THREADS: Final = background_threads(2, "encoding")

# All that an answer depends on except the snapshot, as lines: the request line (of a HEAD: that of its GET), or the
# path of a document; then `RequestFields.cache_key_suffix`. Not a pair, which the garbage collector would traverse.
_Key: TypeAlias = bytes
_Cache: TypeAlias = BoundedCache[_Key, Representation]


# Waits for a result that is not there at once.
_Result = TypeVar("_Result")
Deferred: TypeAlias = Callable[[], Coroutine[Any, Any, _Result]]


class Answers:
    """Makes answers by the plans of routes, and caches those of the current snapshot."""

    def __init__(self, snapshots: SnapshotHolder, max_bytes: int, count: Callable[[Event], None]) -> None:
        self._snapshots, self._count = snapshots, count
        self.data: _Cache = BoundedCache(max_bytes)
        self._documents: _Cache = BoundedCache(_DOCUMENT_BYTES)
        self._once: set[int] = set()  # hashes of keys: two that are equal by chance only mean that one is kept at once
        snapshots.caches += (self.data, self._documents)

    def answer(
        self, route: ResourceRoute, segment: str, request: Request, key_name: str | None = None
    ) -> Answer | Deferred[Answer]:
        """Return the answer to a request to a route, or what waits for it. Raises `RequestError`.

        `key_name` is the name of the client's key, if there are any.
        """
        started, fields = perf_counter(), request.fields
        if route.protected:
            line = request.line
            if request.method != hdrs.METH_GET:  # the answer to a HEAD has the same header fields
                line = hdrs.METH_GET.encode() + line.removeprefix(request.method.encode())
            cache, key = self.data, line + fields.cache_key_suffix
        else:  # a document has no parameters
            cache, key = self._documents, route.path.encode() + fields.cache_key_suffix
        cached = cache.get(key)
        if cached is not None and (answer := cached.answer(fields, is_public=request.is_public)) is not None:
            self._count(ANSWER_HIT)
            return answer
        self._count(_MISS)
        snapshot = self._snapshots.current
        plan = route.plan(segment, request)
        make = partial(plan.not_modified_or_made, fields) if fields.is_conditional else plan.make
        try:
            made = within_budget(make)
        except OverBudget:
            made = None  # awaiting here would make it the context of an error, and a cycle with this frame
        coding = fields.codings[0]
        if made is None or (coding is not IDENTITY and made.length > INLINE_BYTES):
            keep = partial(self._keep, route, request, key, snapshot, plan)
            return partial(self._wait, plan, fields, made or make, key_name, keep)
        if made.status == _OK:
            if coding is not IDENTITY:
                coding = plan.coding(made, fields.codings)
            plan.finish(made, coding)
        seen, once = hash(key), self._once
        if seen in once or coding is not IDENTITY or not route.protected or perf_counter() - started > _LONG:
            self._keep(route, request, key, snapshot, plan)
            return made
        if len(once) >= _MOST_ONCE:
            once.clear()
        once.add(seen)
        return made

    async def _wait(
        self,
        plan: Plan,
        fields: RequestFields,
        made: Answer | Callable[[], Answer],
        key_name: str | None,
        keep: Callable[[], None],
    ) -> Answer:
        """Return an answer that is made, encoded or both in a thread, and keep it."""
        if not isinstance(made, Answer):
            made = await in_turn(plan.threads, made, key_name)
        if made.status == _OK:
            coding = plan.coding(made, fields.codings)
            if coding is IDENTITY or made.length <= INLINE_BYTES:  # of a stream nothing is made yet
                plan.finish(made, coding)
            else:
                await asyncio.get_running_loop().run_in_executor(_THREADS, plan.finish, made, coding)
        keep()
        return made

    def _keep(self, route: ResourceRoute, request: Request, key: _Key, snapshot: Snapshot | None, plan: Plan) -> None:
        """Keep an answer, unless it is a stream or the snapshot was swapped while it was made."""
        if not plan.is_stream and self._snapshots.current is snapshot:
            kept, cache = plan.representation, self.data if route.protected else self._documents
            kept.route, kept.path = route.name, request.path
            held = 0 if kept.ok is None else held_bytes(kept.ok.pieces)
            cache.put(key, kept, _OVERHEAD_BYTES + held + _CHARACTER_BYTES * len(key))
