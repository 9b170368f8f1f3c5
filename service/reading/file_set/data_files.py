"""Find and read the files of a data set."""

from collections.abc import Iterator, Sequence, Set as AbstractSet
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import msgspec

from service.files.mapped_bytes import FileBytes
from service.files.spool import Spools
from service.model.records import COMPANIES, STORES, Resource
from service.read_options import AS_FOUND, ReadOptions
from service.reading.batches.diagnostics import Diagnostic, FileError
from service.reading.file_set.chosen_files import ChosenFiles
from service.reading.file_set.container import Container, open_container
from service.reading.file_set.data_signature import data_signature
from service.reading.file_set.file_names import MANIFEST, MAPPING, DataFileName
from service.reading.file_set.manifest import Listing, Manifest, parse_manifest
from service.reading.formats.file_format import FileFormat
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
    """The files of a data set by resource, and how to read them; a resource whose files cannot be used has errors.

    as_of              the day that closing dates are compared with
    encoding           of CSV files, by an option
    derives_companies  whether the companies are in the stores file, because they have no files of their own
    spools             of the bytes of large files
    """

    files: dict[str, Sequence[StoredFile]]
    errors: list[Diagnostic]
    generated_at: datetime | None = None
    as_of: date = msgspec.field(default_factory=utc_today)
    mapping: DataMapping = DataMapping()
    encoding: str = ""
    derives_companies: bool = False
    spools: Spools = msgspec.field(default_factory=Spools)


def read_data_set(  # noqa: PLR0913 - what a data set depends on
    path: Path,
    *,
    options: ReadOptions = AS_FOUND,
    fingerprint: str | None = None,
    today: date | None = None,
    mapping: DataMapping | None = None,
    spools: Spools | None = None,
) -> FileSet:
    """Return the files of a folder, of an archive, or a single file; all from what the links of `path` resolve to now.

    With the `fingerprint` of an earlier signature, files that changed since then are an error, unless a manifest proves
    that they belong together. That cannot be proven of a mapping. A given `mapping` replaces the one that is declared.

    Closing dates are compared with the day of `generated_at` in the manifest, else with `today`, both in UTC.
    """
    found = _read_data_set(path, options, today or utc_today(), mapping, spools or Spools())
    now = data_signature(path, options)
    proven = now.verifiable and all(file.listing is not None for several in found.files.values() for file in several)
    if fingerprint is not None and now.fingerprint != fingerprint and not proven:
        found.errors.append(FileError("the files changed while they were read").diagnostic(path))
    return found


def _read_data_set(path: Path, options: ReadOptions, today: date, given: DataMapping | None, spools: Spools) -> FileSet:
    culprit: str | Path = path
    try:
        container = open_container(path, spools)
        culprit = MANIFEST
        manifest = parse_manifest(container.read(MANIFEST)[:]) if MANIFEST in container.names else None
        culprit = options.mapping or MAPPING
        mapping = given or _read_mapping(container, options)
    except FileError as error:
        return FileSet({}, [error.diagnostic(culprit)])
    chosen, generated_at = ChosenFiles(container, mapping), manifest.generated_at if manifest else None
    found = FileSet(
        files={},
        errors=[FileError(_TWICE).diagnostic(name) for name in chosen.needless],
        generated_at=generated_at,
        as_of=generated_at.astimezone(UTC).date() if generated_at else today,
        mapping=mapping,
        encoding=options.encoding,
        derives_companies=chosen.derives_companies,
        spools=spools,
    )
    for resource in (STORES,) if chosen.derives_companies else (COMPANIES, STORES):
        _read(resource, chosen, container, manifest, found)
    if found.derives_companies and STORES.name in found.files:
        found.files[COMPANIES.name] = found.files[STORES.name]
    found.errors.extend(_check_other_files(container, manifest, chosen.held) if manifest else [])
    return found


def _read_mapping(container: Container, options: ReadOptions) -> DataMapping:
    """Return the mapping that an option names, else the one beside the files, else one that maps nothing."""
    if options.mapping:
        return load_mapping(options.mapping)
    return parse_mapping(container.read(MAPPING)[:]) if MAPPING in container.names else DataMapping()


def _read(
    resource: Resource, chosen: ChosenFiles, container: Container, manifest: Manifest | None, found: FileSet
) -> None:
    """Add the files of a resource, or the errors why they cannot be used."""
    try:
        names = chosen.of(resource)
    except FileError as error:
        found.errors.append(error.diagnostic(resource.name))
        return
    files = []
    for name in names:
        try:
            files.append(_read_file(name, container, manifest))
        except FileError as error:
            found.errors.append(error.diagnostic(name.name))
    if len(files) == len(names):
        found.files[resource.name] = files


def _read_file(name: DataFileName, container: Container, manifest: Manifest | None) -> StoredFile:
    listing = manifest.listing(name.name) if manifest else None
    stored = container.read(name.name)
    if listing is not None:
        listing.check_bytes(stored)
    return StoredFile(name.name, name.format, name.compression, stored, listing)


def _check_other_files(container: Container, manifest: Manifest, held: AbstractSet[str]) -> Iterator[Diagnostic]:
    """Yield the errors of listed files that hold no records, and of missing ones."""
    for name, listing in manifest.files.items():
        try:
            if name not in held:
                listing.check_bytes(container.read(name))
        except FileError as error:
            yield error.diagnostic(name)
