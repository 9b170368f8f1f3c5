"""The process that reads a file, with limits: what the main program of each such process has in common.

The decoder is a large library in a language without bounds, and the file may be hostile: memory and time are limited
here, and a crash does not end the service. Standard input is the file, then requests, one in a line; standard output is
messages: what the file has, then the parts of each request and None, or why the file cannot be used, a text. The
process exits when one of them is closed, so with its parent.
"""

import os
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from signal import SIGABRT, SIGXCPU, Signals
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Any, ClassVar, Final, cast
from weakref import finalize

import msgspec

from service.background import module_command
from service.reading.diagnostics import FileError
from service.reading.text import MAX_RATIO, MAX_SIZE
from service.spool import FileBytes

LENGTH_BYTES: Final = 8  # of the file, and of a message, before it
MAX_ADDRESSES: Final = 2 * 2**30  # bytes of address space, beside four times the file
MAX_DATA: Final = 512 * 2**20  # bytes of memory, beside the same
MAX_SECONDS: Final = 300  # of CPU time
_FILES: Final = 4


class FileReader:
    """A process with an opened file: it starts when it is needed, and ends with this object, or with this process.

    module       its main module
    unreadable   what a file that it cannot read is said to be
    opened_type  that of its first message
    part_type    that of the others
    too_large    what is said of a file whose parts are too large, in all
    settings     environment variables
    aborted      what is said of a file if it aborts; by default, that it did
    """

    module: ClassVar[str]
    unreadable: ClassVar[str]
    opened_type: ClassVar[type[msgspec.Struct]]
    part_type: ClassVar[type[msgspec.Struct]]
    too_large: ClassVar[str]
    settings: ClassVar[Mapping[str, str]] = {}
    aborted: ClassVar[str | None] = None

    def __init__(self, content: Callable[[], FileBytes]) -> None:
        """Take what returns the file, and raises FileError."""
        self._content = content
        self._ending: finalize[..., Any] | None = None
        self._opened: Any = None

    @classmethod
    def of(cls, file: "FileBytes | FileReader") -> "FileReader":
        """Return a process for a file, or the one that is given."""
        return file if isinstance(file, FileReader) else cls(lambda: file)

    @property
    def opened(self) -> Any:
        """What the file has. Raises FileError."""
        if self._ending is None or not self._ending.alive:
            self._start()
        return self._opened

    def parts(self, request: msgspec.Struct) -> Iterator[Any]:
        """Yield what is requested. Raises FileError. Unless all is taken, the process ends."""
        is_complete, size = self.opened is None, 0
        self._send(msgspec.json.encode(request), b"\n")
        try:
            while not (is_complete := (message := self._receive()) is None):
                size += self._length
                if size > max(MAX_SIZE, MAX_RATIO * self._stored):
                    raise FileError(self.too_large)
                yield message
        finally:
            if not is_complete:
                self.close()

    def close(self) -> None:
        """End the process; another one starts when it is needed."""
        if self._ending is not None:
            self._ending()

    def _start(self) -> None:
        content = self._content()
        self._decode = msgspec.msgpack.Decoder(self.opened_type | self.part_type | str | None).decode
        # No more threads than are used.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **self.settings}
        command = module_command(self.module)
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)  # noqa: S603 - our own
        self._requests, self._messages = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._ending = finalize(self, _end, self._process)
        self._stored = len(content)
        self._send(self._stored.to_bytes(LENGTH_BYTES, "little"), content)
        self._opened = self._receive()

    def _send(self, *parts: FileBytes) -> None:
        with suppress(BrokenPipeError):  # why it ended is found out when its answer is missing
            self._requests.writelines(parts)
            self._requests.flush()

    def _receive(self) -> Any:
        self._length = int.from_bytes(self._messages.read(LENGTH_BYTES), "little")
        encoded = self._messages.read(self._length)
        message = self._decode(encoded) if encoded and len(encoded) == self._length else self._ended()
        if isinstance(message, str):
            self.close()
            raise FileError(message)
        return message

    def _ended(self) -> str:
        code = self._process.wait()
        if code == -SIGABRT and self.aborted:
            return self.aborted
        how = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with code {code}"
        why = "it takes too much time" if code == -SIGXCPU else f"its reader {how}"
        return f"{self.unreadable}: {why}"


def _end(process: Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError), process:  # closes its pipes, and waits for it
        pass


def run(open_file: Callable[[bytes], Any], request: type[msgspec.Struct], too_much_memory: str) -> None:
    """Answer the requests of a type, on standard input, about the file: what it `opened`, and the `parts` of it."""
    content = sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(LENGTH_BYTES), "little"))
    _limit(len(content))
    requests = (msgspec.json.decode(line, type=request) for line in sys.stdin.buffer)
    try:
        for message in answer(open_file, content, requests):
            _send(message)
    except MemoryError:
        _send(too_much_memory)


def answer(open_file: Callable[[bytes], Any], content: bytes, requests: Iterable[msgspec.Struct]) -> Iterator[Any]:
    """Yield what a file has, and then what is requested of it, or why it cannot be used."""
    try:
        file = open_file(content)
        yield file.opened
        for request in requests:
            yield from file.parts(request)
            yield None
    except FileError as error:
        yield error.why


def _limit(size: int) -> None:
    limits = {
        resource.RLIMIT_AS: MAX_ADDRESSES + _FILES * size,
        resource.RLIMIT_DATA: MAX_DATA + _FILES * size,
        resource.RLIMIT_CPU: MAX_SECONDS,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (bound, hard))


def _send(message: object) -> None:
    encoded = msgspec.msgpack.encode(message)
    sys.stdout.buffer.write(len(encoded).to_bytes(LENGTH_BYTES, "little") + encoded)
    sys.stdout.buffer.flush()
