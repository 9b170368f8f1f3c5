"""The process that reads a file, seen from the one that needs its records."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from signal import SIGABRT, SIGXCPU, Signals
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Final, Generic, TypeVar, cast
from weakref import finalize

import msgspec

from service.files.mapped_bytes import FileBytes
from service.own_module import module_command
from service.reading.batches.diagnostics import FileError
from service.reading.isolation.process_messages import LENGTH_BYTES, End, Unreadable

_Opened = TypeVar("_Opened", bound=msgspec.Struct)
_Part = TypeVar("_Part", bound=msgspec.Struct)
# No more threads than are used.
_SETTINGS: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
_TOO_MUCH_TIME: Final = "it takes too much time"


class ReaderProgram(msgspec.Struct, Generic[_Opened, _Part], frozen=True):
    """A program that reads the files of a format, each in a process.

    module      its main module
    unreadable  what a file that it cannot read is said to be
    opened      the type of its first message
    part        that of the others, but for those that all programs have
    settings    environment variables
    aborted     what is said of a file if it aborts; by default, that it did
    """

    module: str
    unreadable: str
    opened: type[_Opened]
    part: type[_Part]
    settings: Mapping[str, str] = {}
    aborted: str | None = None


class FileReader(Generic[_Opened, _Part]):
    """A process with an opened file; it ends with this object, or with this process.

    opened  what the file has
    """

    def __init__(self, program: ReaderProgram[_Opened, _Part], content: FileBytes) -> None:
        """Open a file. Raises FileError."""
        self._program = program
        self._decode = msgspec.msgpack.Decoder(program.opened | program.part | Unreadable | End).decode
        environment = {**os.environ, **_SETTINGS, **program.settings}
        command = module_command(program.module)
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment)  # noqa: S603 - our own
        self._requests, self._messages = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self.close = finalize(self, _end, self._process)
        self._send(len(content).to_bytes(LENGTH_BYTES, "little"), content)
        self.opened = cast("_Opened", self._receive())

    def parts(self, request: msgspec.Struct) -> Iterator[_Part]:
        """Yield what is requested. Raises FileError."""
        self._send(msgspec.json.encode(request), b"\n")
        while not isinstance(message := self._receive(), End):
            yield cast("_Part", message)

    def _send(self, *parts: FileBytes) -> None:
        with suppress(BrokenPipeError):  # why it ended is found out when its answer is missing
            self._requests.writelines(parts)
            self._requests.flush()

    def _receive(self) -> object:
        length = int.from_bytes(self._messages.read(LENGTH_BYTES), "little")
        encoded = self._messages.read(length)
        if not length or len(encoded) < length:
            raise self._ended()
        message = self._decode(encoded)
        if isinstance(message, Unreadable):
            raise FileError(message.why)
        return message

    def _ended(self) -> FileError:
        code, program = self._process.wait(), self._program
        if code == -SIGABRT and program.aborted:
            return FileError(program.aborted)
        how = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with code {code}"
        why = _TOO_MUCH_TIME if code == -SIGXCPU else f"its reader {how}"
        return FileError(f"{program.unreadable}: {why}")


def _end(process: Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError), process:  # closes its pipes, and waits for it
        pass
