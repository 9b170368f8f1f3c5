"""Content codings that record their calls and can be blocked."""

import asyncio
import threading
from collections.abc import Callable
from threading import Event
from typing import Final

import msgspec

from service.web.http.content_coding import CODINGS, Coding
from tests.program import SECONDS

_LONG: Final = 32 << 10


class Codec:
    """Encodes, long bodies only while `open` is set; `arrived` is set once a long body has arrived.

    threads  the thread of each body that was encoded
    """

    def __init__(self) -> None:
        self.open, self.arrived = Event(), Event()
        self.open.set()
        self.threads: list[int] = []
        self.codings = tuple(self._recording(coding) for coding in CODINGS)

    @property
    def bodies(self) -> int:
        """The number of encoded bodies."""
        return len(self.threads)

    async def wait_for_long_body(self) -> None:
        """Wait until a long body has arrived."""
        assert await asyncio.to_thread(self.arrived.wait, SECONDS)

    def _recording(self, coding: Coding) -> Coding:
        return msgspec.structs.replace(coding, encode=self._record(coding.encode))

    def _record(self, encode: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
        def recorded(body: bytes) -> bytes:
            self.threads.append(threading.get_ident())
            if len(body) > _LONG:
                self.arrived.set()
                assert self.open.wait(SECONDS), "the codec was not opened in time"
            return encode(body)

        return recorded
