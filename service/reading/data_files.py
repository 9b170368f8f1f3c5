"""Find and read the files of a data set in its folder."""

import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from service.files.status import check_regular
from service.model.records import COMPANIES, STORES, Resource
from service.reading.diagnostics import Diagnostic, FileError
from service.reading.folder_signature import data_file_name, folder_signature, is_file, resolve_root
from service.reading.formats import FORMATS, Format
from service.reading.manifest import MANIFEST, Listing, Manifest, parse_manifest
from service.reading.misnamed_files import suggest_file_name


class StoredFile(msgspec.Struct, frozen=True, eq=False):
    """A data file as stored, and its listing in the manifest, if there is one."""

    name: str
    format: Format
    compression: str | None
    stored: bytes
    listing: Listing | None


class FileSet(msgspec.Struct, frozen=True, eq=False):
    """The files of a data set by resource; a file that cannot be used has an error instead."""

    files: dict[str, StoredFile]
    errors: list[Diagnostic]
    generated_at: datetime | None = None


def read_folder(folder: Path, *, fingerprint: str | None = None) -> FileSet:
    """Return the files of a data set, all from the folder that the links of `folder` resolve to now.

    With the `fingerprint` of an earlier folder signature, files that changed since then are an error, unless a manifest
    proves that they belong together.
    """
    found = _read_folder(folder)
    unverified = any(file.listing is None for file in found.files.values())
    if fingerprint is not None and unverified and folder_signature(folder).fingerprint != fingerprint:
        found.errors.append(FileError("the files changed while they were read").diagnostic(folder))
    return found


def _read_folder(folder: Path) -> FileSet:
    if is_file(folder):
        parent = shlex.quote(str(folder.parent))
        why = f"a data set is a folder with stores and companies, and this is a file: use its folder, `{parent}`"
        return FileSet({}, [FileError(why).diagnostic(folder)])
    try:
        root = resolve_root(folder)
        names = sorted(path.name for path in root.iterdir())
    except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a cycle of links, before Python 3.13
        return FileSet({}, [FileError(f"the folder cannot be read: {_reason(error)}").diagnostic(folder)])
    try:
        manifest = parse_manifest(_read_bytes(root / MANIFEST)) if MANIFEST in names else None
    except FileError as error:
        return FileSet({}, [error.diagnostic(MANIFEST)])
    found = FileSet({}, [], manifest.generated_at if manifest else None)
    for resource in (COMPANIES, STORES):
        _find(resource, root, names, manifest, found)
    found.errors.extend(_check_other_files(root, names, manifest) if manifest else [])
    return found


def _find(resource: Resource, root: Path, names: Sequence[str], manifest: Manifest | None, found: FileSet) -> None:
    """Add the file of a resource, or the error why it cannot be used."""
    matches = _data_files(names, resource)
    try:
        match = _only(matches, root, names, resource)
        listing = manifest.listing(match.string) if manifest else None
        stored = _read_bytes(root / match.string)
        if listing is not None:
            listing.check_bytes(stored)
        found.files[resource.name] = StoredFile(match.string, FORMATS[match[2]], match[3], stored, listing)
    except FileError as error:
        found.errors.append(error.diagnostic(matches[0].string if len(matches) == 1 else resource.name))


def _data_files(names: Sequence[str], resource: Resource) -> list[re.Match[str]]:
    """Return the names that the file of a resource may have: those of the usual formats, or else of others."""
    matches = [match for name in names if (match := data_file_name(name)) and match[1] == resource.name]
    return [match for match in matches if FORMATS[match[2]].usual] or matches


def _only(matches: Sequence[re.Match[str]], root: Path, names: Sequence[str], resource: Resource) -> re.Match[str]:
    if len(matches) > 1:
        raise FileError(f"found several files, keep one: {', '.join(match.string for match in matches)}")
    if matches:
        return matches[0]
    accepted = ", ".join(f"{resource.name}.{ending}" for ending in FORMATS)
    found = suggest_file_name((name for name in names if is_file(root / name)), resource.name)
    hint = found or f"put one of {accepted} into the folder, optionally compressed as .gz or .zst"
    raise FileError(f"the file is missing: {hint}")


def _check_other_files(root: Path, names: Sequence[str], manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield the errors of listed files that hold no records, and of missing ones."""
    data_files = {match.string for resource in (COMPANIES, STORES) for match in _data_files(names, resource)}
    for name, listing in manifest.files.items():
        try:
            if not (name in data_files and (root / name).exists()):
                listing.check_bytes(_read_bytes(root / name))
        except FileError as error:
            yield error.diagnostic(name)


def _read_bytes(path: Path) -> bytes:
    try:
        check_regular(path.stat())
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"the file cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
