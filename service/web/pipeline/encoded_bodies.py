"""The bodies of plans in content codings (RFC 9110 section 12.5.3). Encoded bodies are cached."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from service.engine.bounded_cache import BoundedCache
from service.web.headers.conditional import evaluate_conditions
from service.web.headers.content_coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding
from service.web.pipeline.identity import Identity
from service.web.pipeline.plan import Body, Plan
from service.web.requests.request_fields import RequestFields
from service.web.telemetry.events import Event

# The cache of encoded documents: anyone may request them, so each is encoded once, whatever is cached of the data.
_DOCUMENT_BYTES: Final = 8 << 20
# A pool of its own, so that encoding long bodies does not delay a reload.
_THREADS: Final = 2


class EncodedBodies:
    """Makes the bodies of plans, and caches encoded ones by identity and coding."""

    def __init__(self, encoded_bytes: int, count: Callable[[Event], None]) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="encoding")
        self._data, self._documents = (
            BoundedCache[tuple[Identity, str], Body](size) for size in (encoded_bytes, _DOCUMENT_BYTES)
        )

    async def body(self, plan: Plan, codings: Sequence[Coding]) -> Body:
        """Return the body of a plan in one of the accepted codings. A long one is encoded in a thread."""
        if plan.format.is_stream:
            return _encode_stream(await plan.format.body(), codings[0])
        cache = self._documents if plan.is_document else self._data
        key = plan.identified.identity, codings[0].token
        encoded = cache.get(key)
        if encoded is not None:
            self._count(Event.ENCODED_HIT)
            return encoded
        body = await plan.format.body()
        coding = _choose(codings, body)
        if coding is IDENTITY:
            return body
        self._count(Event.ENCODED_MISS)
        if body.length <= INLINE_BYTES:
            encoded = _encode(body, coding)
        else:
            encoded = await asyncio.get_running_loop().run_in_executor(self._threads, _encode, body, coding)
        # A short body is encoded only for the rare client that refuses identity.
        if body.length >= MIN_BYTES and key not in cache:
            cache.put(key, encoded, encoded.length + key[0].nbytes)
        return encoded


async def unchanged(plan: Plan, fields: RequestFields) -> str | None:
    """Return the tag of a plan's 304 if the client has its representation, else None. Raises `PreconditionFailed`.

    Only if the client does not name the tag, and the coding depends on the length, is the body made.
    """
    codings = fields.codings
    depends_on_length = codings[0] is not IDENTITY and not plan.format.is_stream
    tags = [plan.identified.tag(coding) for coding in codings]
    tag = evaluate_conditions(fields.all, tags, plan.common.modified)
    if tag != "":
        return tag
    return tags[codings.index(_choose(codings, await plan.format.body())) if depends_on_length else 0]


def _choose(codings: Sequence[Coding], body: Body) -> Coding:
    return IDENTITY if body.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encode_stream(body: Body, coding: Coding) -> Body:
    stream = None if body.stream is None else body.stream.map(coding.encode_pieces)
    return msgspec.structs.replace(body, coding=coding, stream=stream)


def _encode(body: Body, coding: Coding) -> Body:
    return Body((coding.encode(b"".join(body.pieces)),), body.total_count, coding)
