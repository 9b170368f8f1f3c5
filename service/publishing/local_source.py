"""Files on this machine as a source, fetched once they stop changing (debounce), and the list of verified ones."""

import asyncio
import os
import stat
from abc import ABC, abstractmethod
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from signal import Signals
from time import monotonic, time, time_ns
from typing import BinaryIO, Final, cast

import msgspec
from msgspec.structs import replace

from service import __version__
from service.background import Progress, module_command
from service.baking.layout import FORMAT, PACKED, DamagedFile, NotBaked, copy_file, unpack_file
from service.dataset import Dataset, Rejected, Rejection
from service.files import Signature, atomic_write, check_regular
from service.publishing.source import Check, Failed, Fetched, Message, Outcome, Step, Unavailable, run_to_end
from service.reading.files.container import ACCEPTED, DataSignature, data_signature, file_signature
from service.reading.files.file_names import suggest_conversion
from service.settings import Settings

# File systems' clocks may be wrong. Files that seem older than this are stable without a wait.
_OLD_SECONDS: Final = 60


class LocalSource(ABC):
    """Files on this machine, at a path that is also the name."""

    def __init__(self, path: Path, read_signature: Callable[[Path], DataSignature]) -> None:
        self._path, self._read_signature, self.name = path, partial(read_signature, path), str(path)

    def look(self) -> str:
        """Return the fingerprint of the files and of the mapping as they are now."""
        return self._read_signature().fingerprint

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Fetch the files once they stop changing; see `Source`.

        Files that changed meanwhile may have been read in an inconsistent state, so they are fetched again.
        """
        while True:
            fingerprint = (await wait_until_stable(self._read_signature)).fingerprint
            if fingerprint == known:
                return None
            try:
                fetched = await self._fetch(to, fingerprint, progress)
                check(fetched.summary.totals)
            except Rejected as rejected:
                if (await wait_until_stable(self._read_signature)).fingerprint == fingerprint:
                    raise Rejected.by(rejected.rejection, fingerprint=fingerprint) from None
            else:
                return fetched

    @abstractmethod
    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        """Fetch files with this fingerprint. Raises `Rejected` and `Unavailable`."""


async def wait_until_stable(read_signature: Callable[[], DataSignature]) -> DataSignature:
    """Return the signature of files once it has not changed for its own `quiet_seconds`.

    That time is measured by our clock, from the first read on.
    """
    signature, since = await asyncio.to_thread(read_signature), monotonic()
    while (
        time() - signature.changed_at < _OLD_SECONDS and (left := signature.quiet_seconds - (monotonic() - since)) > 0
    ):
        await asyncio.sleep(left)
        previous, signature = signature, await asyncio.to_thread(read_signature)
        if signature.fingerprint != previous.fingerprint:
            since = monotonic()
    return signature


_COMPILER: Final = "service.publishing.compiler_process"


class FolderSource(LocalSource):
    """A folder of data files, an archive of them, or one file. A separate process compiles it: requests do not wait.

    After the timeout of the settings that is killed: reading a file on a broken network mount may never end.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        super().__init__(path, partial(data_signature, options=settings.read_options))
        self._settings = settings

    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        match await self._run_compiler(to, fingerprint, progress):
            case Rejection() as rejection:
                raise Rejected.by(rejection)
            case Failed(why):
                raise Unavailable(f"the data cannot be compiled: {why}")
            case Fetched() as fetched:
                return fetched

    async def _run_compiler(self, to: Path, fingerprint: str, progress: Progress) -> Outcome:
        invalid, options = self._settings.invalid.value, msgspec.structs.astuple(self._settings.read_options)
        command = module_command(_COMPILER, str(self._path), str(to), invalid, fingerprint, *options)
        # In its own session: signals of the terminal are for the service, which ends the compiler.
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, start_new_session=True)
        try:
            async with asyncio.timeout(self._settings.compile_timeout):
                return await _read_outcome(process, progress)
        except TimeoutError:
            return Failed(f"compiling took longer than --compile-timeout {self._settings.compile_timeout:g} s")
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


_MOST: Final = 64
# Two changes within a tick of the file system's clock have one time; some file systems count whole seconds.
_TICK_NS: Final = 20_000_000
_SECOND_NS: Final = 1_000_000_000
# File systems in memory, where a change through a mapping changes no time of the file.
_IN_MEMORY: Final = ("tmpfs", "ramfs")
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_REAL: Final = os.O_NOFOLLOW | os.O_NONBLOCK
_MOUNTS: Final = Path("/proc/self/mountinfo")


class VerifiedFiles:
    """The list of verified baked files, by signature. A file that is not in a readable list is verified."""

    def __init__(self, folder: Path) -> None:
        self._list = folder / "list"

    def has(self, signature: Signature) -> bool:
        """Return whether a file with this signature was verified, by this version of the program."""
        return _key(signature) in self._keys()

    def add(self, file: BinaryIO, signature: Signature, since_ns: int) -> None:
        """List an open file that had this signature while it was verified; the oldest of many leave the list.

        since_ns  when verifying began, by the system's clock: a file that changed just before may have changed again
                  within the same tick, and is not listed
        """
        tick = _TICK_NS if signature.changed_ns % _SECOND_NS else 2 * _SECOND_NS
        if since_ns - signature.changed_ns < tick or is_in_memory(signature.device):
            return
        with suppress(OSError):
            os.fsync(file.fileno())  # what is listed must be on the disk: after a power failure it is not read again
            self._list.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            keys = [*self._keys(), _key(signature)][-_MOST:]
            with atomic_write(self._list, mode=0o600) as target:
                target.write("\n".join(keys).encode())

    def _keys(self) -> list[str]:
        """Return the keys of the list, the oldest first; none if it cannot be read, or if others can change it."""
        try:
            with open(self._list, "rb", opener=lambda path, flags: os.open(path, flags | _REAL)) as file:
                folder, status = self._list.parent.lstat(), os.fstat(file.fileno())
                is_list = stat.S_ISDIR(folder.st_mode) and stat.S_ISREG(status.st_mode)
                is_open = (folder.st_mode | status.st_mode) & _OTHERS_WRITE
                is_ours = {folder.st_uid, status.st_uid} == {os.geteuid()} and not is_open
                return file.read().decode("ascii", "replace").split("\n") if is_list and is_ours else []
        except OSError:
            return []


def is_in_memory(device: int) -> bool:
    """Return whether a device is memory (proc_pid_mountinfo(5)); False where the system does not say."""
    try:
        mounts = [line.split() for line in _MOUNTS.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    return any(mount[2] == number and mount[mount.index("-") + 1] in _IN_MEMORY for mount in mounts)


def _key(signature: Signature) -> str:
    """Return the complete key, not a digest."""
    return "-".join(map(str, (FORMAT.split()[-1], __version__, *msgspec.structs.astuple(signature))))


class BakedFileSource(LocalSource):
    """A baked file. The service maps a copy, which stays intact if someone writes into the file; or it, `in_place`.

    One that is compressed is unpacked.

    verified  the folder that lists verified files, of which nothing is read again
    """

    def __init__(self, file: Path, verified: Path, *, in_place: bool = False) -> None:
        super().__init__(file, file_signature)
        self._verified, self._in_place = VerifiedFiles(verified), in_place

    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        return await run_to_end(self._read, to, fingerprint, progress)

    def _read(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        """Copy the file, or not. Raises `Rejected` if it is invalid, `Unavailable` if copying fails."""
        path = Path(os.path.realpath(self._path))  # a link may be switched before other processes map the file
        try:
            check_regular(path.stat())
            opened = path.open("rb")
        except OSError as error:
            raise Rejected(f"{self._path}: the file cannot be read: {error.strerror}") from None
        with opened:
            try:
                dataset, signature = self._verify(opened, path, to, progress)
            except NotBaked as error:
                hint = suggest_conversion(self._path.name) or f"--data takes {ACCEPTED}, a baked file or the URL of one"
                raise Rejected(f"{self._path}: {error}; {hint}") from None
            except DamagedFile as damage:
                raise Rejected(f"{self._path}: {damage}; {damage.remedy}") from None
            except OSError as error:
                raise Unavailable(f"{self._path}: it cannot be copied: {error.strerror or error}") from None
        fetched = Fetched(fingerprint=fingerprint, summary=dataset.summary, assumed=dataset.assumed)
        return replace(fetched, file=str(path), signature=signature) if self._in_place else fetched

    def _verify(self, file: BinaryIO, path: Path, to: Path, progress: Progress) -> tuple[Dataset, Signature]:
        """Return the data set of an open file, after copying it unless in place, and its signature meanwhile.

        Raises DamagedFile, OSError.
        """
        from service.baking.baked_file import read_baked  # noqa: PLC0415 - the compiler needs no NumPy in this process

        since, signature = time_ns(), Signature.of(os.fstat(file.fileno()))
        known = self._verified.has(signature)
        if self._in_place:
            dataset = read_baked(path, checked=known, signature=signature, progress=progress)
        else:
            (unpack_file if self._path.suffix == PACKED else copy_file)(file, to, progress)
            dataset = read_baked(to, checked=known, progress=progress)
        unchanged = Signature.of(os.fstat(file.fileno())) == signature
        if not unchanged and (known or self._in_place):
            raise DamagedFile("the file changed while it was read", remedy="replace it by a rename only")
        if unchanged and not known:
            self._verified.add(file, signature, since)
        return dataset, signature
