"""The process that compiles a folder, separate from the one that serves: `python -m service.sources.compiler_process`.

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

# Requests have priority over compiling.
_NICENESS: Final = 5


class Step(msgspec.Struct, frozen=True, tag=True):
    """The progress of one step."""

    name: str
    done: int
    total: int


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """The file is written. The notes are lines about the data for the log."""

    summary: Summary
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


def compile_folder(folder: Path, to: Path, *, invalid: InvalidRecords, fingerprint: str) -> Outcome:
    """Compile a folder, if it still has the fingerprint or a manifest proves it consistent, into a file."""
    try:
        loaded = load(folder, fingerprint=fingerprint, progress=lambda *step: send(Step(*step)))
        dataset, report = accept(loaded, invalid)
        bake(dataset, report.totals, to, durable=False)
    except Refused as refused:
        return NotServed(str(refused), refused.cause)
    except OSError as error:
        return Failed(error.strerror or str(error))
    except MemoryError:
        return Failed("out of memory")
    return Compiled(Summary.of(dataset, report), tuple(notes(loaded, folder)))


def _exit_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(folder: str, to: str, invalid: str, fingerprint: str) -> None:
    """Compile, and report to the parent."""
    os.nice(_NICENESS)
    Thread(target=_exit_with_parent, daemon=True).start()
    send(compile_folder(Path(folder), Path(to), invalid=InvalidRecords(invalid), fingerprint=fingerprint))


if __name__ == "__main__":
    main(*sys.argv[1:])
