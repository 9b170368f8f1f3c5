"""Find and read the files of a data set."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import msgspec

from service.files.mapped_bytes import FileBytes
from service.files.spool import Spools
from service.model.records import COMPANIES, STORES, Resource
from service.read_options import AS_FOUND, ReadOptions
from service.reading.batches.diagnostics import Diagnostic, FileError
from service.reading.file_set.container import Container, open_container
from service.reading.file_set.data_signature import data_signature
from service.reading.file_set.file_names import MANIFEST, MAPPING, DataFileName, data_files
from service.reading.file_set.manifest import Listing, Manifest, parse_manifest
from service.reading.file_set.misnamed_files import suggest_file_name, suggest_other_files
from service.reading.formats.file_format import FORMATS, FileFormat
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.mapping_file import load_mapping, parse_mapping
from service.reading.values.closing_day import utc_today

_TWICE: Final = "the mapping takes the companies from the stores, and there is a file of companies, too: keep one"


class StoredFile(msgspec.Struct, frozen=True, eq=False):
    """A data file as stored, and its listing in the manifest, if there is one."""

    name: str
    format: FileFormat
    compression: str | None
    stored: FileBytes
    listing: Listing | None


class FileSet(msgspec.Struct, frozen=True, eq=False):
    """The files of a data set by resource, and how to read them; a file that cannot be used has an error instead.

    as_of              the day that closing dates are compared with
    encoding           of CSV files, by an option
    derives_companies  whether the companies are in the stores file, because there is no file of their own
    spools             of the bytes of large files
    """

    files: dict[str, StoredFile]
    errors: list[Diagnostic]
    generated_at: datetime | None = None
    as_of: date = msgspec.field(default_factory=utc_today)
    mapping: DataMapping = DataMapping()
    encoding: str = ""
    derives_companies: bool = False
    spools: Spools = msgspec.field(default_factory=Spools)


def read_data_set(
    path: Path,
    *,
    options: ReadOptions = AS_FOUND,
    fingerprint: str | None = None,
    today: date | None = None,
    spools: Spools | None = None,
) -> FileSet:
    """Return the files of a folder, of an archive, or a single file; all from what the links of `path` resolve to now.

    With the `fingerprint` of an earlier signature, files that changed since then are an error, unless a manifest proves
    that they belong together. That cannot be proven of a mapping.

    Closing dates are compared with the day of `generated_at` in the manifest, else with `today`, both in UTC.
    """
    found = _read_data_set(path, options, today or utc_today(), spools)
    now = data_signature(path, options)
    proven = now.verifiable and all(file.listing is not None for file in found.files.values())
    if fingerprint is not None and now.fingerprint != fingerprint and not proven:
        found.errors.append(FileError("the files changed while they were read").diagnostic(path))
    return found


def _read_data_set(path: Path, options: ReadOptions, today: date, spools: Spools | None) -> FileSet:
    culprit: str | Path = path
    try:
        container = open_container(path, spools)
        culprit = MANIFEST
        manifest = parse_manifest(container.read(MANIFEST)[:]) if MANIFEST in container.names else None
        culprit = options.mapping or MAPPING
        mapping = _read_mapping(container, options)
    except FileError as error:
        return FileSet({}, [error.diagnostic(culprit)])
    generated_at = manifest.generated_at if manifest else None
    found = FileSet(
        files={},
        errors=[],
        generated_at=generated_at,
        as_of=generated_at.astimezone(UTC).date() if generated_at else today,
        mapping=mapping,
        encoding=options.encoding,
        derives_companies=container.single is not None or mapping.derives_companies,
        spools=spools or Spools(),
    )
    if found.derives_companies:
        found.errors.extend(_needless_files(container))
    else:
        _find(COMPANIES, container, manifest, found)
    _find(STORES, container, manifest, found)
    found.errors.extend(_check_other_files(container, manifest) if manifest else [])
    return found


def _read_mapping(container: Container, options: ReadOptions) -> DataMapping:
    """Return the mapping that an option names, else the one beside the files, else one that maps nothing."""
    if options.mapping:
        return load_mapping(options.mapping)
    return parse_mapping(container.read(MAPPING)[:]) if MAPPING in container.names else DataMapping()


def _find(resource: Resource, container: Container, manifest: Manifest | None, found: FileSet) -> None:
    """Add the file of a resource, or the error why it cannot be used."""
    names = _names(resource, container)
    try:
        name = _only(names, container, resource)
        listing = manifest.listing(name.name) if manifest else None
        stored = container.read(name.name)
        if listing is not None:
            listing.check_bytes(stored)
        file = StoredFile(name.name, name.format, name.compression, stored, listing)
        found.files[resource.name] = file
        if found.derives_companies:
            found.files[COMPANIES.name] = file
    except FileError as error:
        found.errors.append(error.diagnostic(names[0].name if len(names) == 1 else resource.name))


def _needless_files(container: Container) -> Iterator[Diagnostic]:
    """Yield an error for each file of companies, if companies are derived from the stores."""
    return (FileError(_TWICE).diagnostic(each.name) for each in _names(COMPANIES, container))


def _names(resource: Resource, container: Container) -> Sequence[DataFileName]:
    """Return the names of the files of a resource."""
    if container.single is None:
        return data_files(container.names, resource)
    return data_files([container.single]) if resource is STORES else []


def _only(names: Sequence[DataFileName], container: Container, resource: Resource) -> DataFileName:
    if len(names) > 1:
        raise FileError(f"found several files, keep one: {', '.join(each.name for each in names)}")
    if names:
        return names[0]
    others = list(filter(container.is_file, container.names))
    what_to_do = suggest_file_name(others, resource.name) or _suggest_file(resource, others)
    raise FileError(f"the file is missing: {what_to_do}")


def _suggest_file(resource: Resource, names: Sequence[str]) -> str:
    formats = f"another format ({', '.join(FORMATS)}), with .gz or .zst if it is compressed"
    file = f"put {resource.name}.csv into the folder, or {formats}"
    if resource is COMPANIES:
        return f"{file}; or let a mapping take the companies from the stores"
    return file + suggest_other_files(names, resource.name, [COMPANIES.name])


def _check_other_files(container: Container, manifest: Manifest) -> Iterator[Diagnostic]:
    """Yield the errors of listed files that hold no records, and of missing ones."""
    held = {each.name for resource in (COMPANIES, STORES) for each in _names(resource, container)}
    for name, listing in manifest.files.items():
        try:
            if name not in held:
                listing.check_bytes(container.read(name))
        except FileError as error:
            yield error.diagnostic(name)
