"""A client connection: it writes requests byte for byte, several at once, and reads the replies in order."""

import re
import socket
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from multidict import CIMultiDict, CIMultiDictProxy

from tests.composition.request import Sent
from tests.program import SECONDS
from tests.run.load_clients import other_end
from tests.web.reply import Reply

_START: Final = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) [^\r\n]*\r\n")
_BODILESS: Final = (204, 304)


class Pipeline:
    """A connection with HTTP pipelining (RFC 9112 section 9.3.2)."""

    def __init__(self, address: str) -> None:
        at = urlsplit(address)
        self._connected = socket.create_connection((at.hostname, at.port), SECONDS)
        self._connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._replies = self._connected.makefile("rb")

    @property
    def socket(self) -> int:
        """The inode of the socket at its other end."""
        return other_end(self._connected)

    def send(self, requests: Iterable[Sent]) -> None:
        """Write requests, all at once."""
        self._connected.sendall(b"".join(sent.wire for sent in requests))

    def receive(self, sent: Sent) -> Reply:
        """Read the reply to the next request."""
        try:
            return self._read(bodiless=sent.request.method == "HEAD")
        except AssertionError as error:
            error.add_note(str(sent))
            raise

    def wait(self) -> None:
        """Wait until a worker has accepted it."""
        self._connected.sendall(b"GET /health HTTP/1.1\r\nHost: test\r\n\r\n")
        self._read(bodiless=False)

    def ends(self) -> bool:
        """Return whether the server has closed it."""
        return self._replies.read(1) == b""

    def _read(self, *, bodiless: bool) -> Reply:
        start = self._replies.readline()
        found = _START.fullmatch(start)
        assert found is not None, f"{start!r} is no status line"
        headers: CIMultiDict[str] = CIMultiDict()
        while (line := self._replies.readline()) != b"\r\n":
            name, colon, value = line.decode("latin-1").partition(":")
            assert colon, f"{line!r} is no header field"
            headers.add(name, value.strip(" \t\r\n"))
        status = int(found[1])
        length = 0 if bodiless or status in _BODILESS else int(headers["Content-Length"])
        body = self._replies.read(length)
        assert len(body) == length, f"the body has {len(body)} bytes of {length}"
        return Reply(status, CIMultiDictProxy(headers), body)

    def close(self) -> None:
        """Close it."""
        self._replies.close()
        self._connected.close()
