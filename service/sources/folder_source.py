"""Data files as a source: a folder, an archive, or a single file."""

import asyncio
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from functools import partial
from pathlib import Path
from signal import Signals
from typing import cast

import msgspec

from service.loading.acceptance import InvalidRecords, Refused
from service.own_module import module_command
from service.progress import Progress
from service.reading.folder_signature import data_signature
from service.reading.read_options import AS_FOUND, ReadOptions
from service.sources import compiler_process as compiler
from service.sources.local_source import LocalSource
from service.sources.source import Fetched, Unavailable


class FolderSource(LocalSource):
    """A folder of data files, an archive of them, or one file. A separate process compiles it: requests do not wait.

    timeout  seconds after which that process is killed: reading a file on a broken network mount may never end
    """

    def __init__(self, path: Path, *, invalid: InvalidRecords, timeout: float, options: ReadOptions = AS_FOUND) -> None:
        super().__init__(path, partial(data_signature, options=options), options)
        self._invalid, self._timeout = invalid, timeout

    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        match await self._run_compiler(to, fingerprint, progress):
            case compiler.NotServed(why, cause):
                raise Refused(why, cause=cause)
            case compiler.Failed(why):
                raise Unavailable(f"the data cannot be compiled: {why}")
            case compiler.Compiled(summary, assumed, notes):
                return Fetched(fingerprint=fingerprint, summary=summary, assumed=assumed, notes=notes)

    async def _run_compiler(self, to: Path, fingerprint: str, progress: Progress) -> compiler.Outcome:
        options = self.options
        arguments = (str(self._path), str(to), self._invalid.value, fingerprint, options.mapping, options.encoding)
        command = module_command(compiler.__name__, *arguments)
        # In its own session: signals of the terminal are for the service, which ends the compiler.
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        try:
            async with asyncio.timeout(self._timeout):
                return await _read_outcome(process, progress)
        except TimeoutError:
            return compiler.Failed(f"compiling took longer than --compile-timeout {self._timeout:g} s")
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _read_outcome(process: Process, progress: Progress) -> compiler.Outcome:
    """Pass on the progress of a compilation, and return its outcome."""
    decoder = msgspec.json.Decoder(compiler.Message)
    async for line in cast("asyncio.StreamReader", process.stdout):
        message = decoder.decode(line)
        if not isinstance(message, compiler.Step):
            return cast("compiler.Outcome", message)
        progress(message.name, message.done, message.total)
    code = await process.wait()
    how = f"was killed by {Signals(-code).name}" if code < 0 else f"exited with code {code}"
    return compiler.Failed(f"the compiler {how}")
