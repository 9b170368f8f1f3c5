"""What HTTP parsing refuses: what can still be known of it, and the error that it is answered with."""

import re
from typing import Final

from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from service.errors import BadRequest, HeaderFieldsTooLarge, RequestError, URITooLong
from service.web.limits import MAX_LINE_BYTES

# Ends the head of a request.
END_OF_HEAD: Final = b"\r\n\r\n"
# A request line that is in order but for a method that the parser does not know: a token, which may be any.
_REQUEST_LINE: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[!-~]*) HTTP/1\.[01]\r\n")
_ACCEPT: Final = re.compile(rb"^accept:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)


def parsing_error(exc: BaseException | None) -> RequestError:
    """Return our error for one of aiohttp's parser."""
    if isinstance(exc, LineTooLong):
        return URITooLong() if MAX_LINE_BYTES in exc.args else HeaderFieldsTooLarge()
    if isinstance(exc, HttpProcessingError) and exc.message.startswith("Too many headers"):
        return HeaderFieldsTooLarge()
    return BadRequest()


def target(received: bytes) -> str | None:
    """Return the target of a request that was refused for its method alone."""
    line = _REQUEST_LINE.match(received)
    return line[1].decode() if line else None


def accepted(received: bytes) -> list[str]:
    """Return the Accept fields of a request that was refused, as far as it was received, and nothing else was."""
    head, end, more = received.partition(END_OF_HEAD)
    return [] if end in more else [field.decode("latin-1") for field in _ACCEPT.findall(head)]
