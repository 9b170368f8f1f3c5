"""The codings as they are, but watched, and held up on demand."""

import asyncio
import threading
from collections.abc import Callable
from threading import Event
from typing import Final

import msgspec

from service.web.headers.content_coding import CODINGS, Coding
from tests.program import SECONDS

_LONG: Final = 32 << 10


class Codec:
    """Encodes as ever; long bodies only while it is `open`, and until then it is known whether one has `come`.

    threads  the one of each body that was encoded
    """

    def __init__(self) -> None:
        self.open, self.come = Event(), Event()
        self.open.set()
        self.threads: list[int] = []
        self.codings = tuple(self._watched(coding) for coding in CODINGS)

    @property
    def bodies(self) -> int:
        """How many bodies were encoded."""
        return len(self.threads)

    async def holds_one(self) -> None:
        """Return when a long body has come."""
        assert await asyncio.to_thread(self.come.wait, SECONDS)

    def _watched(self, coding: Coding) -> Coding:
        return msgspec.structs.replace(coding, encode=self._watching(coding.encode))

    def _watching(self, encode: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
        def watched(body: bytes) -> bytes:
            self.threads.append(threading.get_ident())
            if len(body) > _LONG:
                self.come.set()
                assert self.open.wait(SECONDS), "nobody could let it go on"
            return encode(body)

        return watched
