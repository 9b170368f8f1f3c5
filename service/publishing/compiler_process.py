"""The process that compiles data files, not the one that serves: `python -m service.publishing.compiler_process`.

It reports its progress and its outcome as lines of JSON on standard output. It exits when its standard input is closed,
so with its parent.
"""

import os
import sys
from pathlib import Path
from threading import Thread
from typing import Final

import msgspec

from service.baking.baked_file import write_baked
from service.dataset import InvalidRecords, ReadOptions, Rejected
from service.loading.dataset import accept, load, notes
from service.publishing.source import Failed, Fetched, Message, Outcome, Step
from service.spool import Spools

# Requests have priority over compiling.
_NICENESS: Final = 5


def send(message: Message) -> None:
    """Send a message to the parent; without one, exit."""
    try:
        sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(1)  # at once: Python would flush again, and print why it cannot


def compile_files(path: Path, to: Path, invalid: InvalidRecords, fingerprint: str, options: ReadOptions) -> Outcome:
    """Compile data files, if they still have the fingerprint or a manifest proves them consistent, into a file."""
    try:
        loaded = load(
            path,
            options=options,
            fingerprint=fingerprint,
            progress=lambda *step: send(Step(*step)),
            spools=Spools(to.parent),
        )
        dataset = accept(loaded, invalid)
        write_baked(dataset, to, durable=False)
    except Rejected as rejected:
        return rejected.rejection
    except OSError as error:
        return Failed(error.strerror or str(error))
    except MemoryError:
        return Failed("out of memory")
    assumed, noted = tuple(loaded.assumed), tuple(notes(loaded))
    return Fetched(fingerprint=fingerprint, summary=dataset.summary, assumed=assumed, notes=noted)


def _exit_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def main(path: str, to: str, invalid: str, fingerprint: str, *options: str) -> None:
    """Compile, and report to the parent."""
    os.nice(_NICENESS)
    Thread(target=_exit_with_parent, daemon=True).start()
    send(compile_files(Path(path), Path(to), InvalidRecords(invalid), fingerprint, ReadOptions(*options)))


if __name__ == "__main__":
    main(*sys.argv[1:])
