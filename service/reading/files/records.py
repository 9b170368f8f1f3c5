"""Open files of any format as batches of records."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Final, TypeVar

import msgspec

from service.model.kinds import IDENTIFIER, WORDS
from service.model.records import COMPANIES, STORES, Company, Field, Resource
from service.reading.batch import Batch, Cell, CleanedFile, RecordFile
from service.reading.columns.field_names import columns_by_name
from service.reading.diagnostics import FileError
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
from service.reading.formats.geojson import (
    GeoJsonFile,
    GeoJsonLinesFile,
    OverpassFile,
    begins_like_collection,
    begins_like_elements,
)
from service.reading.formats.json_file import JsonFile, JsonLinesFile
from service.reading.formats.json_text import has_array
from service.reading.formats.parquet_file import ParquetFile
from service.reading.formats.table_file import NO_OPTIONS, Finds, TableOptions, finds_nothing
from service.reading.formats.workbook_file import WorkbookFile
from service.reading.mapping.conversions import has_value
from service.reading.mapping.declaration import NO_MAPPING, ResourceMapping
from service.reading.mapping.mapped_records import MappedRecords, has_columns
from service.reading.text import assumed_encoding, count_line_breaks
from service.spool import FileBytes

_T = TypeVar("_T")
NAME_COLUMN: Final = "company_name"
_IDENTIFIER: Final = COMPANIES.identifier
_NAME: Final = "name"
# The company columns of a stores file, unless a mapping declares others.
OWNERS: Final = Resource(
    name=STORES.name,
    record=Company,
    identifier=_IDENTIFIER,
    fields=(Field(_IDENTIFIER, IDENTIFIER, ""), Field(NAME_COLUMN, WORDS, "")),
)


class DistinctCompanies:
    """The companies of stores: the first record of each identifier in all files, named by it if it has no name.

    Records without an identifier, or that cannot be read, are errors of the stores.
    """

    def __init__(self, resource: Resource = COMPANIES) -> None:
        """Take the resource of companies, which may have attributes."""
        self._fields = [field.name for field in resource.fields]
        self._known: set[Cell] = set()

    def of(self, batches: Iterable[Batch], name_column: str = _NAME) -> Iterator[Batch]:
        """Yield the companies in the records of all stores of the next file; their names are in a column of these."""
        for batch in batches:
            identifiers = batch.columns[_IDENTIFIER]
            first = [index for index, cell in enumerate(identifiers) if self._is_new(cell)]
            none = (None,) * len(identifiers)
            columns = {name: _selected(batch.columns.get(name, none), first) for name in self._fields}
            named = zip(_selected(batch.columns[name_column], first), columns[_IDENTIFIER], strict=True)
            columns[_NAME] = [name if has_value(name) else identifier for name, identifier in named]
            yield Batch(
                numbers=_selected(batch.numbers, first),
                columns=columns,
                lines=partial(_lines, batch.lines, first),
                unreadable=(),
                unused=(),
                done=batch.done,
                total=batch.total,
            )

    def _is_new(self, cell: Cell) -> bool:
        if not isinstance(cell, str) or cell in self._known or not cell.strip():
            return False
        self._known.add(cell)
        return True


def _lines(lines: Callable[[], Sequence[int | None]], indexes: Sequence[int]) -> list[int | None]:
    return _selected(lines(), indexes)


def _selected(items: Sequence[_T], indexes: Sequence[int]) -> list[_T]:
    return [items[index] for index in indexes]


_OPENERS: Final[Mapping[str, Callable[[FileBytes], RecordFile]]] = {
    JSON.name: JsonFile,
    JSON_LINES.name: JsonLinesFile,
    GEOJSON.name: GeoJsonFile,
    OVERPASS.name: OverpassFile,
    GEOJSON_LINES.name: GeoJsonLinesFile,
    PARQUET.name: ParquetFile,
}


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


_IN_COLUMN = f"companies: from {COMPANIES.identifier}, named by {NAME_COLUMN} if there is one"
_IN_MAPPING = "companies: from the stores, as the mapping declares"


class Records(msgspec.Struct, frozen=True, eq=False):
    """The records of a file.

    batches       in order; they raise FileError
    assumed       what was assumed about the file, each in a few words
    unterminated  the line that has no line ending, as in a truncated file; None if there is none
    """

    batches: Iterator[Batch]
    assumed: Sequence[str] = ()
    unterminated: int | None = None


class RecordReader:
    """Reads the records of a resource in the files of a data set, one file after the other."""

    def __init__(self, resource: Resource, data: FileSet) -> None:
        self._resource, self._data = resource, data
        self._held = data.mapping.schema.stores if data.derives_companies else resource
        self._derived = DistinctCompanies(resource)

    def read(self, file: StoredFile) -> Records:
        """Return the records in a file. Raises FileError."""
        resource, data, held = self._resource, self._data, self._held
        own = data.mapping.of(held)
        text = file.format.content(file.stored, file.compression, data.encoding or own.encoding, data.spools)
        form = format_of(text, file.format, held)
        opened = _OpenedText(text, form, own, held, data.as_of)
        if not data.derives_companies or opened.has_companies():
            records = opened.records(own, resource)
        elif resource.name == STORES.name:
            records = _without_name(opened.records(own, resource))
        else:
            return self._derive_companies(opened)
        unterminated = 1 + count_line_breaks(text, 0, len(text)) if form.is_unterminated(text) else None
        return Records(records.batches, [*_encoding(file), *records.assumed], unterminated)

    def _derive_companies(self, stores: "_OpenedText") -> Records:
        """Return the companies of stores, but those of earlier files."""
        mapping = self._data.mapping
        if mapping.derives_companies:
            companies = stores.records(mapping.companies, self._resource, by_name=False)
            return Records(self._derived.of(companies.batches), (_IN_MAPPING,))
        owners = stores.records(mapping.stores.only(COMPANIES.identifier), OWNERS)
        return Records(self._derived.of(owners.batches, NAME_COLUMN), (_IN_COLUMN,))


def opener(file: StoredFile, finds: Finds, encoding: str = "") -> Callable[[TableOptions], RecordFile]:
    """Return what opens the records of a file by column, and raises FileError; raise it if there is no text."""
    content = file.format.content(file.stored, file.compression, encoding or None)
    form = format_of(content, file.format, STORES)

    def opened(options: TableOptions) -> RecordFile:
        found = open_file(content, form, options=options, finds=finds)
        found.assumed = [*_encoding(file), *found.assumed]
        return found

    return opened


class _OpenedText:
    """A text whose records are read by column; those of JSON without a mapping, in an array named like the resource."""

    def __init__(
        self, text: FileBytes, form: FileFormat, mapping: ResourceMapping, held: Resource, as_of: date
    ) -> None:
        self._text, self._as_of = text, as_of
        self._is_plain = mapping == NO_MAPPING and form in (JSON, JSON_LINES)
        if form is not JSON or not self._is_plain:
            finds = partial(has_columns, mapping=mapping, resource=held)
            self._file = open_file(text, form, options=mapping.table, finds=finds)

    _file: RecordFile | None = None

    def has_companies(self) -> bool:
        """Return whether it has an array of companies beside that of the stores."""
        return self._is_plain and has_array(self._text, COMPANIES.name)

    def records(self, mapping: ResourceMapping, resource: Resource, *, by_name: bool = True) -> Records:
        """Return the records of a resource; `by_name` those of fields without an entry, too. Raises FileError."""
        file = self._file or JsonFile(self._text, resource.name)
        file.is_exact = self._is_plain
        mapped = MappedRecords(file, mapping, resource, by_name=by_name, as_of=self._as_of)
        return Records(mapped.batches(), mapped.assumed)


def _without_name(stores: Records) -> Records:
    """Return records of stores in which the names of companies are used."""
    return Records(map(_batch_without_name, stores.batches), stores.assumed)


def _batch_without_name(batch: Batch) -> Batch:
    unused = [each for each in batch.unused if not columns_by_name([each.name], OWNERS, [NAME_COLUMN])]
    return msgspec.structs.replace(batch, unused=unused)


def _encoding(file: StoredFile) -> Sequence[str]:
    found = assumed_encoding(file.stored, file.compression) if file.format.is_text else None
    return () if found is None else (found,)
