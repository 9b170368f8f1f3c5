"""Remote sources: a baked file, or a folder with a manifest, with further attempts and the last good copy."""

import asyncio
import logging
import random
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from hashlib import file_digest, sha256
from io import FileIO
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Final, cast
from urllib.parse import urlsplit, urlunsplit

import msgspec

from service import __version__
from service.background import Progress
from service.baking.baked_file import read_baked
from service.baking.characters import UnicodeMismatch
from service.baking.layout import PACKED, DamagedFile, NotBaked
from service.dataset import Rejected
from service.publishing.cache_folder import LastGoodCopy
from service.publishing.local_source import FolderSource
from service.publishing.object_store import SCHEMES
from service.publishing.source import Check, Fetched, Unavailable, bake_first, run_to_end
from service.publishing.transport import CutOff, Transport, Undecodable, receive, receive_whole
from service.reading.diagnostics import FileError
from service.reading.files.container import file_signature, is_file
from service.reading.files.file_names import MANIFEST, Listing, parse_manifest
from service.settings import Settings
from service.texts import printable, split_url

# Pauses before further attempts, in seconds, each times a random part. After a longer outage the publisher fetches
# again.
_PAUSES: Final = (1.0, 4.0)
_JITTER: Final = 0.5
_log = logging.getLogger(__name__)


class Damaged(Rejected):
    """A file is damaged, perhaps in transit."""


class RemoteSource(ABC):
    """What is at a URL, with its last good copy, a baked file, in a folder.

    The first fetch returns that copy, if there is one, so that a start does not wait for the origin. Raises ValueError
    for a URL of another scheme.
    """

    def __init__(self, url: str, cache: Path, transport: Transport, *, pauses: Sequence[float] = _PAUSES) -> None:
        self.name = _name(url)
        self._transport, self._pauses = transport, pauses
        self._copy = LastGoodCopy(cache, url, name=self.name)
        self._started = False

    def look(self) -> str:
        """Return nothing, as the origin can only be polled."""
        return ""

    async def fetch(self, to: Path, *, known: str, check: Check, progress: Progress) -> Fetched | None:
        """Fetch what the origin has, or the last good copy if nothing was fetched before; see `Source`."""
        started, self._started = self._started, True
        if not (started or known) and (copy := await run_to_end(self._copy.load, to)):
            try:
                check(copy.summary.totals)
            except Rejected as rejected:
                _log.warning("the cached copy is not served: %s", rejected)
            else:
                return copy
        requested_at = datetime.now(UTC)
        fetched = await self._fetch_valid(to, known, progress)
        if fetched is None:
            await run_to_end(to.unlink, missing_ok=True)
            await run_to_end(self._copy.confirm, known, requested_at)
            return None
        try:
            check(fetched.summary.totals)
        except Rejected as rejected:
            raise Rejected.by(rejected.rejection, fingerprint=fetched.fingerprint) from None
        await run_to_end(self._copy.save, to, fetched.fingerprint, requested_at)
        return fetched

    async def _fetch_valid(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        """Return what the origin has, None if it is `known`; with further attempts if it breaks in transit."""
        try:
            for pause in self._pauses:
                with suppress(CutOff, Damaged):
                    return await self._attempt(to, known, progress)
                await asyncio.sleep(pause * random.uniform(1 - _JITTER, 1 + _JITTER))
            return await self._attempt(to, known, progress)
        except Rejected as rejected:
            if rejected.rejection.fingerprint != known:
                raise
            return None
        except Unavailable as error:
            raise Unavailable(f"{self.name}: {error}") from None
        except OSError as error:
            raise Unavailable(f"{self.name}: {error.strerror}") from error

    @abstractmethod
    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        """Fetch once; see `Source`, but for `check`. Raises `CutOff` and `Damaged` if another attempt may succeed."""


def _new_file(path: Path) -> FileIO:
    """Return a new file, open to be written."""
    path.unlink(missing_ok=True)  # a process may have it mapped
    path.touch(mode=0o600, exist_ok=False)
    return path.open("r+b", buffering=0)


def _name(url: str) -> str:
    """Return a URL without user, query and fragment, which may contain secrets, such as a signature."""
    if not (parts := split_url(url, "http", "https", *SCHEMES)):
        raise ValueError("it is not an http or https URL")
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


_MOST: Final = 1 << 20  # bytes of a manifest: thousands of files


class RemoteFolder(RemoteSource):
    """A folder with a manifest, at a URL that ends with a slash. Nothing but what the manifest lists is fetched.

    The fingerprint is a digest of the manifest, and of how its files are compiled. See `FolderSource` for the settings.
    """

    def __init__(
        self, url: str, cache: Path, transport: Transport, settings: Settings, *, pauses: Sequence[float] = _PAUSES
    ) -> None:
        super().__init__(url, cache, transport, pauses=pauses)
        self._settings, self._mapping = settings, Path(settings.mapping)
        self._has_mapping = False  # once there was a file, it is watched while it is away, too
        self._last = "", "", ""  # how files were compiled, the fingerprint, and that of the manifest alone

    def look(self) -> str:
        """Return the fingerprint of the file of the mapping, if there is or was one on this machine."""
        self._has_mapping = self._has_mapping or is_file(self._mapping)
        return file_signature(self._mapping).fingerprint if self._has_mapping else ""

    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        # Another program, other options or another mapping make other data of the same files.
        options, mapping = self._settings.read_options, await run_to_end(self.look)
        how = f"{__version__} {self._settings.invalid} {options!r} {mapping}"
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

    async def _fetch_file(self, name: str, listing: Listing, to: Path, progress: Progress) -> None:
        """Fetch a file. With another checksum it may be damaged in transit, or newer than the manifest: `CutOff`."""
        with _named(name), _new_file(to) as file:
            async with self._transport.get("", name) as remote:
                if remote is None:
                    raise Unavailable("the response is not a file")
                await receive(remote, file, partial(progress, f"Fetching {self.name}{printable(name)}"))
            try:
                listing.check_digest(await run_to_end(_digest, to))
            except FileError as error:
                raise CutOff(str(error)) from None

    async def _compile(self, folder: Path, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        def named(text: str) -> str:
            return text.replace(shlex.quote(str(folder)), "FOLDER")

        try:
            source = FolderSource(folder, self._settings)
            found = await source.fetch(to, known="", check=lambda _: None, progress=progress)
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
    folder = Path(mkdtemp(suffix=".download", dir=parent))  # the workspace removes what is left of it
    try:
        yield folder
    finally:
        await run_to_end(shutil.rmtree, folder, ignore_errors=True)


class RemoteBakedFile(RemoteSource):
    """A baked file at a URL, perhaps compressed, by its name."""

    @property
    def _path(self) -> PurePosixPath:
        return PurePosixPath(urlsplit(self.name).path)

    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        with _new_file(to) as file:
            async with self._transport.get(known) as remote:
                if remote is None:
                    return None
                # A body that was labelled with the coding of its name was decompressed already.
                is_packed = self._path.suffix == PACKED and remote.coding != PACKED[1:]
                body = remote.decompressed(PACKED[1:]) if is_packed else remote
                try:
                    await receive(body, file, partial(progress, f"Fetching {self.name}"), is_baked=True)
                except (DamagedFile, Undecodable) as damage:
                    kind = Rejected if isinstance(damage, DamagedFile) else Damaged
                    raise self._rejected(kind, damage, remote.fingerprint or f"rejected: {damage}") from damage
        fingerprint = remote.fingerprint or f"sha256:{await run_to_end(_digest, to)}"
        if fingerprint == known:
            return None
        try:
            return Fetched(fingerprint=fingerprint, summary=await run_to_end(lambda: read_baked(to).summary))
        except UnicodeMismatch as other:
            raise Rejected(f"{self.name}: {other}; {other.remedy}", fingerprint=fingerprint) from other
        except DamagedFile as damage:
            raise self._rejected(Damaged, damage, fingerprint) from damage

    def _rejected(self, kind: type[Rejected], damage: Exception, fingerprint: str) -> Rejected:
        is_data = isinstance(damage, NotBaked) and ".baked" not in self._path.suffixes
        hint = bake_first(self._path.name or "stores.csv") if is_data else ""
        return kind(f"{self.name}: {damage}", hint=hint, fingerprint=fingerprint)


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()
