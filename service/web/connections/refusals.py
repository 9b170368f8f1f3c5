"""Heads that the parser refuses: which error that is, and what can still be read of them."""

import re
from typing import Final

import msgspec

from service.errors import BadRequest, HeaderFieldsTooLarge, RequestError, URITooLong
from service.web.connections.aiohttp_names import BadHttpMethod, HttpProcessingError, LineTooLong
from service.web.connections.limits import MAX_LINE_BYTES

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# A request line that is well-formed but for a method that the parser does not know: it may be any token.
_REQUEST_LINE: Final = re.compile(rb"%b (/[!-~]*) HTTP/1\.[01]\r\n" % _TOKEN)
# The beginning of what may become one.
_BEGINNING: Final = re.compile(rb"%b(?: [!-~]*(?: [!-~]*\r?)?)?" % _TOKEN)
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


class Refusal(msgspec.Struct, frozen=True):
    """A head that is not a request.

    error   what is wrong with it
    accept  its Accept fields, as far as it was received
    target  of a request that is refused for its method alone
    """

    error: RequestError
    accept: list[str]
    target: str | None = None


def refusal(error: RequestError, head: bytes) -> Refusal:
    """Return the refusal of a head, or of what was received of one, for an error that the parser did not find."""
    return Refusal(error, [field.decode("latin-1") for field in _ACCEPT.findall(head)])


def parser_refusal(exc: HttpProcessingError, head: bytes) -> Refusal:
    """Return the refusal of a head, or of what was received of one, for which the parser raised an exception."""
    refused = refusal(_error(exc), head)
    line = _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) if isinstance(exc, BadHttpMethod) else None
    return refused if line is None else msgspec.structs.replace(refused, target=line[1].decode())


def depends_on_rest(exc: HttpProcessingError, head: bytearray) -> bool:
    """Return whether a refusal depends on what is still to come of the head: its request line or Accept fields.

    To wait for that makes the response the same however the head is split into packets.
    """
    if isinstance(exc, BadHttpMethod):
        if len(head) < MAX_LINE_BYTES and _BEGINNING.fullmatch(head) is not None:
            return True
        return _REQUEST_LINE.match(head, 0, MAX_LINE_BYTES) is not None
    return _error(exc).may_be_problem


def _error(exc: HttpProcessingError) -> RequestError:
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    return HeaderFieldsTooLarge() if exc.message.startswith("Too many headers") else BadRequest()
