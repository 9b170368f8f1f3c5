"""The texts in which words are searched."""

from collections.abc import Iterable, Iterator

import msgspec

from service.engine.column import join_keys
from service.engine.table import Table
from service.loading.checks import CheckedColumn
from service.model.kinds import POSTAL
from service.model.records import COMPANIES, Company
from service.reading.batches.batch import Value

# An acute accent without a letter: NFKC decomposes the apostrophe U+00B4 to a space and this.
_ACCENT = "\u0301".encode()


def searched_texts(columns: Iterable[CheckedColumn]) -> Iterator[tuple[str, bytes]]:
    """Yield the searched fields whose words are not those of their normalized keys, and their texts as `join_keys`."""
    for column in columns:
        if column.field.searched and (column.field.is_list or not column.field.is_column):
            yield column.field.name, join_keys(list(map(_joined, column.values)))
        elif column.field.searched and column.field.kind is POSTAL:
            yield column.field.name, join_keys(list(map(_with_and_without_spaces, column.values)))
        elif column.field.searched and _ACCENT in column.keys:
            yield column.field.name, join_keys(list(map(_text, column.values)))


def company_texts(companies: Table) -> dict[bytes, bytes]:
    """Return the texts by which the stores of each company are searched, by its identifier."""
    others = [field.name for field in COMPANIES.searched if field.name != COMPANIES.identifier]
    decode = msgspec.json.Decoder(Company).decode
    records = (decode(companies.row(row)) for row in range(len(companies)))
    return {
        record.company_id.encode(): " ".join(getattr(record, name) or "" for name in others).encode()
        for record in records
    }


def _with_and_without_spaces(value: Value) -> str | None:
    if not isinstance(value, str):
        return None
    joined = "".join(value.split())
    return value if joined == value else f"{value} {joined}"


def _joined(value: Value) -> str | None:
    """Return the texts of a list as one."""
    return " ".join(value) if isinstance(value, tuple) else _text(value)


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
