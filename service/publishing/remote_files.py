"""A baked file at a URL as a source."""

import shlex
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Final, cast
from urllib.parse import urlsplit

import msgspec

from service import __version__
from service.background import Progress
from service.baking.baked_file import read_baked
from service.baking.characters import UnicodeMismatch
from service.baking.layout import DamagedFile, NotBaked
from service.dataset import AS_FOUND, InvalidRecords, ReadOptions, Rejected, Summary
from service.publishing.local_source import FolderSource
from service.publishing.remote_source import (
    PAUSES,
    Damaged,
    RemoteSource,
    new_file,
    receive,
    receive_listed,
    receive_whole,
)
from service.publishing.source import Fetched, Unavailable, bake_first, run_to_end
from service.publishing.transport import Transport
from service.reading.diagnostics import FileError
from service.reading.files.data_signature import file_signature, is_file, watched_folders
from service.reading.files.file_names import MANIFEST, Listing, parse_manifest
from service.texts import printable

# The end of the name of the folder in which files wait to be compiled. The workspace removes what is left of it.
_DOWNLOADS: Final = ".download"
_MOST: Final = 1 << 20  # bytes of a manifest: thousands of files


class RemoteFolder(RemoteSource):
    """A folder with a manifest, at a URL that ends with a slash. Nothing but what the manifest lists is fetched.

    The fingerprint is a digest of the manifest, and of how its files are compiled. See `FolderSource` for `timeout`.
    """

    def __init__(  # noqa: PLR0913 - what is fetched, then how it is compiled
        self,
        url: str,
        cache: Path,
        transport: Transport,
        *,
        invalid: InvalidRecords,
        timeout: float,
        options: ReadOptions = AS_FOUND,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        super().__init__(url, cache, transport, pauses=pauses)
        self._open = partial(FolderSource, invalid=invalid, timeout=timeout, options=options)
        self._mapping = Path(options.mapping)
        self._settings = f"{__version__} {invalid} {options.arguments()}"
        self._last = "", "", ""  # how files were compiled, the fingerprint, and that of the manifest alone

    @property
    def watched(self) -> Sequence[Path]:
        """The folders in which the file of the mapping can be replaced."""
        return watched_folders(self._mapping) if is_file(self._mapping) else ()

    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        how = await run_to_end(self._how)
        with _named(MANIFEST):
            async with self._transport.get(self._last[2] if self._last[:2] == (how, known) else "", MANIFEST) as remote:
                if remote is None:
                    return None
                stored = await receive_whole(remote, _MOST)
        fingerprint = sha256(how.encode() + stored).hexdigest()
        self._last = how, fingerprint, remote.fingerprint
        if fingerprint == known:
            return None
        try:
            manifest = parse_manifest(stored)
        except FileError as error:
            raise Rejected(f"{self.name}{MANIFEST}: {error}", fingerprint=fingerprint) from None
        async with _folder(to.parent) as folder:
            (folder / MANIFEST).write_bytes(stored)
            for name, listing in manifest.files.items():
                await self._fetch_file(name, listing, folder / name, progress)
            return await self._compile(folder, to, fingerprint, progress)

    def _how(self) -> str:
        """Return how files are compiled: another program, other options or another mapping make other data of them."""
        mapping = file_signature(self._mapping).fingerprint if is_file(self._mapping) else ""
        return f"{self._settings} {mapping}"

    async def _fetch_file(self, name: str, listing: Listing, to: Path, progress: Progress) -> None:
        with _named(name), new_file(to) as file:
            async with self._transport.get("", name) as remote:
                if remote is None:
                    raise Unavailable("the response is not a file")
                await receive_listed(remote, file, listing, partial(progress, f"Fetching {self.name}{printable(name)}"))

    async def _compile(self, folder: Path, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        def named(text: str) -> str:
            return text.replace(shlex.quote(str(folder)), "FOLDER")

        try:
            found = await self._open(folder).fetch(to, known="", check=lambda _: None, progress=progress)
        except Rejected as rejected:
            why, hint = map(named, (rejected.rejection.why, rejected.rejection.hint))
            raise Rejected(why, hint=hint, fingerprint=fingerprint) from None
        fetched = cast("Fetched", found)  # nothing was known
        assumed, notes = (tuple(map(named, lines)) for lines in (fetched.assumed, fetched.notes))
        return msgspec.structs.replace(fetched, fingerprint=fingerprint, assumed=assumed, notes=notes)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Name the file in errors of fetching it."""
    try:
        yield
    except Unavailable as error:
        raise type(error)(f"{printable(name)}: {error}") from None


@asynccontextmanager
async def _folder(parent: Path) -> AsyncIterator[Path]:
    """Make a folder, and remove it with its files at the end."""
    folder = Path(mkdtemp(suffix=_DOWNLOADS, dir=parent))
    try:
        yield folder
    finally:
        await run_to_end(shutil.rmtree, folder, ignore_errors=True)


class RemoteBakedFile(RemoteSource):
    """A baked file at a URL."""

    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        with new_file(to) as file:
            async with self._transport.get(known) as remote:
                if remote is None:
                    return None
                try:
                    await receive(remote, file, partial(progress, f"Fetching {self.name}"))
                except DamagedFile as damage:
                    raise self._rejected(damage, remote.fingerprint or f"rejected: {damage}") from damage
        fingerprint = remote.fingerprint or await run_to_end(_digest, to)
        if fingerprint == known:
            return None
        try:
            return Fetched(fingerprint=fingerprint, summary=await run_to_end(_verify, to))
        except UnicodeMismatch as other:
            raise Rejected(f"{self.name}: {other}; {other.remedy}", fingerprint=fingerprint) from other
        except DamagedFile as damage:
            raise Damaged.by(self._rejected(damage, fingerprint).rejection) from damage

    def _rejected(self, damage: DamagedFile, fingerprint: str) -> Rejected:
        path = PurePosixPath(urlsplit(self.name).path)
        is_data = isinstance(damage, NotBaked) and path.suffix != ".baked"
        hint = bake_first(path.name or "stores.csv") if is_data else ""
        return Rejected(f"{self.name}: {damage}", hint=hint, fingerprint=fingerprint)


def _verify(file: Path) -> Summary:
    """Check every byte; return the summary. Afterwards nothing of the file is mapped. Raises `DamagedFile`."""
    return read_baked(file).summary


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return f"sha256:{file_digest(content, 'sha256').hexdigest()}"
