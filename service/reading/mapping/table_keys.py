"""Check the keys of a mapping that say how a table is read, and how its cells are cleaned."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from service.reading.batches.diagnostics import FileError
from service.reading.formats.csv.dialect import is_delimiter
from service.reading.formats.table.table_options import TableOptions
from service.reading.mapping.declaration import StoresTable
from service.reading.mapping.mapping_options import find_encoding
from service.reading.text.cleaning import Cleaning, meant_by_c1
from service.texts import truncate

_QUOTES: Final = {'"': True, "": False}


def parse_table_options(table: StoresTable, key_path: str) -> TableOptions:
    """Return how a mapping declares that a table is read. Raises FileError, with the key that is wrong."""
    if table.delimiter is not None and not is_delimiter(table.delimiter):
        raise FileError(f"{key_path}.delimiter: expected one character, but no letter, digit or quote")
    if table.quote not in _QUOTES:
        raise FileError(f'{key_path}.quote: expected "" if quotes are ordinary characters')
    _check_columns(table.columns, f"{key_path}.columns")
    return TableOptions(
        delimiter=table.delimiter,
        quotes=_QUOTES[table.quote],
        skip_lines=table.skip_lines,
        columns=tuple(table.columns or ()),
        sheet=table.sheet,
        cleaning=Cleaning(table.trim, _repair(table.repair, f"{key_path}.repair")),
    )


def _check_columns(names: Sequence[str] | None, key_path: str) -> None:
    if names is None:
        return
    if not all(map(str.strip, names)) or not names:
        raise FileError(f"{key_path}: expected a name for each column of the file")
    if repeated := next((name for name, count in Counter(names).items() if count > 1), None):
        raise FileError(f"{key_path}: {truncate(repeated)!r} is repeated")


def _repair(name: str | None, key_path: str) -> str:
    if name is None:
        return ""
    encoding = find_encoding(name, key_path)
    if not meant_by_c1(encoding):
        raise FileError(
            f"{key_path}: {name!r} has no characters for the bytes 0x80 to 0x9F; most files need windows-1252"
        )
    return encoding
