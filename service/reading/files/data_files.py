"""Find and read the files of a data set."""

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from service.dataset import AS_FOUND, ReadOptions
from service.model.records import COMPANIES, STORES, Resource
from service.reading.columns.flags import utc_today
from service.reading.diagnostics import Diagnostic, FileError
from service.reading.files.container import Container, data_signature, open_container
from service.reading.files.file_names import (
    MANIFEST,
    MAPPING,
    DataFileName,
    Listing,
    Manifest,
    alike,
    data_files,
    declared_files,
    parse_manifest,
    patterns_of,
    suggest_file_name,
    suggest_other_files,
    suggest_patterns,
)
from service.reading.formats.file_format import FORMATS, PARQUET, WORKBOOK, FileFormat
from service.reading.formats.parquet_file import ParquetReader
from service.reading.formats.workbook_file import Sheets, WorkbookReader
from service.reading.isolation import FileReader
from service.reading.mapping.declaration import DataMapping
from service.reading.mapping.mapping_file import is_incomplete, load_mapping, parse_mapping
from service.reading.text import decompress, plain_text
from service.spool import FileBytes, Spools
from service.texts import truncate

_READERS: Final[Mapping[str, type[FileReader]]] = {PARQUET.name: ParquetReader, WORKBOOK.name: WorkbookReader}


def alike_files(path: Path) -> tuple[str, ...]:
    """Return the patterns of several files that may all be those of stores; none if there are not several."""
    with suppress(FileError):
        names = open_container(path).names
        if several := alike(names):
            return tuple(patterns_of(several, names))
    return ()


class ChosenFiles:
    """The names of the data files in a container.

    derives_companies  whether the companies are in the files of the stores
    """

    def __init__(self, container: Container, mapping: DataMapping) -> None:
        """Take a mapping, whose patterns do not matter for a file that is alone."""
        self._container = container
        is_alone = len(container.names) == 1
        self._single = container.single if is_alone or not mapping.files else None
        self._patterns = {} if self._single else mapping.files
        self.derives_companies = mapping.derives_companies or self._single is not None

    def of(self, resource: Resource) -> Sequence[DataFileName]:
        """Return the files of a resource, at least one, in the order in which they are read. Raises FileError."""
        names = self._find(resource)
        if resource.name in self._patterns:
            others = set() if self.derives_companies else self.names(COMPANIES if resource is STORES else STORES)
            if both := next((each.name for each in names if each.name in others), None):
                why = f"is a file of stores and of companies: {resource.name}.files must not match it"
                raise FileError(f"{both!r} {why}")
        elif len(names) > 1:
            several = [each.name for each in names]
            declare = suggest_patterns(patterns_of(several, self._container.names), resource.name)
            raise FileError(f"found several files: {', '.join(several)}; keep one, or {declare}")
        elif not names:
            raise FileError(f"the file is missing: {self._suggest_file(resource)}")
        return names

    def names(self, resource: Resource) -> set[str]:
        """Return the names of the files of a resource; none if they cannot be used."""
        with suppress(FileError):
            return {each.name for each in self._find(resource)}
        return set()

    def _find(self, resource: Resource) -> Sequence[DataFileName]:
        patterns = self._patterns.get(resource.name)
        if patterns is not None:
            return declared_files(patterns, self._container.names, f"{resource.name}.files")
        if self._single is None:
            return data_files(self._container.names, resource)
        return data_files([self._single]) if resource is STORES else []

    def _suggest_file(self, resource: Resource) -> str:
        names = list(filter(self._container.is_file, self._container.names))
        if similar := suggest_file_name(names, resource.name):
            return similar
        formats = f"another format ({', '.join(FORMATS)}), with .gz or .zst if it is compressed"
        file = f"put {resource.name}.csv into the folder, or {formats}"
        if resource is COMPANIES:
            return f"{file}; or let a mapping take the companies from the stores"
        return file + suggest_other_files(names)


class StoredFile(msgspec.Struct, frozen=True, eq=False):
    """A data file as stored, its entry in a manifest, the process that reads it if it is binary, a sheet of several."""

    name: str
    format: FileFormat
    compression: str | None
    stored: FileBytes
    listing: Listing | None
    reader: FileReader | None = None
    sheet: str = ""

    def text(self, encoding: str | None = None, spools: Spools | None = None) -> FileBytes:
        """Return what the file holds, decoded to UTF-8; b"" if a process reads it. Raises FileError."""
        declared = encoding if self.format.is_csv else None
        return b"" if self.reader else plain_text(self.stored, self.compression, declared, spools)

    @property
    def sheets(self) -> Sequence[str]:
        """The names of the visible sheets, if it is a workbook. Raises FileError."""
        opened = self.reader.opened if self.reader else None
        return opened.names[: opened.visible] if isinstance(opened, Sheets) else ()


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


def read_dataset(  # noqa: PLR0913 - what a data set depends on
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
    that they belong together. That cannot be proven of a mapping or a list of places. A given `mapping` replaces the
    one that is declared.

    Closing dates are compared with the day of `generated_at` in the manifest, else with `today`, both in UTC.
    """
    found = _read_dataset(path, options, today or utc_today(), mapping, spools or Spools())
    now = data_signature(path, options)
    proven = now.verifiable and all(file.listing is not None for several in found.files.values() for file in several)
    if fingerprint is not None and now.fingerprint != fingerprint and not proven:
        found.errors.append(FileError("the files changed while they were read").diagnostic(path))
    return found


def _read_dataset(path: Path, options: ReadOptions, today: date, given: DataMapping | None, spools: Spools) -> FileSet:
    culprit: str | Path = path
    errors: list[FileError] = []  # of the entries of the mapping
    try:
        container = open_container(path, spools)
        culprit = MANIFEST
        manifest = parse_manifest(container.read(MANIFEST)[:]) if MANIFEST in container.names else None
        culprit = options.mapping or MAPPING
        mapping = given or DataMapping()
        if given is None and options.mapping:
            mapping = load_mapping(options.mapping, errors)
        elif given is None and MAPPING in container.names:  # beside the files
            mapping = parse_mapping(container.read(MAPPING)[:], errors)
    except FileError as error:
        return FileSet({}, [each.diagnostic(culprit) for each in (*errors, error)])
    of_mapping = [each.diagnostic(culprit) for each in errors]
    if errors and is_incomplete(mapping):
        return FileSet({}, of_mapping)
    chosen, generated_at = ChosenFiles(container, mapping), manifest.generated_at if manifest else None
    stores, companies = chosen.names(STORES), chosen.names(COMPANIES)
    twice = FileError("companies come from the mapping and from a file; remove one")
    found = FileSet(
        files={},
        errors=of_mapping + [twice.diagnostic(name) for name in sorted(companies - stores) if chosen.derives_companies],
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
    found.errors.extend(_check_other_files(container, manifest, stores | companies) if manifest else [])
    return found


def _read(
    resource: Resource, chosen: ChosenFiles, container: Container, manifest: Manifest | None, found: FileSet
) -> None:
    """Add the files of a resource, or the errors why they cannot be used."""
    try:
        names = chosen.of(resource)
    except FileError as error:
        found.errors.append(error.diagnostic(resource.name))
        return
    files, failed, sheets = list[StoredFile](), len(found.errors), found.mapping.of(resource).table.sheets
    for name in names:
        several = sheets if name.format is WORKBOOK and len(sheets) > 1 else ("",)
        try:
            listing, stored = manifest.listing(name.name) if manifest else None, container.read(name.name)
            if listing is not None:
                listing.check_bytes(stored)
            reader = _READERS.get(name.format.name)
            opened = reader(partial(decompress, stored, name.compression, found.spools)) if reader else None
            for sheet in several:
                place = f"{name.name}:{truncate(sheet)}" if sheet else name.name
                files.append(StoredFile(place, name.format, name.compression, stored, listing, opened, sheet))
        except FileError as error:
            found.errors.append(error.diagnostic(name.name))
    if len(found.errors) == failed:
        found.files[resource.name] = files


def _check_other_files(container: Container, manifest: Manifest, held: AbstractSet[str]) -> Iterator[Diagnostic]:
    """Yield the errors of listed files that hold no records, and of missing ones."""
    for name, listing in manifest.files.items():
        try:
            if name not in held:
                listing.check_bytes(container.read(name))
        except FileError as error:
            yield error.diagnostic(name)
