"""The process that checks batches, seen from the one that needs them."""

from collections.abc import Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Final, cast
from weakref import finalize

import msgspec

from service.loading.checks import CheckedColumn
from service.loading.parallel.check_messages import Batches, Checked, Task, read_message, write_message
from service.loading.parallel.checked_batch import Cells, CheckedBatch
from service.model.records import Resource
from service.own_module import module_command

_MODULE: Final = "service.loading.parallel.checking_process"
_PIPE_BYTES: Final = 1 << 20
_decode: Final = msgspec.msgpack.Decoder(list[Checked]).decode


class SecondProcess:
    """A process that checks batches while this one does, too. It ends with this object, or with this process."""

    def __init__(self, resource: Resource, task: Task) -> None:
        command = module_command(_MODULE)
        self._resource = resource
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, pipesize=_PIPE_BYTES)  # noqa: S603 - our own
        self._requests, self._answers = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self.close = finalize(self, _end, self._process)
        self._write(msgspec.msgpack.encode(task))

    def send(self, batches: Sequence[Cells]) -> None:
        """Send some batches; they must be received before others are sent."""
        try:
            encoded = msgspec.msgpack.encode({"batches": batches})
        except UnicodeEncodeError:  # a surrogate
            encoded = msgspec.msgpack.encode(Batches([]))
        self._write(encoded)

    def receive(self, batches: Sequence[Cells]) -> list[CheckedBatch] | None:
        """Return what was sent, checked.

        None if there are other cells than simple ones, or the process has ended, such as for lack of memory.
        """
        message = read_message(self._answers)
        checked = [] if message is None else _decode(message)
        return list(map(self._checked, batches, checked)) if len(checked) == len(batches) else None

    def _checked(self, cells: Cells, checked: Checked) -> CheckedBatch:
        found = zip(self._resource.fields, checked.keys, checked.errors, checked.warnings, strict=True)
        columns = [
            CheckedColumn(field, cells[field.name], (), keys, dict(errors), dict(warnings))
            for field, keys, errors, warnings in found
        ]
        return CheckedBatch(columns, checked.rows, checked.texts)

    def _write(self, encoded: bytes) -> None:
        with suppress(BrokenPipeError):  # the answer will be missing
            write_message(self._requests, encoded)


def _end(process: Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError), process:  # closes its pipes, and waits for it
        pass
