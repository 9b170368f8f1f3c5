"""Read the records of a stored file, whatever its format, and whether or not a mapping says where its fields are."""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial

import msgspec

from service.files.mapped_bytes import FileBytes
from service.model.records import COMPANIES, STORES, Resource
from service.reading.batches.batch import Batch
from service.reading.batches.record_file import RecordFile
from service.reading.derived_companies import NAME_COLUMN, OWNERS, DistinctCompanies, companies_of_owners
from service.reading.fields.by_name import columns_by_name
from service.reading.file_set.data_files import FileSet, StoredFile
from service.reading.formats.file_format import FileFormat
from service.reading.formats.json.typed_reader import has_array
from service.reading.formats.openers import TYPED_READERS, format_of, open_file
from service.reading.formats.table.table_file import Finds
from service.reading.formats.table.table_options import TableOptions
from service.reading.mapping.column_names import has_columns
from service.reading.mapping.declaration import NO_MAPPING, ResourceMapping
from service.reading.mapping.mapped_records import MappedRecords
from service.reading.text.decompression import assumed_encoding, count_line_breaks

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
        return Records(records.batches, [*_encoding(file), *records.assumed], _unterminated(form, text))

    def _derive_companies(self, stores: "_OpenedText") -> Records:
        """Return the companies of stores, but those of earlier files."""
        mapping = self._data.mapping
        if mapping.derives_companies:
            companies = stores.records(mapping.companies, self._resource, by_name=False)
            return Records(self._derived.of(companies.batches), (_IN_MAPPING,))
        owners = stores.records(mapping.stores.only(COMPANIES.identifier), OWNERS)
        return Records(self._derived.of(companies_of_owners(owners.batches)), (_IN_COLUMN,))


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
    """A text whose records are read by column, or by the faster reader of its format if there is no mapping."""

    def __init__(
        self, text: FileBytes, form: FileFormat, mapping: ResourceMapping, held: Resource, as_of: date
    ) -> None:
        self._text, self._as_of = text, as_of
        self._typed = TYPED_READERS.get(form.name) if mapping == NO_MAPPING else None
        if self._typed is None:
            finds = partial(has_columns, mapping=mapping, resource=held)
            self._file = open_file(text, form, options=mapping.table, finds=finds)

    def has_companies(self) -> bool:
        """Return whether it has an array of companies beside that of the stores."""
        return self._typed is not None and has_array(self._text, COMPANIES.name)

    def records(self, mapping: ResourceMapping, resource: Resource, *, by_name: bool = True) -> Records:
        """Return the records of a resource; `by_name` those of fields without an entry, too. Raises FileError."""
        if self._typed is not None:
            return Records(self._typed(self._text, resource))
        mapped = MappedRecords(self._file, mapping, resource, by_name=by_name, as_of=self._as_of)
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


def _unterminated(form: FileFormat, text: FileBytes) -> int | None:
    return 1 + count_line_breaks(text, 0, len(text)) if form.is_unterminated(text) else None
