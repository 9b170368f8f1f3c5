"""An answer: the status, header fields and body of a response, before it is encoded as HTTP."""

from collections.abc import Sequence

import msgspec

from service.model.operation import JSON
from service.web.answers.stream import Stream
from service.web.headers.header_lines import HeaderLines


class Answer(msgspec.Struct, eq=False, gc=False):
    """A body, in pieces, with its media type and status.

    Thousands are kept, and the garbage collector, which stops all requests, does not look at them: the cycle of an
    answer and what is called when its stream ends is broken then.

    headers  further header fields
    vary     the value of Vary; not among `headers`, because CORS may add to it
    stream   the body, if it is made while it is sent
    head     the bytes that the heads of all its responses begin with, once there was one
    """

    pieces: Sequence[bytes | memoryview]
    media_type: str = JSON
    status: int = 200
    headers: HeaderLines = ""
    vary: str = ""
    stream: Stream | None = None
    head: bytes = b""

    @property
    def length(self) -> int:
        """The length of the body in bytes; of a stream, of what was sent of it."""
        return sum(map(len, self.pieces)) if self.stream is None else self.stream.sent
