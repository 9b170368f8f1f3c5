"""The requests of a client on one connection, parsed as the connection parses them."""

from typing import Final

from bench.engine.request_pipeline import Target
from service.web.connections.framing import read_request
from service.web.connections.heads import HeadReader
from service.web.connections.parse_errors import RejectedHead
from service.web.connections.repeated_fields import RepeatedFields
from service.web.requests.request import Request

_ADDRESS: Final = "127.0.0.1"


class RequestReader:
    """Reads the requests of one connection."""

    def __init__(self) -> None:
        self._heads, self._repeated = HeadReader(), RepeatedFields()

    def read_again(self, received: bytearray) -> Request:
        """Read a request whose header fields are those of the request before, and were parsed then."""
        line = self._repeated.find(received)
        request = None if line is None else self._repeated.read(line, _ADDRESS)
        if request is None:
            raise ValueError("the header fields differ from those of the request before")
        del received[: self._repeated.end]
        return request

    def read(self, received: bytearray) -> Request:
        """Read a request with header fields of its own, which are parsed."""
        if self._repeated.find(received) is not None:
            raise ValueError("the header fields are those of the request before")
        message = self._heads.read(received, ended=False)
        if message is None or isinstance(message, RejectedHead):
            raise ValueError("the head is not that of a request")
        request, _ = read_request(message, received, _ADDRESS)
        self._repeated.remember(self._heads.last, request)
        return request


def request(target: Target) -> Request:
    """Return a request for a target, parsed."""
    return RequestReader().read(bytearray(target.head()))
