"""The process that compiles data files, not the one that serves: `python -m service.sources.compiler_process`.

It reports its progress and its outcome as lines of JSON on standard output. It exits when its standard input is closed,
so with its parent.
"""

import os
import sys
from pathlib import Path
from threading import Thread
from typing import Final, TypeAlias

import msgspec

from service.baking.baked_file import bake
from service.loading.acceptance import Cause, InvalidRecords, Refused, accept
from service.loading.dataset import Summary, load
from service.loading.summary import notes
from service.reading.read_options import ReadOptions

# Requests have priority over compiling.
_NICENESS: Final = 5


class Step(msgspec.Struct, frozen=True, tag=True):
    """The progress of one step."""

    name: str
    done: int
    total: int


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """The file is written. What was assumed, and the notes, are lines about the data for the log."""

    summary: Summary
    assumed: tuple[str, ...]
    notes: tuple[str, ...]


class NotServed(msgspec.Struct, frozen=True, tag=True):
    """The data set is refused."""

    why: str
    cause: Cause


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The file could not be written."""

    why: str


Outcome: TypeAlias = Compiled | NotServed | Failed
Message: TypeAlias = Step | Outcome


def send(message: Message) -> None:
    """Send a message to the parent."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


def compile_files(path: Path, to: Path, *, invalid: InvalidRecords, fingerprint: str, options: ReadOptions) -> Outcome:
    """Compile data files, if they still have the fingerprint or a manifest proves them consistent, into a file."""
    try:
        loaded = load(path, options=options, fingerprint=fingerprint, progress=lambda *step: send(Step(*step)))
        dataset, report = accept(loaded, invalid)
        bake(dataset, report.totals, to, durable=False)
    except Refused as refused:
        return NotServed(str(refused), refused.cause)
    except OSError as error:
        return Failed(error.strerror or str(error))
    except MemoryError:
        return Failed("out of memory")
    return Compiled(Summary.of(dataset, report), tuple(loaded.assumed), tuple(notes(loaded, path, options)))


def _exit_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(path: str, to: str, invalid: str, fingerprint: str, *options: str) -> None:
    """Compile, and report to the parent."""
    os.nice(_NICENESS)
    Thread(target=_exit_with_parent, daemon=True).start()
    outcome = compile_files(
        Path(path),
        Path(to),
        invalid=InvalidRecords(invalid),
        fingerprint=fingerprint,
        options=ReadOptions(*options),
    )
    send(outcome)


if __name__ == "__main__":
    main(*sys.argv[1:])
