"""Heads that the parser rejects: the error, and the parts that can still be read."""

import re
from typing import Final

import msgspec

from service.model.errors import BadRequest, HeaderFieldsTooLarge, RequestError, URITooLong
from service.web.connections.aiohttp_names import BadHttpMethod, HttpProcessingError, LineTooLong
from service.web.connections.limits import MAX_LINE_BYTES

# A request line that is well-formed; the parser may not know its method, which may be any token.
_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[!-~]*) HTTP/1\.[01]\r\n")
# The end of a request line, or a byte that no request line has.
_END_OF_LINE: Final = re.compile(rb"[^ -~\r]")
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class RejectedHead(msgspec.Struct, frozen=True):
    """A rejected head.

    error   the error to respond with
    accept  its Accept fields, as far as they were received, if the response depends on them
    target  the target of a request that is rejected only for its method
    """

    error: RequestError
    accept: list[str]
    target: str | None = None


def reject(error: RequestError, head: bytes, target: str | None = None) -> RejectedHead:
    """Reject a head, or the received part of one."""
    accept = _ACCEPT.findall(head) if error.may_be_problem or target is not None else ()
    return RejectedHead(error, [field.decode("latin-1") for field in accept], target)


class ParserRejection:
    """A head that the parser rejected, until everything that the response depends on is received.

    So the response does not depend on how the head is split into packets.
    """

    def __init__(self, exc: HttpProcessingError) -> None:
        """Keep no reference to the exception: its traceback would make a cycle for the garbage collector."""
        self._error = _error(exc)
        self._of_method = isinstance(exc, BadHttpMethod)
        self._is_request = self._error.may_be_problem
        self._scanned = 0

    def is_final(self, head: bytearray) -> bool:
        """Return whether the response depends on no further bytes, neither of the target nor of Accept fields."""
        if self._of_method and not self._is_request:
            found = _END_OF_LINE.search(head, self._scanned)
            self._scanned = len(head)
            if found is None:
                return len(head) >= MAX_LINE_BYTES
            self._is_request = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) is not None
        return not self._is_request

    def reject(self, head: bytes) -> RejectedHead:
        """Reject the received part of the head."""
        line = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) if self._of_method else None
        return reject(self._error, head, None if line is None else line[1].decode())


def _error(exc: HttpProcessingError) -> RequestError:
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    return HeaderFieldsTooLarge() if exc.message.startswith("Too many headers") else BadRequest()
