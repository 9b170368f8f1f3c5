"""Where the files of a data set are stored, a folder, an archive or a single file, and whether they changed."""

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import msgspec

from service.dataset import AS_FOUND, ReadOptions
from service.files import Signature
from service.model.records import COMPANIES, STORES
from service.reading.diagnostics import FileError
from service.reading.files.file_names import (
    ARCHIVE,
    MANIFEST,
    MAPPING,
    data_files,
    holds_data,
    is_archive,
    matching,
    parse_name,
    patterns_in,
    suggest_conversion,
)
from service.reading.formats.file_format import FORMATS
from service.reading.text import ZIP_DAMAGE, check_size, copy_stored, read_bounded, reason
from service.spool import FileBytes, SpoolError, Spools, open_bytes
from service.texts import printable, repeated, truncate

MAX_ENTRIES: Final = 1_000
ACCEPTED: Final = f"a folder with stores and companies, a file of stores ({', '.join(FORMATS)}) or a {ARCHIVE} archive"
_PART: Final = 1 << 20  # bytes
# Each entry of the directory begins with it. It occurs by chance once in 4 GiB.
_ENTRY: Final = b"PK\x01\x02"
_ENCRYPTED: Final = 1  # a flag of an entry
_OUTSIDE: Final = re.compile(r"/|[A-Za-z]:|.*[\\\0]|(?:.*/)?\.{1,2}(?:/|\Z)|.*//|\Z", re.DOTALL)
# What macOS and others add for themselves.
_HIDDEN: Final = re.compile(r"__MACOSX/|(?:.*/)?\.", re.DOTALL)
# Seconds without changes before files are read. A manifest or checksums prove that files are complete.
_QUIET_SECONDS_VERIFIABLE: Final = 0.05
# Other files: a program that rewrites them one by one must not pause for longer than this.
_QUIET_SECONDS: Final = 1.0
# In a Kubernetes volume the files are links through this link; replacing it updates them all at once.
_MOUNT_LINK: Final = "..data"


class Container:
    """The files of a data set, in a folder.

    names   of all its files, sorted
    single  the name of its only data file, which has the stores, if it need not be called so
    """

    def __init__(self, folder: Path, names: Iterable[str], spools: Spools, single: str | None = None) -> None:
        """Take names in a folder; the bytes of large files are in `spools`."""
        self._folder, self._spools = folder, spools
        self.names: Sequence[str] = sorted(names)
        self.single = single

    def read(self, name: str) -> FileBytes:
        """Return the bytes of a file. Raises FileError."""
        return copy_stored(self._folder / name, self._spools)

    def is_file(self, name: str) -> bool:
        """Return whether a name is that of a file, not of a folder."""
        return is_file(self._folder / name)


class ZipArchive(Container):
    """The files at the top of an archive, or in the one folder of it that has data files."""

    def __init__(self, stored: FileBytes, spools: Spools | None = None) -> None:
        """Read the directory of an archive, whose files are in `spools` if they are large. Raises FileError."""
        if not stored:
            raise FileError("the file is empty")
        if stored.count(_ENTRY, 0, len(stored)) > MAX_ENTRIES:
            raise FileError(f"the archive has more than {MAX_ENTRIES:,} entries")
        try:
            self._archive = ZipFile(open_bytes(stored))
        except ZIP_DAMAGE as error:
            raise _damaged(error) from None
        self._stored, self._expanded, self._spools = len(stored), 0, spools or Spools()
        infos = self._archive.infolist()
        names = [info.orig_filename for info in infos]
        for name in filter(_OUTSIDE.match, names):  # which would lead out of a folder
            raise FileError(f"the archive has an entry with an unsafe path: {_quoted(name)}")
        for name in repeated(names):
            raise FileError(f"the archive has several entries with the name {_quoted(name)}")
        kept = [info for info in infos if not info.is_dir() and not _HIDDEN.match(info.filename)]
        folder = _folder(sorted(info.filename for info in kept))
        self._infos = {path.name: info for info in kept if str((path := PurePosixPath(info.filename)).parent) == folder}
        self.names = sorted(self._infos)
        # The file with the stores, if there is none of companies and no other that may have the stores.
        files = data_files(self.names, STORES) or data_files(name for name in self.names if name != MANIFEST)
        self.single = files[0].name if len(files) == 1 and not data_files(self.names, COMPANIES) else None

    def read(self, name: str) -> FileBytes:
        """Return the bytes of a file. Raises FileError, also if all that is read of the archive is too much for it."""
        info = self._infos.get(name)
        if info is None:
            raise FileError("the archive does not have this file")
        _check_entry(info)
        try:
            with self._archive.open(info) as stream:
                parts, size = iter(partial(stream.read, _PART), b""), min(info.compress_size, self._stored)
                content = read_bounded(parts, stored=size, spools=self._spools)
        except SpoolError:
            raise
        except ZIP_DAMAGE as error:
            raise _damaged(error) from None
        if len(content) != info.file_size or info.compress_size > self._stored:
            raise FileError("the archive is damaged: the file is not as long as its entry says")
        self._expanded += len(content)
        check_size(self._expanded, stored=self._stored)  # entries may share the bytes that they expand
        return content

    def is_file(self, name: str) -> bool:
        """Return whether the archive has a file of this name."""
        return name in self.names


def _folder(names: Sequence[str]) -> str:
    """Return the folder with the data files: the top, which is ".", if there are any, else the only folder with any."""
    folders = list(dict.fromkeys(str(PurePosixPath(file.name).parent) for file in data_files(names)))
    if "." in folders:
        return "."
    if not folders:
        nested = next((name for name in names if name.lower().endswith(f".{ARCHIVE}")), None)
        hint = f": {_quoted(nested)} is an archive itself, unpack it" if nested else ", such as stores.csv"
        raise FileError(f"the archive has no data file{hint}")
    if len(folders) > 1:
        found = ", ".join(map(_quoted, folders[:3]))
        raise FileError(f"the archive has data files in several folders ({found}): put them into one")
    return folders[0]


def _check_entry(info: ZipInfo) -> None:
    if info.flag_bits & _ENCRYPTED:
        raise FileError("the file is encrypted in the archive: make the archive without a password")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others need much memory for little input
        raise FileError("the file is compressed in an unusual way: make the archive with the method Deflate")
    named = parse_name(info.filename)
    if named is not None and named.compression is not None:
        raise FileError(f"the file is compressed twice; add it to the archive without .{named.compression}")


def _quoted(name: str) -> str:
    return repr(truncate(name))


def _damaged(error: Exception) -> FileError:
    return FileError(f"the archive is damaged: {printable(truncate(str(error))) or 'it is truncated'}")


def open_container(path: Path, spools: Spools | None = None) -> Container:
    """Return what is at a path; what is read of it is in `spools` if it is large. Raises FileError."""
    spools = spools or Spools()
    if not is_file(path):
        try:
            root = resolve_root(path)
            return Container(root, (file.name for file in root.iterdir()), spools)
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a cycle of links, before Python 3.13
            what = "file" if holds_data(path) else "folder"
            if isinstance(error, FileNotFoundError):
                raise FileError("there is no such file or folder") from None
            raise FileError(f"the {what} cannot be read: {reason(error)}") from None
    if not holds_data(path):
        if path.name.casefold().endswith((".baked", ".baked.zst")):
            raise FileError("a baked file is checked by `store-directory verify`; its data files are needed here")
        if conversion := suggest_conversion(path.name):
            raise FileError(f"files of this format are not read: {conversion}")
        raise FileError(f"the file name has no known extension: a data set is {ACCEPTED}")
    if is_archive(path):
        return ZipArchive(copy_stored(path, spools), spools)
    return Container(path.parent, [path.name], spools, path.name)


class DataSignature(msgspec.Struct, frozen=True):
    """The state of files at one time.

    fingerprint  differs after a file was written, replaced, added or removed
    changed_at   when that last happened, in seconds since the epoch, by the clock of the file system
    verifiable   whether a manifest or checksums can prove that the files are complete and belong together; a mapping
                 has no checksum
    """

    fingerprint: str
    changed_at: float
    verifiable: bool

    @property
    def quiet_seconds(self) -> float:
        """The seconds that must pass without a change before the files are read (debounce)."""
        return _QUIET_SECONDS_VERIFIABLE if self.verifiable else _QUIET_SECONDS


def resolve_root(folder: Path) -> Path:
    """Return the folder that the links of a folder resolve to now. Raises OSError, RuntimeError or ValueError."""
    mounted = folder / _MOUNT_LINK
    return (mounted if mounted.is_dir() else folder).resolve(strict=True)


def data_signature(path: Path, options: ReadOptions = AS_FOUND) -> DataSignature:
    """Return the signature of a data set and what options name, wherever that is; an unreadable folder has one, too."""
    declared = [Path(each) for each in (options.mapping, options.places) if each]
    proven = not any(map(is_file, declared))  # a preset needs no proof
    if is_file(path):
        return _signature([path, *declared], 0, verifiable=is_archive(path) and proven)
    others = {MANIFEST} if options.mapping else {MANIFEST, MAPPING}
    try:
        root = resolve_root(path)
        found = {file.name: file for file in root.iterdir()}
        mapping = Path(options.mapping) if options.mapping else root / MAPPING
        patterns = patterns_in(mapping) if is_file(mapping) or not options.mapping else ()
        named = {name for name in found if (file := parse_name(name)) and (file.is_of(STORES) or file.is_of(COMPANIES))}
        read = {*matching(patterns, found), *named, *(others & found.keys())}
        files = [found[name] for name in sorted(read)]
        changed_at = root.stat().st_mtime
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a cycle of links, before Python 3.13
        return DataSignature("it cannot be read", 0, verifiable=False)
    return _signature([*files, *declared], changed_at, verifiable=MANIFEST in read and MAPPING not in read and proven)


def file_signature(file: Path) -> DataSignature:
    """Return the signature of a file that has checksums."""
    return _signature([file], 0, verifiable=True)


def is_file(path: Path) -> bool:
    """Return whether a path is that of a regular file; False if it cannot be read."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises for a name that is too long


def _signature(files: Iterable[Path], changed_at: float, *, verifiable: bool) -> DataSignature:
    digest = sha256()
    for file in files:
        try:
            status = file.stat()
        except (OSError, ValueError):
            digest.update(f"{file.name!r} is gone;".encode())
            continue
        digest.update(f"{file.name!r} {Signature.of(status)};".encode())
        changed_at = max(changed_at, status.st_ctime)
    return DataSignature(digest.hexdigest(), changed_at, verifiable)
