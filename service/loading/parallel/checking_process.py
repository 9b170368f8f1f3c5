"""The process that checks batches: `python -m service.loading.parallel.checking_process`.

Standard input is a task, then batches; standard output is what they became. It ends with its parent.
"""

import gc
import sys
from collections.abc import Mapping
from typing import Final, cast

import msgspec

from service.loading.parallel.check_messages import Batches, Checked, Issues, Task, read_message, write_message
from service.loading.parallel.checked_batch import BatchChecker, CheckedBatch
from service.model.attributes import schema_of
from service.reading.batches.batch import Cell
from service.reading.batches.diagnostics import Issue

_decode: Final = msgspec.msgpack.Decoder(Batches).decode


def main() -> None:
    """Check batches until there are no more."""
    gc.disable()  # as the parent does
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    first = read_message(requests)
    if first is None:
        return
    task = msgspec.msgpack.decode(first, type=Task)
    checker = BatchChecker(schema_of(task.declaration).stores, task.companies)
    while (message := read_message(requests)) is not None:
        try:
            batches = _decode(message).batches
        except msgspec.ValidationError:  # cells of other types: their process checks them
            batches = []
        write_message(answers, msgspec.msgpack.encode([_answer(checker.check(cells)) for cells in batches]))


def _answer(batch: CheckedBatch) -> Checked:
    return Checked(
        batch.rows,
        batch.texts,
        [column.keys for column in batch.columns],
        [_issues(column.errors) for column in batch.columns],
        [_issues(column.warnings) for column in batch.columns],
    )


def _issues(found: Mapping[Cell, Issue]) -> Issues:
    return cast("Issues", list(found.items()))


if __name__ == "__main__":
    main()
