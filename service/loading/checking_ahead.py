"""Check the batches of a large file in two processes: this one, and another that is several batches ahead."""

from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from socket import socketpair
from subprocess import Popen
from types import TracebackType
from typing import Final, Self, TypeAlias

import msgspec

from service.loading import checking_process
from service.loading.checked_batch import BatchChecker, CheckedBatch
from service.loading.messages import received, send
from service.processes import cores, module_command
from service.reading.batch import Batch

_LARGE: Final = 16 << 20  # bytes; another process takes 0.2 s to start
_AHEAD: Final = 8  # batches, so that the other process always has the next one
_MAX_PENDING: Final = 64  # batches, should the other process not proceed

Checked: TypeAlias = Generator[tuple[Batch, CheckedBatch], None, None]


def checked_batches(batches: Iterable[Batch], checker: BatchChecker, *, size: int) -> Checked:
    """Yield batches in order, checked; `size` is that of the file in bytes."""
    if size < _LARGE or cores() == 1:
        return ((batch, checker.check(batch.columns)) for batch in batches)
    return _checked_by_two(batches, checker)


def _checked_by_two(batches: Iterable[Batch], checker: BatchChecker) -> Checked:
    pending = deque[tuple[Batch, CheckedBatch | None]]()
    with _OtherProcess(checker) as other:

        def first() -> tuple[Batch, CheckedBatch]:
            batch, checked = pending.popleft()
            return batch, checked or other.result() or checker.check(batch.columns)

        for batch in batches:
            pending.append((batch, None if other.takes(batch) else checker.check(batch.columns)))
            while pending and (pending[0][1] or other.has_result or len(pending) > _MAX_PENDING):
                yield first()
        while pending:
            yield first()


class _OtherProcess:
    """Checks some batches. If it fails, it has no results: this process checks them again."""

    def __init__(self, checker: BatchChecker) -> None:
        self._socket, other = socketpair()
        with other:
            # In its own session: signals of the terminal are for this process, which ends the other.
            command = module_command(checking_process.__name__)
            self._process = Popen(command, stdin=other.fileno(), start_new_session=True)  # noqa: S603 - this project's own program
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(CheckedBatch).decode
        self._results = received(self._socket)
        self._sent, self._ended = 0, False
        companies = None if checker.companies is None else set(checker.companies)
        self._send(self._encode(checking_process.Setup(checker.resource.name, companies)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        while not self._ended:
            self._ended = self._results.get() is None
        self._socket.close()

    @property
    def has_result(self) -> bool:
        """Whether the next result can be had without waiting."""
        return self._ended or not self._results.empty()

    def takes(self, batch: Batch) -> bool:
        """Return whether the process takes a batch, now that it has some others to check."""
        if self._sent >= _AHEAD or self._ended:
            return False
        self._send(self._encode(batch.columns))
        self._sent += 1
        return True

    def result(self) -> CheckedBatch | None:
        """Return the next batch that was taken, checked; None if the process failed."""
        self._sent -= 1
        message = None if self._ended else self._results.get()
        self._ended = message is None
        return None if message is None else self._decode(message)

    def _send(self, message: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            send(self._socket, message)
