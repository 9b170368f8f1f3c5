"""Whoever comes when there are too many connections."""

import asyncio
import logging
from typing import Final, cast

from service.errors import ServiceUnavailable
from service.web.problem import refusal
from service.web.seldom import QUIET_SECONDS, Seldom

_log = logging.getLogger(__name__)


class TurnedAway(asyncio.Protocol):
    """A connection that is answered at once, whatever it asks, and closed: one for all, it knows nothing of them."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Answer and close."""
        writable = cast("asyncio.Transport", transport)
        writable.write(_ANSWER)
        writable.close()


class Crowd:
    """Turns away, and says so now and then."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seldom = Seldom(QUIET_SECONDS)
        self._turned_away = TurnedAway()

    def turn_away(self, now: float) -> TurnedAway:
        """Return the protocol of a connection that is one too many; `now` is the loop's time."""
        if self._seldom.untold(now) is not None:
            _log.warning("there are %s connections: more are refused", f"{self._most:,}")
        return self._turned_away


def _answer() -> bytes:
    told = refusal(ServiceUnavailable(), ())
    body = b"".join(told.pieces)
    head = f"HTTP/1.1 503 Service Unavailable\r\nContent-Type: {told.media_type}\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{told.headers}Connection: close\r\n\r\n".encode("ascii") + body


_ANSWER: Final = _answer()
