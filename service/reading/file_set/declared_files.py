"""The files that a mapping declares, if a data set has several of one kind."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from glob import escape
from itertools import takewhile
from pathlib import Path

from service.model.records import COMPANIES, STORES
from service.reading.batches.diagnostics import FileError
from service.reading.file_set.file_names import DataFileName, parse_name
from service.reading.mapping.toml_document import MAX_SIZE, parse_toml
from service.reading.text.stored_bytes import read_stored
from service.texts import truncate


def declared_files(patterns: Sequence[str], names: Sequence[str], key_path: str) -> Sequence[DataFileName]:
    """Return the files among some names that match patterns, in the order of their names.

    Raises FileError if a pattern matches none, or one that is no data file.
    """
    for pattern in patterns:
        if not matching([pattern], names):
            raise FileError(f"no file matches {truncate(pattern)!r}, which {key_path} of the mapping declares")
    found = [(name, parse_name(name)) for name in sorted(matching(patterns, names))]
    if other := next((name for name, parsed in found if parsed is None), None):
        raise FileError(f"{truncate(other)!r} is no data file, but matches {key_path} of the mapping")
    return [parsed for _, parsed in found if parsed is not None]


def matching(patterns: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return the names that match one of some patterns, in which `*` is any text and `?` a character."""
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def patterns_of(names: Sequence[str], others: Iterable[str]) -> Sequence[str]:
    """Return one pattern that some names match and no others, as `stores-*.csv`; if there is none, the names."""
    start, end = common_beginning(names), common_beginning([name[::-1] for name in names])[::-1]
    pattern = f"{escape(start)}*{escape(''.join(end.partition('.')[1:]))}"
    return [pattern] if start and set(matching([pattern], others)) == set(names) else list(map(escape, sorted(names)))


def patterns_in(mapping: Path) -> Sequence[str]:
    """Return the patterns in the file of a mapping; none if it cannot be used, which is reported when it is loaded."""
    try:
        tables = parse_toml(read_stored(mapping, most=MAX_SIZE + 1))
    except FileError:
        return ()
    keys = [tables.get(resource.name) for resource in (STORES, COMPANIES)]
    declared = [each.get("files") for each in keys if isinstance(each, dict)]
    return [pattern for each in declared if isinstance(each, list) for pattern in each if isinstance(pattern, str)]


def common_beginning(names: Sequence[str]) -> str:
    """Return the characters with which all names begin."""
    columns = takewhile(lambda characters: len(set(characters)) == 1, zip(*names, strict=False))
    return "".join(characters[0] for characters in columns)
