"""Read the records of a stored file, whatever its format, and whether or not a mapping says where its fields are."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import msgspec

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch
from service.reading.by_name import RecordsByName, columns_by_name
from service.reading.data_files import FileSet, StoredFile
from service.reading.decompression import assumed_encoding, count_line_breaks
from service.reading.derived_companies import NAME_COLUMN, OWNERS, companies_of_owners, distinct_companies
from service.reading.formats import format_of
from service.reading.mapping.column_names import has_columns
from service.reading.mapping.declaration import NO_MAPPING, DataMapping, ResourceMapping
from service.reading.mapping.record_mapper import read_mapped
from service.reading.record_file import RecordFile
from service.reading.two_arrays import has_array

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


def read_records(file: StoredFile, resource: Resource, data: FileSet) -> Records:
    """Return the records of a resource in a file of a data set. Raises FileError."""
    mapping = DataMapping() if data.mapping is None else data.mapping
    own = mapping.of(STORES if data.derives_companies else resource)
    content = file.format.content(file.stored, file.compression, data.encoding or own.encoding)
    file = msgspec.structs.replace(file, format=format_of(content, file.format))
    typed = file.format.typed if own == NO_MAPPING else None
    if typed is not None and (not data.derives_companies or has_array(content, COMPANIES.name)):
        return Records(typed(content, resource), _encoding(file), _unterminated(file, content))
    if data.derives_companies and resource is COMPANIES:
        if typed is not None:
            return _owners(typed(content, OWNERS))
        return _derived(_open(file, content, own, STORES), mapping)
    if typed is not None:
        records = Records(typed(content, resource))
    elif own == NO_MAPPING:
        named = RecordsByName(_open(file, content, own, resource), resource)
        records = Records(named.batches(), named.assumed)
    else:
        opened = _open(file, content, own, resource)
        records = Records(read_mapped(opened, own, resource), opened.assumed)
    return Records(
        _without_name(records.batches) if data.derives_companies else records.batches,
        [*_encoding(file), *records.assumed],
        _unterminated(file, content),
    )


def open_records(file: StoredFile, finds: Callable[[Sequence[str]], bool], encoding: str = "") -> RecordFile:
    """Return the records of a file by column; `finds` returns whether all wanted columns are among some names.

    Raises FileError.
    """
    content = file.format.content(file.stored, file.compression, encoding or None)
    opened = format_of(content, file.format).open(content, finds=finds)
    opened.assumed = [*_encoding(file), *opened.assumed]
    return opened


def _open(file: StoredFile, content: bytes, mapping: ResourceMapping, resource: Resource) -> RecordFile:
    finds = partial(has_columns, mapping=mapping, resource=resource)
    return file.format.open(content, delimiter=mapping.delimiter, finds=finds)


def _derived(stores: RecordFile, mapping: DataMapping) -> Records:
    """Return the companies of stores."""
    if mapping.derives_companies:
        companies = read_mapped(stores, mapping.companies, COMPANIES, by_name=False)
        return Records(distinct_companies(companies), (_IN_MAPPING,))
    return _owners(read_mapped(stores, mapping.stores.only(COMPANIES.identifier), OWNERS))


def _owners(owners: Iterable[Batch]) -> Records:
    return Records(distinct_companies(companies_of_owners(owners)), (_IN_COLUMN,))


def _without_name(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield batches in which the names of companies are used."""
    for batch in batches:
        unused = [each for each in batch.unused if not columns_by_name([each.name], OWNERS, [NAME_COLUMN])]
        yield msgspec.structs.replace(batch, unused=unused) if len(unused) < len(batch.unused) else batch


def _encoding(file: StoredFile) -> Sequence[str]:
    found = assumed_encoding(file.stored, file.compression) if file.format.is_text else None
    return () if found is None else (found,)


def _unterminated(file: StoredFile, text: bytes) -> int | None:
    return 1 + count_line_breaks(text, 0, len(text)) if file.format.is_unterminated(text) else None
