"""A folder of data files as a source."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from signal import Signals
from typing import Final, cast

import msgspec

import service
from service.loading.acceptance import InvalidRecords, Refused
from service.loading.folder_signature import folder_signature, watched_folders
from service.progress import Progress
from service.sources import compiler_process as compiler
from service.sources.debounce import wait_until_stable
from service.sources.source import Check, Fetched, Rejected, Unavailable

# As `python -m`, but with this very package, not with whatever has its name in the folder in which the service runs.
_START: Final = (
    "import runpy, sys; packages, module = sys.argv[1:3]; del sys.argv[1:3]; "
    "packages in sys.path or sys.path.insert(0, packages); runpy.run_module(module, run_name='__main__')"
)
_PACKAGES: Final = str(Path(service.__file__).parents[1])


class FolderSource:
    """A folder of data files. It is compiled in a process of its own: nobody who answers requests waits for that.

    timeout  seconds after which that process is killed: a file on a broken network mount may never be read to its end
    """

    def __init__(self, folder: Path, *, invalid: InvalidRecords, timeout: float) -> None:
        self._folder, self._invalid, self._timeout = folder, invalid, timeout
        self._look = partial(folder_signature, folder)
        self.name = str(folder)

    @property
    def watched(self) -> Sequence[Path]:
        """The folder, and where it can be replaced."""
        return watched_folders(self._folder)

    async def take(self, to: Path, *, seen: str, check: Check, progress: Progress) -> Fetched | None:
        """Compile the files once they are left alone; see `Source`."""
        while True:
            look = await wait_until_stable(self._look)
            if look.fingerprint == seen:
                return None
            try:
                compiled = await self._compile(to, look.fingerprint, progress)
                check(compiled.summary.totals)
            except Refused as refused:
                # What changed meanwhile may have been read half.
                if (await wait_until_stable(self._look)).fingerprint == look.fingerprint:
                    raise Rejected.by(refused, look.fingerprint) from None
            else:
                return Fetched(fingerprint=look.fingerprint, summary=compiled.summary, notes=compiled.notes)

    async def _compile(self, to: Path, fingerprint: str, progress: Progress) -> compiler.Compiled:
        """Compile the files into one. Raises `Refused` and `Unavailable`."""
        match await self._message(to, fingerprint, progress):
            case compiler.NotServed(why, cause):
                raise Refused(why, cause=cause)
            case compiler.Failed(why):
                raise Unavailable(f"the data cannot be compiled: {why}")
            case compiled:
                return compiled

    async def _message(self, to: Path, fingerprint: str, progress: Progress) -> compiler.Outcome:
        arguments = (self._folder, to, self._invalid.value, fingerprint)
        command = (sys.executable, "-P", "-c", _START, _PACKAGES, compiler.__name__, *arguments)
        # In a session of its own: a signal of the terminal is for the service, which ends this with its standard input.
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        try:
            async with asyncio.timeout(self._timeout):
                return await _end(process, progress)
        except TimeoutError:
            return compiler.Failed(f"compiling took longer than --compile-timeout {self._timeout:g} s")
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _end(process: Process, progress: Progress) -> compiler.Outcome:
    """Pass on how far a compilation is, and return how it ends."""
    decoder = msgspec.json.Decoder(compiler.Message)
    async for line in cast("asyncio.StreamReader", process.stdout):
        message = decoder.decode(line)
        if not isinstance(message, compiler.Step):
            return cast("compiler.Outcome", message)
        progress(message.name, message.done, message.total)
    code = await process.wait()
    return compiler.Failed(f"the compiler was ended by {Signals(-code).name}" if code < 0 else f"it ended with {code}")
