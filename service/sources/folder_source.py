"""Data files as a source: a folder, an archive, or a single file."""

import asyncio
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from functools import partial
from pathlib import Path
from signal import Signals
from typing import Final, cast

import msgspec

from service.data_set import Rejected, Rejection
from service.own_module import module_command
from service.progress import Progress
from service.read_options import AS_FOUND, ReadOptions
from service.reading.file_set.data_signature import data_signature
from service.safeguards import InvalidRecords
from service.sources.compiler_messages import Compiled, Failed, Message, Outcome, Step
from service.sources.local_source import LocalSource
from service.sources.source import Fetched, Unavailable

_COMPILER: Final = "service.sources.compiler_process"


class FolderSource(LocalSource):
    """A folder of data files, an archive of them, or one file. A separate process compiles it: requests do not wait.

    timeout  seconds after which that process is killed: reading a file on a broken network mount may never end
    """

    def __init__(self, path: Path, *, invalid: InvalidRecords, timeout: float, options: ReadOptions = AS_FOUND) -> None:
        super().__init__(path, partial(data_signature, options=options), options)
        self._invalid, self._timeout = invalid, timeout

    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        match await self._run_compiler(to, fingerprint, progress):
            case Rejection() as rejection:
                raise Rejected.by(rejection)
            case Failed(why):
                raise Unavailable(f"the data cannot be compiled: {why}")
            case Compiled(summary, assumed, notes):
                return Fetched(fingerprint=fingerprint, summary=summary, assumed=assumed, notes=notes)

    async def _run_compiler(self, to: Path, fingerprint: str, progress: Progress) -> Outcome:
        arguments = (str(self._path), str(to), self._invalid.value, fingerprint, *self._options.arguments())
        command = module_command(_COMPILER, *arguments)
        # In its own session: signals of the terminal are for the service, which ends the compiler.
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        try:
            async with asyncio.timeout(self._timeout):
                return await _read_outcome(process, progress)
        except TimeoutError:
            return Failed(f"compiling took longer than --compile-timeout {self._timeout:g} s")
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _read_outcome(process: Process, progress: Progress) -> Outcome:
    """Pass on the progress of a compilation, and return its outcome."""
    decoder = msgspec.json.Decoder(Message)
    async for line in cast("asyncio.StreamReader", process.stdout):
        message = decoder.decode(line)
        if not isinstance(message, Step):
            return cast("Outcome", message)
        progress(message.name, message.done, message.total)
    code = await process.wait()
    how = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with code {code}"
    return Failed(f"the compiler {how}")
