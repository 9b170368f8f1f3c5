"""Send one of `ATTACKS` at full speed: `python -m bench.hostile.attacker PORT NUMBER CONNECTIONS`."""

import os
import selectors
import socket
import sys
from typing import Final, cast

from bench.hostile.inputs import ATTACKS, Input

# The client that is measured has the same core.
_NICENESS: Final = 19
# Sent and received at a time: longer system calls would delay the client.
_PIECE: Final = 1 << 16
# On a persistent connection, requests are sent ahead of the responses.
_AHEAD_BYTES: Final = 1 << 14
_BOTH: Final = selectors.EVENT_READ | selectors.EVENT_WRITE


class Attacker:
    """Connections on which an input is sent endlessly; responses are discarded."""

    def __init__(self, port: int, given: Input) -> None:
        self._port, self._given = port, given
        self._times = 1 if given.closes else max(1, _AHEAD_BYTES // len(given.sent))
        self._selector = selectors.DefaultSelector()
        self._received = bytearray(_PIECE)
        self._number = 0

    def run(self, connections: int) -> None:
        """Send until this process is stopped."""
        for _ in range(connections):
            self._open()
        while True:
            for key, events in self._selector.select():
                self._serve(cast("socket.socket", key.fileobj), key.data, events)

    def _open(self) -> None:
        opened = socket.socket()
        opened.setblocking(False)
        opened.connect_ex(("127.0.0.1", self._port))
        self._selector.register(opened, _BOTH, self._next())

    def _next(self) -> memoryview:
        self._number += 1
        return memoryview(self._given.numbered(self._number) * self._times)

    def _serve(self, connected: socket.socket, left: memoryview, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                self._send(connected, left)
            if events & selectors.EVENT_READ and not connected.recv_into(self._received):
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            self._selector.unregister(connected)
            connected.close()
            self._open()

    def _send(self, connected: socket.socket, left: memoryview) -> None:
        """Send a piece of what is left; continue with the next request, or after the response on another connection."""
        if not self._given.answers:
            raise ConnectionResetError
        left = left[connected.send(left[:_PIECE]) :]
        more = left or (memoryview(b"") if self._given.closes else self._next())
        self._selector.modify(connected, _BOTH if more else selectors.EVENT_READ, more)


if __name__ == "__main__":
    os.nice(_NICENESS)
    Attacker(int(sys.argv[1]), ATTACKS[int(sys.argv[2])]).run(int(sys.argv[3]))
