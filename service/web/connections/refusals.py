"""Heads that the parser refuses: which error that is, and what can still be read of them."""

import re
from typing import Final

import msgspec

from service.errors import BadRequest, HeaderFieldsTooLarge, RequestError, URITooLong
from service.web.connections.aiohttp_names import BadHttpMethod, HttpProcessingError, LineTooLong
from service.web.connections.limits import MAX_LINE_BYTES

# A request line that is well-formed but for a method that the parser does not know: it may be any token.
_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[!-~]*) HTTP/1\.[01]\r\n")
# What ends a request line, or shows that there is none.
_END_OF_LINE: Final = re.compile(rb"[^ -~\r]")
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class Refusal(msgspec.Struct, frozen=True):
    """A head that is not a request.

    error   what is wrong with it
    accept  its Accept fields, as far as it was received, if the response depends on them
    target  of a request that is refused for its method alone
    """

    error: RequestError
    accept: list[str]
    target: str | None = None


def refusal(error: RequestError, head: bytes, target: str | None = None) -> Refusal:
    """Return the refusal of a head, or of what was received of one."""
    accept = _ACCEPT.findall(head) if error.may_be_problem or target is not None else ()
    return Refusal(error, [field.decode("latin-1") for field in accept], target)


class ParserRefusal:
    """A head for which the parser raised an exception, until everything has come that the response depends on.

    So the response is the same however the head is split into packets.
    """

    def __init__(self, exc: HttpProcessingError) -> None:
        """Keep nothing of the exception, whose traceback would keep what keeps this until the garbage is collected."""
        self._error = _error(exc)
        self._of_method = isinstance(exc, BadHttpMethod)
        self._is_request = self._error.may_be_problem
        self._scanned = 0

    def is_final(self, head: bytearray) -> bool:
        """Return whether the response depends on nothing still to come: neither the target nor Accept fields."""
        if self._of_method and not self._is_request:
            found = _END_OF_LINE.search(head, self._scanned)
            self._scanned = len(head)
            if found is None:
                return len(head) >= MAX_LINE_BYTES
            self._is_request = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) is not None
        return not self._is_request

    def refusal(self, head: bytes) -> Refusal:
        """Return the refusal, for what is received of the head."""
        line = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) if self._of_method else None
        return refusal(self._error, head, None if line is None else line[1].decode())


def _error(exc: HttpProcessingError) -> RequestError:
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    return HeaderFieldsTooLarge() if exc.message.startswith("Too many headers") else BadRequest()
