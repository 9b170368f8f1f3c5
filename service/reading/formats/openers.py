"""Open files of any format as batches of records."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from service.files.mapped_bytes import FileBytes
from service.model.records import Resource
from service.reading.batches.batch import Batch
from service.reading.batches.diagnostics import FileError
from service.reading.batches.record_file import RecordFile
from service.reading.formats.cleaned_file import CleanedFile
from service.reading.formats.csv.csv_reader import open_csv
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
from service.reading.formats.json.geojson import GeoJsonFile, GeoJsonLinesFile, begins_like_collection
from service.reading.formats.json.json_file import JsonFile, JsonLinesFile
from service.reading.formats.json.overpass import OverpassFile, begins_like_elements
from service.reading.formats.json.typed_reader import has_array, read_json, read_json_lines
from service.reading.formats.parquet.parquet_file import ParquetFile
from service.reading.formats.table.table_file import Finds, finds_nothing
from service.reading.formats.table.table_options import NO_OPTIONS, TableOptions
from service.reading.formats.workbook.workbook_file import WorkbookFile

TypedReader: TypeAlias = Callable[[FileBytes, Resource], Iterator[Batch]]

_OPENERS: Final[Mapping[str, Callable[[FileBytes], RecordFile]]] = {
    JSON.name: JsonFile,
    JSON_LINES.name: JsonLinesFile,
    GEOJSON.name: GeoJsonFile,
    OVERPASS.name: OverpassFile,
    GEOJSON_LINES.name: GeoJsonLinesFile,
    PARQUET.name: ParquetFile,
}
# Yield records whose members are the fields, of types that the texts have themselves: it is faster.
TYPED_READERS: Final[Mapping[str, TypedReader]] = {JSON.name: read_json, JSON_LINES.name: read_json_lines}


def open_file(
    content: FileBytes, form: FileFormat, *, options: TableOptions = NO_OPTIONS, finds: Finds = finds_nothing
) -> RecordFile:
    """Return a file as records by column; for CSV, see `open_csv`, for a sheet `WorkbookFile`. Raises FileError."""
    if form.is_csv:
        return open_csv(content, options=options, finds=finds)
    if form is WORKBOOK:
        return WorkbookFile(content, options, finds)
    if keys := options.keys:
        raise FileError(f"the mapping declares {', '.join(keys)}: only for CSV files and workbooks; remove it")
    file, clean = _OPENERS[form.name](content), options.cleaning.clean
    return file if clean is None else CleanedFile(file, clean)


def format_of(content: FileBytes, named: FileFormat, resource: Resource) -> FileFormat:
    """Return the format of a file with the extension of some format: JSON may be a GeoJSON collection, or of Overpass.

    An object with an array of the resource always was JSON.
    """
    if named is not JSON:
        return named
    found = GEOJSON if begins_like_collection(content) else OVERPASS if begins_like_elements(content) else JSON
    return JSON if found is not JSON and has_array(content, resource.name) else found
