"""Requests to the service, and to its model."""

import asyncio
from collections.abc import Container, Iterable, MutableMapping
from io import BytesIO
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from service.model.operation import IGNORED_HEADER
from service.web.pipeline.app import App
from tests.web.connections.harness import Wire
from tests.web.reply import read_reply, request

if TYPE_CHECKING:  # it takes 0.4 s to import, in each process of a run of all tests
    from fastapi import FastAPI

STRICT: Final = "/strict"  # the prefix of the paths of requests that prefer it


class RawAnswer(NamedTuple):
    """The status and the body of a response, and the parameters that it names as ignored."""

    status: int
    body: bytes
    ignored: bytes = b""


async def send_to_service(app: App, path: str, query: bytes, *, strict: bool = False, accept: str = "") -> RawAnswer:
    """Send a request to the service, the query unchanged."""
    fields = [*(["Prefer: handling=strict"] if strict else []), *([f"Accept: {accept}"] if accept else [])]
    target = f"{path}?{query.decode('utf-8', 'surrogateescape')}"
    wire = Wire(app)
    wire.put(request(target, *fields, "Connection: close"))
    while not wire.ended:  # noqa: ASYNC110 - a thread may make it, outside of this loop
        await asyncio.sleep(0)
    reply = read_reply(BytesIO(wire.received), has_body=True)
    return RawAnswer(reply.status, reply.body, reply.headers.get(IGNORED_HEADER, "").encode())


async def send_to_model(
    model: "FastAPI", path: str, query: bytes, *, strict: bool = False, accept: str = ""
) -> RawAnswer:
    """Send a request to the model, as an ASGI server would, but with the raw path: Starlette does not support `%2F`."""
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    whole = STRICT + path if strict else path
    headers = [(b"accept", accept.encode())] if accept else []
    scope = {"type": "http", "method": "GET", "path": whole, "headers": headers, "http_version": "1.1"}
    await model({**scope, "query_string": query}, receive, send)
    start, *rest = sent
    ignored = dict(start["headers"]).get(IGNORED_HEADER.lower().encode(), b"")
    return RawAnswer(start["status"], b"".join(message.get("body", b"") for message in rest), ignored)


_UNESCAPED: Final = f"{ascii_letters}{digits}!#$&'*+-.^_`|~"


def ignored(names: Iterable[str], known: Container[str]) -> str:
    """Return the value of the field of a request with some names of parameters, the empty text if it has none."""
    listed = ""
    for name in dict.fromkeys(names):
        escaped = "".join(chr(byte) if chr(byte) in _UNESCAPED else f"%{byte:02X}" for byte in name.encode())
        longer = f"{listed}, {escaped}" if listed else escaped
        if escaped and name not in known and len(longer) <= 256 and longer.count(",") < 8:
            listed = longer
    return listed
