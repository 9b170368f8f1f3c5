"""Check the keys of a mapping that say how a table is read, and how its cells are cleaned."""

from collections import Counter
from collections.abc import Iterable, Sequence
from encodings.aliases import aliases
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from service.reading.columns.dates import RFC_3339, parse_date_format
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import is_delimiter
from service.reading.formats.table_file import TableOptions
from service.reading.mapping.declaration import StoresTable
from service.reading.text import Cleaning, meant_by_c1, parse_encoding
from service.texts import did_you_mean, truncate

_MAX_FORMATS: Final = 20  # of dates, each of which is tried with each text


def parse_date_formats(declared: str | Iterable[str], key_path: str) -> tuple[str, ...]:
    """Return the declared formats of dates. Raises FileError if one is not a format."""
    formats = (declared,) if isinstance(declared, str) else tuple(declared)
    if len(formats) > _MAX_FORMATS:
        raise FileError(f"{key_path}: expected at most {_MAX_FORMATS} formats")
    for each in formats:
        try:
            if each != RFC_3339:
                parse_date_format(each)
        except ValueError as error:
            raise FileError(f"{key_path}: {each!r}: {error}") from None
    return formats


def parse_patterns(patterns: Sequence[str], key_path: str) -> tuple[str, ...]:
    """Return the declared patterns of names of files. Raises FileError if one is a path, or if there is none."""
    if not patterns or not all(patterns):
        raise FileError(f'{key_path}: expected names of files, as in ["stores-*.csv"]')
    if path := next((each for each in patterns if set(each) & set("/\\\0")), None):
        raise FileError(f"{key_path}: {truncate(path)!r} is a path: expected names of files beside each other")
    return tuple(patterns)


def find_time_zone(name: str, key_path: str) -> ZoneInfo:
    """Return a time zone by its name in the IANA database. Raises FileError if there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a folder, a path out of the database, an unknown name
        zones = available_timezones()
    hint = did_you_mean(name, sorted(zones)) if zones else "; the system has no time zones, install tzdata"
    raise FileError(f"{key_path}: no time zone {name!r}{hint}")


def find_encoding(name: str, key_path: str) -> str:
    """Return the usual name of an encoding. Raises FileError if there is none."""
    try:
        return parse_encoding(name)
    except ValueError:
        known = {each.replace("_", "-") for each in (*aliases, *aliases.values())}
        hint = did_you_mean(name, sorted(filter(_is_encoding, known)))
        raise FileError(f"{key_path}: no text encoding {name!r}{hint}") from None


def _is_encoding(name: str) -> bool:
    try:
        return bool(parse_encoding(name))
    except ValueError:
        return False


def parse_table_options(table: StoresTable, key_path: str) -> TableOptions:
    """Return how a mapping declares that a table is read. Raises FileError, with the key that is wrong."""
    if table.encoding is not None:
        find_encoding(table.encoding, f"{key_path}.encoding")
    if table.decimal not in (".", ","):
        raise FileError(f'{key_path}.decimal: expected "." or ","')
    if table.delimiter is not None and not is_delimiter(table.delimiter):
        raise FileError(f"{key_path}.delimiter: expected one character, but no letter, digit or quote")
    if table.quote not in ('"', ""):
        raise FileError(f'{key_path}.quote: expected "" if quotes are ordinary characters')
    if table.columns is not None and not (table.columns and all(map(str.strip, table.columns))):
        raise FileError(f"{key_path}.columns: expected a name for each column of the file")
    check_distinct(table.columns or (), f"{key_path}.columns")
    return TableOptions(
        delimiter=table.delimiter,
        quotes=table.quote != "",
        skip_lines=table.skip_lines,
        columns=tuple(table.columns or ()),
        sheet=table.sheet,
        cleaning=Cleaning(table.trim, _repair(table.repair, f"{key_path}.repair")),
    )


def check_distinct(names: Sequence[str], key_path: str) -> None:
    """Raise FileError if a name is repeated."""
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
