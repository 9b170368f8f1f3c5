"""Requests, as the application sees them."""

import msgspec
from aiohttp import HttpVersion

from service.model.errors import RequestError
from service.web.requests.request_fields import RequestFields


class Request(msgspec.Struct, frozen=True, gc=False):
    """A request.

    line         the request line, which decides method, path, query and version
    path, query  of the target, as the client wrote them
    version      1.0 or 1.1, else `error` is set
    remote       the address of the client; None on a Unix socket
    keep_alive   whether the connection may stay open after the response
    error        an error in the framing or the version, if any: the connection closes after the response
    """

    line: bytes
    method: str
    path: str
    query: str
    version: HttpVersion
    fields: RequestFields
    remote: str | None
    keep_alive: bool = True
    error: RequestError | None = None
