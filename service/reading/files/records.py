"""Open files of any format as batches of records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch, Cell, CleanedFile, RecordFile
from service.reading.columns.field_names import find_alike
from service.reading.diagnostics import FileError, Issue
from service.reading.files.data_files import FileSet, StoredFile
from service.reading.formats.csv_file import open_csv
from service.reading.formats.file_format import (
    GEOJSON,
    GEOJSON_LINES,
    JSON,
    JSON_LINES,
    OVERPASS,
    PARQUET,
    WORKBOOK,
    FileFormat,
)
from service.reading.formats.geojson import COLLECTION, ELEMENTS, FeatureDecoder, OverpassFile, open_geojson
from service.reading.formats.json_file import JsonFile, open_json
from service.reading.formats.json_text import has_array, line_values
from service.reading.formats.parquet_file import ParquetFile
from service.reading.formats.table_file import NO_OPTIONS, Finds, TableFile, TableOptions, Warnings, finds_nothing
from service.reading.formats.workbook_file import WorkbookFile
from service.reading.isolation import FileReader
from service.reading.mapping.conversions import has_value
from service.reading.mapping.declaration import NO_MAPPING, FieldMapping, ResourceMapping
from service.reading.mapping.mapped_records import MappedRecords, has_columns
from service.reading.text import assumed_encoding, count_line_breaks
from service.spool import FileBytes
from service.texts import truncate

_T = TypeVar("_T")
NAME_COLUMN: Final = "company_name"
_LONGEST_BEGINNING: Final = 4_096  # bytes
_IDENTIFIER: Final = COMPANIES.identifier
_NAME: Final = "name"
_OPENERS: Final[Mapping[str, Callable[[FileBytes], RecordFile]]] = {
    JSON.name: open_json,
    JSON_LINES.name: lambda text: JsonFile(line_values(text)),
    GEOJSON.name: open_geojson,
    OVERPASS.name: OverpassFile,
    GEOJSON_LINES.name: lambda text: JsonFile(line_values(text), FeatureDecoder),
}
_UNTERMINATED: Final = Issue("unterminated", "the last line has no line ending, as in a truncated file")
_USE_THEM: Final = "use them as latitude and longitude; `store-directory mapping` proposes how"
_IN_COLUMN = f"companies: from {COMPANIES.identifier}, named by {NAME_COLUMN} if there is one"
_IN_MAPPING = "companies: from the stores, as the mapping declares"


class DistinctCompanies:
    """The companies of stores: the first record of each identifier in all files, named by it if it has no name.

    Records without an identifier, or that cannot be read, are errors of the stores.
    """

    def __init__(self, resource: Resource = COMPANIES) -> None:
        """Take the resource of companies, which may have attributes."""
        self._fields = [field.name for field in resource.fields]
        self._known: set[Cell] = set()

    def of(self, batch: Batch) -> Batch:
        """Return the companies in the records of the next stores."""
        identifiers = batch.columns[_IDENTIFIER]
        first = []
        for index, cell in enumerate(identifiers):
            if isinstance(cell, str) and cell not in self._known and cell.strip():
                self._known.add(cell)
                first.append(index)
        none = (None,) * len(identifiers)
        columns = {name: _selected(batch.columns.get(name, none), first) for name in self._fields}
        named = zip(_selected(batch.columns[_NAME], first), columns[_IDENTIFIER], strict=True)
        columns[_NAME] = [name if has_value(name) else identifier for name, identifier in named]
        numbers = _selected(batch.numbers, first)
        return Batch(numbers, columns, lambda: _selected(batch.lines(), first), (), (), batch.done, batch.total)


def _selected(items: Sequence[_T], indexes: Sequence[int]) -> list[_T]:
    return [items[index] for index in indexes]


def open_file(
    text: FileBytes,
    form: FileFormat,
    *,
    reader: FileReader | None = None,
    options: TableOptions = NO_OPTIONS,
    finds: Finds = finds_nothing,
) -> RecordFile:
    """Return a file as records by column; for CSV, see `open_csv`, for a sheet `WorkbookFile`. Raises FileError.

    `reader` is the process that reads it, if there is one.
    """
    if form.is_csv:
        return open_csv(text, options=options, finds=finds)
    if form is WORKBOOK:
        return WorkbookFile(reader or text, options, finds)
    if keys := options.declared.keys() - {"repair", "trim"}:
        raise FileError(f"the mapping declares {', '.join(sorted(keys))}: only for CSV files and workbooks; remove it")
    file = ParquetFile(reader or text) if form is PARQUET else _OPENERS[form.name](text)
    clean = options.clean
    return file if clean is None else CleanedFile(file, clean)


def format_of(text: FileBytes, named: FileFormat, resource: Resource) -> FileFormat:
    """Return the format of a file with the extension of some format: JSON may be a GeoJSON collection, or of Overpass.

    An object with an array of the resource always was JSON.
    """
    if named is not JSON:
        return named
    is_overpass = ELEMENTS.match(text[:_LONGEST_BEGINNING])
    found = GEOJSON if COLLECTION.match(text) else OVERPASS if is_overpass else JSON
    return JSON if found is not JSON and has_array(text, resource.name) else found


class Records(msgspec.Struct, frozen=True, eq=False):
    """The records of a file.

    batches   in order; they raise FileError
    assumed   what was assumed about the file, each in a few words
    warnings  about the file, each with its line: complete after the last batch
    """

    batches: Iterator[Batch]
    assumed: Sequence[str] = ()
    warnings: Sequence[tuple[int | None, Issue]] = ()


class RecordReader:
    """Reads the records of a resource in the files of a data set, one file after the other."""

    def __init__(self, resource: Resource, data: FileSet) -> None:
        self._resource, self._data = resource, data
        self._held = data.mapping.schema.stores if data.derives_companies else resource
        self._derived = DistinctCompanies(resource)

    def read(self, file: StoredFile) -> Records:
        """Return a file's records, of JSON without a mapping those in the array of their name. Raises FileError."""
        data, declared, resource = self._data, self._data.mapping, self._resource
        own = declared.of(self._held)
        text = file.text(data.encoding or own.encoding, data.spools)
        form = format_of(text, file.format, self._held)
        is_plain = own == NO_MAPPING and form in (JSON, JSON_LINES)
        derives = data.derives_companies and not (is_plain and has_array(text, COMPANIES.name))
        is_derived = derives and resource.name != STORES.name
        if form is JSON and is_plain:
            found: RecordFile = open_json(text, STORES.name if is_derived else resource.name)
        else:
            options = msgspec.structs.replace(own.table, sheets=(file.sheet,)) if file.sheet else own.table
            finds = partial(has_columns, mapping=own, resource=self._held)
            found = open_file(text, form, reader=file.reader, options=options, finds=finds)
        found.is_exact = is_plain
        if is_derived:
            of_companies = declared.companies if declared.derives_companies else _owners(own)
            batches = MappedRecords(found, of_companies, resource, by_name=False, as_of=data.as_of).batches()
            assumed = _IN_MAPPING if declared.derives_companies else _IN_COLUMN
            return Records(map(self._derived.of, batches), (assumed,))
        records = MappedRecords(found, own, resource, as_of=data.as_of)
        batches = map(_without_name, records.batches()) if derives else records.batches()
        warnings = found.warnings if isinstance(found, TableFile) else []
        if resource.coordinates is not None:
            batches = _watched(batches, resource.coordinates, records, warnings)
        if text and form.line_ends and not text.endswith(form.line_ends):
            warnings += [(1 + count_line_breaks(text, 0, len(text)), _UNTERMINATED)]
        return Records(batches, [*_encoding(file), *records.assumed], warnings)


def _owners(stores: ResourceMapping) -> ResourceMapping:
    """Return the mapping of the companies in a stores file, unless another is declared."""
    columns = {_IDENTIFIER: _IDENTIFIER, _NAME: NAME_COLUMN}
    fields = {
        field: msgspec.structs.replace(FieldMapping.of_column(column, optional=True), default="")
        for field, column in columns.items()
    }
    own = {field: entry for field, entry in stores.fields.items() if field == _IDENTIFIER}
    return msgspec.structs.replace(stores, fields=fields | own)


def _watched(
    batches: Iterator[Batch], coordinates: Sequence[str], records: MappedRecords, warnings: Warnings
) -> Iterator[Batch]:
    """Yield batches; add a warning if none of them has a location, but columns that are not used do."""
    has_location = False
    for batch in batches:
        has_location = has_location or not all(set(batch.columns[name]) <= {None, ""} for name in coordinates)
        yield batch
    if not has_location and (names := records.located_columns()):
        columns = " and ".join(repr(truncate(name)) for name in names)
        why = f"no store has a location, though some seem to be in {columns}: {_USE_THEM}"
        warnings.append((None, Issue("locations", why)))


def opener(file: StoredFile, finds: Finds, encoding: str = "") -> Callable[[TableOptions], RecordFile]:
    """Return what opens the records of a file by column, and raises FileError; raise it if there is no text."""
    text = file.text(encoding or None)
    form = format_of(text, file.format, STORES)

    def opened(options: TableOptions) -> RecordFile:
        found = open_file(text, form, reader=file.reader, options=options, finds=finds)
        found.assumed = [*_encoding(file), *found.assumed]
        return found

    return opened


def _without_name(batch: Batch) -> Batch:
    """Return records of stores in which the names of companies are used."""
    unused = [each for each in batch.unused if not find_alike([NAME_COLUMN], [each.name])[NAME_COLUMN]]
    return msgspec.structs.replace(batch, unused=unused)


def _encoding(file: StoredFile) -> Sequence[str]:
    found = assumed_encoding(file.stored, file.compression) if file.format.is_text else None
    return () if found is None else (found,)
