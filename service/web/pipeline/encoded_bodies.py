"""The bodies of plans in content codings (RFC 9110 section 12.5.3)."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from service.background_threads import background_threads
from service.model.errors import PreconditionFailed
from service.web.headers.conditional import evaluate_conditions
from service.web.headers.content_coding import IDENTITY, INLINE_BYTES, MIN_BYTES, Coding
from service.web.pipeline.plan import Body, Plan
from service.web.requests.request_fields import RequestFields

# A pool of its own, so that encoding long bodies does not delay a reload.
_THREADS: Final = background_threads(2, "encoding")


async def encoded_body(plan: Plan, codings: Sequence[Coding]) -> Body:
    """Return the body of a plan in one of the accepted codings. A long one is encoded in a thread."""
    body = await plan.format.body()
    coding = codings[0] if plan.format.is_stream else _choose(codings, body)
    if coding is IDENTITY:
        return body
    if body.stream is not None:
        stream = body.stream.map(coding.encode_pieces, coding.part_encoder_bytes)
        return msgspec.structs.replace(body, coding=coding, stream=stream)
    if body.length <= INLINE_BYTES:
        return _encode(body, coding)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, _encode, body, coding)


async def unchanged(plan: Plan, fields: RequestFields) -> str | None:
    """Return the tag of a plan's 304 if the client has its representation, else None. Raises `PreconditionFailed`.

    The body is made only if the client does not name the tag, and the body may fail or its length decides the coding.
    """
    codings, representation = fields.codings, plan.representation
    tags = representation.tags(codings)
    try:
        tag = evaluate_conditions(fields.all, tags, representation.common.modified)
    except PreconditionFailed:
        if plan.format.may_fail:
            await plan.format.body()
        raise
    if tag != "":
        return tag
    if plan.format.is_stream or (codings[0] is IDENTITY and not plan.format.may_fail):
        return tags[0]
    return tags[codings.index(_choose(codings, await plan.format.body()))]


def _choose(codings: Sequence[Coding], body: Body) -> Coding:
    return IDENTITY if body.length < MIN_BYTES and IDENTITY in codings else codings[0]


def _encode(body: Body, coding: Coding) -> Body:
    return Body((coding.encode(b"".join(body.pieces)),), body.total_count, coding)
