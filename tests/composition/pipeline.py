"""A client connection: it writes requests byte for byte, several at once, and reads the replies in order."""

import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from tests.composition.request import HTTP_1_0, Sent
from tests.program import SECONDS
from tests.run.load_clients import other_end
from tests.web.reply import Reply, read_reply


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
            has_body, may_end = sent.request.method != "HEAD", sent.version == HTTP_1_0
            return read_reply(self._replies, has_body=has_body, may_end=may_end)
        except AssertionError as error:
            error.add_note(str(sent))
            raise

    def wait(self) -> None:
        """Wait until a worker has accepted it."""
        self._connected.sendall(b"GET /health HTTP/1.1\r\nHost: test\r\n\r\n")
        read_reply(self._replies, has_body=True)

    def document(self, tags: Iterable[str]) -> Reply:
        """Return /openapi.json, or 304 if one of some tags is current."""
        head = f"GET /openapi.json HTTP/1.1\r\nHost: test\r\nIf-None-Match: {', '.join(tags)}\r\n\r\n"
        self._connected.sendall(head.encode())
        return read_reply(self._replies, has_body=True)

    def ends(self) -> bool:
        """Return whether the server has closed it."""
        return self._replies.read(1) == b""

    def close(self) -> None:
        """Close it."""
        self._replies.close()
        self._connected.close()
