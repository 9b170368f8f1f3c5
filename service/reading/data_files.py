"""Find and read the files of a data set."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from service.model.records import COMPANIES, STORES, Resource
from service.reading.container import Container, open_container
from service.reading.diagnostics import Diagnostic, FileError
from service.reading.file_names import data_file_name, of_usual_formats, single_file_name
from service.reading.folder_signature import data_signature
from service.reading.formats import FORMATS, Format
from service.reading.manifest import MANIFEST, Listing, Manifest, parse_manifest
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.mapping_file import MAPPING, load_mapping, parse_mapping
from service.reading.misnamed_files import suggest_file_name
from service.reading.read_options import AS_FOUND, ReadOptions

_TWICE: Final = "the mapping takes the companies from the stores, and there is a file of companies, too: keep one"


class StoredFile(msgspec.Struct, frozen=True, eq=False):
    """A data file as stored, and its listing in the manifest, if there is one."""

    name: str
    format: Format
    compression: str | None
    stored: bytes
    listing: Listing | None


class FileSet(msgspec.Struct, frozen=True, eq=False):
    """The files of a data set by resource, and how to read them; a file that cannot be used has an error instead.

    encoding           of CSV files, by an option
    derives_companies  whether the companies are in the stores file, because there is no file of their own
    """

    files: dict[str, StoredFile]
    errors: list[Diagnostic]
    generated_at: datetime | None = None
    mapping: DataMapping | None = None
    encoding: str = ""
    derives_companies: bool = False


def read_data_set(path: Path, *, options: ReadOptions = AS_FOUND, fingerprint: str | None = None) -> FileSet:
    """Return the files of a folder, of an archive, or a single file; all from what the links of `path` resolve to now.

    With the `fingerprint` of an earlier signature, files that changed since then are an error, unless a manifest proves
    that they belong together. That cannot be proven of a mapping.
    """
    found = _read_data_set(path, options)
    unverified = found.mapping is not None or any(file.listing is None for file in found.files.values())
    if fingerprint is not None and unverified and data_signature(path, options).fingerprint != fingerprint:
        found.errors.append(FileError("the files changed while they were read").diagnostic(path))
    return found


def _read_data_set(path: Path, options: ReadOptions) -> FileSet:
    culprit: str | Path = path
    try:
        container = open_container(path)
        culprit = MANIFEST
        manifest = parse_manifest(container.read(MANIFEST)) if MANIFEST in container.names else None
        culprit = options.mapping or MAPPING
        mapping = _read_mapping(container, options)
    except FileError as error:
        return FileSet({}, [error.diagnostic(culprit)])
    found = FileSet(
        files={},
        errors=[],
        generated_at=manifest.generated_at if manifest else None,
        mapping=mapping,
        encoding=options.encoding,
        derives_companies=container.single is not None or (mapping is not None and mapping.derives_companies),
    )
    if found.derives_companies:
        found.errors.extend(_needless_files(container))
    else:
        _find(COMPANIES, container, manifest, found)
    _find(STORES, container, manifest, found)
    found.errors.extend(_check_other_files(container, manifest) if manifest else [])
    return found


def _read_mapping(container: Container, options: ReadOptions) -> DataMapping | None:
    """Return the mapping that an option names, else the one beside the files, if there is one."""
    if options.mapping:
        return load_mapping(options.mapping)
    return parse_mapping(container.read(MAPPING)) if MAPPING in container.names else None


def _find(resource: Resource, container: Container, manifest: Manifest | None, found: FileSet) -> None:
    """Add the file of a resource, or the error why it cannot be used."""
    matches = _matches(resource, container)
    try:
        match = _only(matches, container, resource)
        listing = manifest.listing(match.string) if manifest else None
        stored = container.read(match.string)
        if listing is not None:
            listing.check_bytes(stored)
        compression = match[3] and match[3].lower()
        file = StoredFile(match.string, FORMATS[match[2].lower()], compression, stored, listing)
        found.files[resource.name] = file
        if found.derives_companies:
            found.files[COMPANIES.name] = file
    except FileError as error:
        found.errors.append(error.diagnostic(matches[0].string if len(matches) == 1 else resource.name))


def _needless_files(container: Container) -> Iterator[Diagnostic]:
    """Yield an error for each file of companies, if companies are derived from the stores."""
    return (FileError(_TWICE).diagnostic(match.string) for match in _matches(COMPANIES, container))


def _matches(resource: Resource, container: Container) -> Sequence[re.Match[str]]:
    """Return the parts of the names of the files of a resource."""
    if container.single is not None:
        match = single_file_name(container.single)
        return [match] if match and resource is STORES else []
    files = (match for name in container.names if (match := data_file_name(name)))
    return of_usual_formats([match for match in files if match[1] == resource.name])


def _only(matches: Sequence[re.Match[str]], container: Container, resource: Resource) -> re.Match[str]:
    if len(matches) > 1:
        raise FileError(f"found several files, keep one: {', '.join(match.string for match in matches)}")
    if matches:
        return matches[0]
    accepted = ", ".join(f"{resource.name}.{ending}" for ending in FORMATS)
    found = suggest_file_name(filter(container.is_file, container.names), resource.name)
    hint = found or f"put one of {accepted} into the folder, optionally compressed as .gz or .zst"
    raise FileError(f"the file is missing: {hint}")


def _check_other_files(container: Container, manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield the errors of listed files that hold no records, and of missing ones."""
    held = {match.string for resource in (COMPANIES, STORES) for match in _matches(resource, container)}
    for name, listing in manifest.files.items():
        try:
            if name not in held:
                listing.check_bytes(container.read(name))
        except FileError as error:
            yield error.diagnostic(name)
