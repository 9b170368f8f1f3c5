"""Read the records of a stored file, whatever its format, and whether or not a mapping says where its fields are."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from service.model.records import COMPANIES, STORES, Resource
from service.reading.batch import Batch
from service.reading.data_files import FileSet, StoredFile
from service.reading.declared_mapping import DataMapping, read_mapped
from service.reading.decompression import count_line_breaks, plain_text
from service.reading.derived_companies import (
    NAME_COLUMN,
    OWNERS,
    companies_of_owners,
    companies_of_stores,
    distinct_companies,
)
from service.reading.formats import FORMATS
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
    text = plain_text(file.stored, file.compression, _encoding(resource, data) if file.format.encoded else None)
    derived = resource is COMPANIES and data.derives_companies
    if data.mapping is not None and file.format.open is not None:
        records = _read_mapped(file.format.open(text), resource, data.mapping, derived=derived)
    elif not data.derives_companies or (file.format is FORMATS["json"] and has_array(text, COMPANIES.name)):
        return Records(file.format.read(text, resource), (), _unterminated(file, text))
    elif derived:
        owners = companies_of_owners(file.format.read(text, OWNERS))
        records = Records(distinct_companies(owners), (_IN_COLUMN,))
    else:
        records = Records(_without_name(file.format.read(text, resource)))
    return records if derived else msgspec.structs.replace(records, unterminated=_unterminated(file, text))


def _read_mapped(file: RecordFile, resource: Resource, mapping: DataMapping, *, derived: bool) -> Records:
    if not derived:
        return Records(read_mapped(file, getattr(mapping, resource.name), resource), file.assumed)
    if mapping.derives_companies:
        return Records(distinct_companies(read_mapped(file, mapping.companies, COMPANIES)), (_IN_MAPPING,))
    stores = read_mapped(file, mapping.stores, STORES)
    return Records(distinct_companies(companies_of_stores(stores)), (_IN_COLUMN,))


def _without_name(batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield batches in which the names of companies are used."""
    for batch in batches:
        unused = [each for each in batch.unused if each.name != NAME_COLUMN]
        yield msgspec.structs.replace(batch, unused=unused) if len(unused) < len(batch.unused) else batch


def _encoding(resource: Resource, data: FileSet) -> str | None:
    """Return the declared encoding of a file: that of the option, else that of the mapping."""
    if data.encoding or data.mapping is None:
        return data.encoding or None
    mapping = data.mapping.stores if data.derives_companies else getattr(data.mapping, resource.name)
    encoding: str | None = mapping.encoding
    return encoding


def _unterminated(file: StoredFile, text: bytes) -> int | None:
    return 1 + count_line_breaks(text, 0, len(text)) if file.format.is_unterminated(text) else None
