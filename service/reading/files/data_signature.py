"""Signatures of files: a digest of their metadata, to detect that they changed, and when."""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from service.dataset import AS_FOUND, ReadOptions
from service.files import Signature
from service.model.records import COMPANIES, STORES
from service.reading.files.file_names import MANIFEST, MAPPING, is_archive, matching, parse_name, patterns_in

# Seconds without changes before files are read. A manifest or checksums prove that files are complete.
_QUIET_SECONDS_VERIFIABLE: Final = 0.05
# Other files: a program that rewrites them one by one must not pause for longer than this.
_QUIET_SECONDS: Final = 1.0
# In a Kubernetes volume the files are links through this link; replacing it updates them all at once.
_MOUNT_LINK: Final = "..data"


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
    names = {file.name for file in files}
    verifiable = MANIFEST in names and MAPPING not in names and proven
    return _signature([*files, *declared], changed_at, verifiable=verifiable)


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
