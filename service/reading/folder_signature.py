"""Signatures of files: a digest of their metadata, to detect that they changed, and when."""

import os
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from service.files.status import Signature
from service.reading.formats import COMPRESSIONS, FORMATS
from service.reading.manifest import MANIFEST

# Seconds without changes before files are read. A manifest or checksums prove that files are complete.
_QUIET_SECONDS_VERIFIABLE: Final = 0.05
# Other files: a program that rewrites them one by one must not pause for longer than this.
_QUIET_SECONDS: Final = 1.0
# In a Kubernetes volume the files are links through this link; replacing it updates them all at once.
_MOUNT_LINK: Final = "..data"
_NAME: Final = re.compile(rf"([a-z]+)\.({'|'.join(FORMATS)})(?:\.({'|'.join(COMPRESSIONS)}))?")


class DataSignature(msgspec.Struct, frozen=True):
    """The state of files at one time.

    fingerprint  differs after a file was written, replaced, added or removed
    changed_at   when that last happened, in seconds since the epoch, by the clock of the file system
    verifiable   whether a manifest or checksums can prove that the files are complete and belong together
    """

    fingerprint: str
    changed_at: float
    verifiable: bool

    @property
    def quiet_seconds(self) -> float:
        """How many seconds must pass without a change before the files are read."""
        return _QUIET_SECONDS_VERIFIABLE if self.verifiable else _QUIET_SECONDS


def data_file_name(name: str) -> re.Match[str] | None:
    """Return the parts of the name of a data file: resource, format, compression; None for any other name."""
    return _NAME.fullmatch(name)


def resolve_root(folder: Path) -> Path:
    """Return the folder that the links of a folder resolve to now. Raises OSError, RuntimeError or ValueError."""
    mounted = folder / _MOUNT_LINK
    return (mounted if mounted.is_dir() else folder).resolve(strict=True)


def folder_signature(folder: Path) -> DataSignature:
    """Return the signature of the data files of a folder. An unreadable folder has a signature, too."""
    try:
        root = resolve_root(folder)
        files = sorted(file for file in root.iterdir() if file.name == MANIFEST or data_file_name(file.name))
        changed_at = root.stat().st_mtime
    except (OSError, RuntimeError, ValueError):  # RuntimeError: a cycle of links, before Python 3.13
        return DataSignature("it cannot be read", 0, verifiable=False)
    return _signature(files, changed_at, verifiable=any(file.name == MANIFEST for file in files))


def file_signature(file: Path) -> DataSignature:
    """Return the signature of a file that has checksums."""
    return _signature([file], 0, verifiable=True)


def watched_folders(path: Path) -> list[Path]:
    """Return the existing folders in which a path, or a link on the way to it, can be replaced.

    If there is none, return the nearest existing ancestor.
    """
    path = path.absolute()
    links = filter(os.path.islink, (path, *path.parents))
    resolved = Path(os.path.realpath(path))  # Path.resolve raises for a cycle of links, before Python 3.13
    candidates = {path, resolved, *(link.parent for link in links), path.parent, resolved.parent}
    return sorted(filter(os.path.isdir, candidates)) or [next(filter(os.path.isdir, path.parents))]


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
