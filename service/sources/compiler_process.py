"""The process that compiles a folder, beside the one that answers: `python -m service.sources.compiler_process`.

It tells on standard output, as lines of JSON, how far it is and how it ended. It dies with whoever holds its standard
input.
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

# Requests come first: nobody waits for a compilation but its result.
_NICENESS: Final = 5


class Step(msgspec.Struct, frozen=True, tag=True):
    """How far it is."""

    name: str
    done: int
    total: int


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """The file is written: the summary of the data, and notes on it for the log."""

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
    """Write a message for the parent."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


def compile_folder(folder: Path, to: Path, *, invalid: InvalidRecords, fingerprint: str) -> Outcome:
    """Compile the folder, if it is still that of the fingerprint or proven whole, into a file; return how it ended."""
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


def _die_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(folder: str, to: str, invalid: str, fingerprint: str) -> None:
    """Compile, and tell the parent."""
    os.nice(_NICENESS)
    Thread(target=_die_with_parent, daemon=True).start()
    send(compile_folder(Path(folder), Path(to), invalid=InvalidRecords(invalid), fingerprint=fingerprint))


if __name__ == "__main__":
    main(*sys.argv[1:])
