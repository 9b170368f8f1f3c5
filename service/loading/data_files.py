"""The folder of a data set: which of its files are meant, and their stored bytes."""

import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import msgspec

from service.files.regular_file import check_regular
from service.loading.faults import Fault, RefusedError
from service.loading.folder_signature import data_file_name, folder_signature, is_file, resolve_root
from service.loading.formats import FORMATS, Format
from service.loading.manifest import MANIFEST, Listing, Manifest, parse_manifest
from service.loading.misnamed_files import describe_misnamed
from service.model.records import COMPANIES, STORES, Resource


class StoredFile(msgspec.Struct, frozen=True, eq=False):
    """A data file as stored, and what the manifest has of it."""

    name: str
    format: Format
    compression: str | None
    stored: bytes
    listing: Listing | None


class FileSet(msgspec.Struct, frozen=True, eq=False):
    """The files of a data set by resource; of one that is refused there is a fault instead."""

    files: dict[str, StoredFile]
    faults: list[Fault]
    generated_at: datetime | None = None


def read_folder(folder: Path, *, fingerprint: str | None = None) -> FileSet:
    """Return the files of a data set, all from the one folder that the links of `folder` lead to now.

    With the `fingerprint` of a look at the folder, files that changed since are a fault, unless a manifest proves that
    they belong together.
    """
    found = _read_folder(folder)
    unproven = any(file.listing is None for file in found.files.values())
    if fingerprint is not None and unproven and folder_signature(folder).fingerprint != fingerprint:
        found.faults.append(RefusedError("the files changed while they were read").fault(folder))
    return found


def no_folder(file: Path) -> str:
    """Return what to do where a file is given that holds no data set."""
    folder = shlex.quote(str(file.parent))
    return f"a data set is a folder that holds stores and companies, and this is a file: give its folder, `{folder}`"


def _read_folder(folder: Path) -> FileSet:
    if is_file(folder):
        return FileSet({}, [RefusedError(no_folder(folder)).fault(folder)])
    try:
        root = resolve_root(folder)
        names = sorted(path.name for path in root.iterdir())
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: links in a circle, before Python 3.13
        return FileSet({}, [RefusedError(f"the folder cannot be read: {_why(error)}").fault(folder)])
    try:
        manifest = parse_manifest(_read_bytes(root / MANIFEST)) if MANIFEST in names else None
    except RefusedError as refused:
        return FileSet({}, [refused.fault(MANIFEST)])
    found = FileSet({}, [], manifest.generated_at if manifest else None)
    for resource in (COMPANIES, STORES):
        _find(resource, root, names, manifest, found)
    found.faults.extend(_differing(root, manifest) if manifest else [])
    return found


def _find(resource: Resource, root: Path, names: Sequence[str], manifest: Manifest | None, found: FileSet) -> None:
    """Add a resource's file to what is found, or why there is none."""
    matches = [match for name in names if (match := data_file_name(name)) and match[1] == resource.name]
    try:
        match = _only(matches) if matches else _none(root, names, resource)
        listing = manifest.listing(match.string) if manifest else None
        stored = _read_bytes(root / match.string)
        if listing is not None:
            listing.check_bytes(stored)
        found.files[resource.name] = StoredFile(match.string, FORMATS[match[2]], match[3], stored, listing)
    except RefusedError as refused:
        found.faults.append(refused.fault(matches[0].string if len(matches) == 1 else resource.name))


def _only(matches: Sequence[re.Match[str]]) -> re.Match[str]:
    if len(matches) > 1:
        raise RefusedError(f"there is more than one file, keep one: {', '.join(match.string for match in matches)}")
    return matches[0]


def _none(root: Path, names: Sequence[str], resource: Resource) -> NoReturn:
    wanted = ", ".join(f"{resource.name}.{ending}" for ending in FORMATS)
    found = describe_misnamed((name for name in names if is_file(root / name)), resource.name)
    hint = found or f"put one of {wanted} into the folder, as it is or as .gz or .zst"
    raise RefusedError(f"the file is missing: {hint}")


def _differing(root: Path, manifest: Manifest) -> Iterator[Fault]:
    """Yield the faults of the listed files that hold no records, and of the others that are missing."""
    for name, listing in manifest.files.items():
        match = data_file_name(name)
        holds_records = match is not None and match[1] in (COMPANIES.name, STORES.name)
        try:
            if not (holds_records and (root / name).exists()):
                listing.check_bytes(_read_bytes(root / name))
        except RefusedError as refused:
            yield refused.fault(name)


def _read_bytes(path: Path) -> bytes:
    try:
        check_regular(path.stat())
        return path.read_bytes()
    except OSError as error:
        raise RefusedError(f"the file cannot be read: {_why(error)}") from None


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
