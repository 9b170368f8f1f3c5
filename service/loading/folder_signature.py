"""What files look like from outside: enough to tell that they changed, and when."""

import os
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from service.files.signature import Signature
from service.loading.formats import COMPRESSIONS, FORMATS
from service.loading.manifest import MANIFEST

# What proves itself whole need only not be in motion.
_PATIENCE_WITH_PROOF: Final = 0.05
# Files without one: whoever rewrites them one after the other should not pause longer than this.
_PATIENCE: Final = 1.0
# Kubernetes shows a volume's files as links through this link, and changes them all at once by turning it.
_MOUNT_LINK: Final = "..data"
_NAME: Final = re.compile(rf"([a-z]+)\.({'|'.join(FORMATS)})(?:\.({'|'.join(COMPRESSIONS)}))?")


class DataSignature(msgspec.Struct, frozen=True):
    """What files looked like at a moment.

    fingerprint  another one wherever a file was written, replaced, added or removed
    changed_at   when that last happened, in seconds since the epoch, by the clock of the file system
    proven       whether the files prove that they are whole and belong together, by a manifest or by checksums
    """

    fingerprint: str
    changed_at: float
    proven: bool

    @property
    def quiet_seconds(self) -> float:
        """For how many seconds the files should have been left alone before they are read."""
        return _PATIENCE_WITH_PROOF if self.proven else _PATIENCE


def data_file_name(name: str) -> re.Match[str] | None:
    """Return the parts of a data file's name: what it holds, format, compression; None where it is another name."""
    return _NAME.fullmatch(name)


def resolve_root(folder: Path) -> Path:
    """Return the folder that the links of a folder lead to now. Raises OSError, RuntimeError or ValueError."""
    mounted = folder / _MOUNT_LINK
    return (mounted if mounted.is_dir() else folder).resolve(strict=True)


def folder_signature(folder: Path) -> DataSignature:
    """Look at the data files of a folder. One that cannot be read has a look, too."""
    try:
        root = resolve_root(folder)
        files = sorted(file for file in root.iterdir() if file.name == MANIFEST or data_file_name(file.name))
        changed_at = root.stat().st_mtime
    except (OSError, RuntimeError, ValueError):  # RuntimeError: links in a circle, before Python 3.13
        return DataSignature("it cannot be read", 0, proven=False)
    return _signature(files, changed_at, proven=any(file.name == MANIFEST for file in files))


def file_signature(file: Path) -> DataSignature:
    """Look at a file that has checksums."""
    return _signature([file], 0, proven=True)


def watched_folders(path: Path) -> list[Path]:
    """Return the folders in which a path and all that its links lead through can be replaced, as far as there are.

    Where none is there, that is the nearest one above in which they can come to be.
    """
    path = path.absolute()
    links = [each for each in (path, *path.parents) if _is(Path.is_symlink, each)]
    resolved = Path(os.path.realpath(path))  # Path.resolve raises at links in a circle, before Python 3.13
    wanted = {path, resolved, *(link.parent for link in links), path.parent, resolved.parent}
    there = sorted(each for each in wanted if is_folder(each))
    return there or [next(each for each in path.parents if is_folder(each))]


def is_file(path: Path) -> bool:
    """Return whether a path is one of a regular file, and can be looked at."""
    return _is(Path.is_file, path)


def is_folder(path: Path) -> bool:
    """Return whether a path is one of a folder, and can be looked at."""
    return _is(Path.is_dir, path)


def _is(test: Callable[[Path], bool], path: Path) -> bool:
    try:
        return test(path)
    except OSError:
        return False


def _signature(files: Iterable[Path], changed_at: float, *, proven: bool) -> DataSignature:
    digest = sha256()
    for file in files:
        try:
            status = file.stat()
        except (OSError, ValueError):
            digest.update(f"{file.name!r} is gone;".encode())
            continue
        digest.update(f"{file.name!r} {Signature.of(status)};".encode())
        changed_at = max(changed_at, status.st_ctime)
    return DataSignature(digest.hexdigest(), changed_at, proven)
