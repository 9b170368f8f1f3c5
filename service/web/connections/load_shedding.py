"""Load shedding: the server responds 503 to a connection over the limit and closes it."""

import asyncio
import logging
from typing import Final, cast

from aiohttp import HttpVersion11

from service.model.errors import ServiceUnavailable
from service.web.answers.problems import error_answer
from service.web.answers.response import Response
from service.web.connections.log_throttling import THROTTLE_SECONDS, LogThrottle

_ANSWER: Final = error_answer(ServiceUnavailable(), ())
_log = logging.getLogger(__name__)


class ShedConnection(asyncio.Protocol):
    """The protocol of all connections over the limit: responds without reading the request, then closes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._throttle = LogThrottle(THROTTLE_SECONDS)

    def log(self, now: float) -> None:
        """Log that connections are refused, at most once a minute; `now` is the loop's time."""
        if self._throttle.admit(now) is not None:
            _log.warning("connection limit reached (%s): refusing new connections", f"{self._limit:,}")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Respond and close."""
        writable = cast("asyncio.Transport", transport)
        writable.writelines(Response(_ANSWER).encode("", HttpVersion11, keep_alive=False))
        writable.close()
