"""The names of data files: what they say of format and compression, and which files are meant by others."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from glob import escape
from itertools import takewhile
from pathlib import Path
from typing import Final

import msgspec

from service.model.kinds import parse_instant
from service.model.records import COMPANIES, STORES, Resource
from service.reading.diagnostics import FileError
from service.reading.formats.file_format import COMPRESSIONS, FORMATS, TEXT_RANK, FileFormat
from service.reading.formats.json_text import check_depth
from service.reading.mapping.toml import MAX_SIZE, parse_toml, toml
from service.reading.text import decode_text, read_stored
from service.spool import FileBytes
from service.texts import truncate

ARCHIVE: Final = "zip"
MANIFEST: Final = "manifest.json"
MAPPING: Final = "mapping.toml"
_NAME: Final = re.compile(rf"(.+)\.({'|'.join(FORMATS)})(?:\.({'|'.join(COMPRESSIONS)}))?", re.IGNORECASE | re.DOTALL)
_MIN_SIMILARITY: Final = 0.75  # that of `companies` and `company`; `stores` and `stops` are less similar
_ENOUGH_ALIKE: Final = 3  # characters at the beginning
_SHOWN: Final = 3  # names
_CSV: Final = ("csv", "CSV UTF-8 (comma delimited)")
_WORKBOOK: Final = ("xlsx", "an Excel workbook (.xlsx)")
# Formats that are not read, with the extension and the name of one that is.
_CONVERSIONS: Final = {"xls": _WORKBOOK, "xlsb": _WORKBOOK, "xml": _CSV, "db": _CSV, "sqlite": _CSV}
_OTHER_COMPRESSIONS: Final = frozenset({"bz2", "xz", "zip", "7z", "rar", "tar", "tgz", "br", "lz4", "zstd"})


class DataFileName(msgspec.Struct, frozen=True):
    """The name of a data file, or its path in an archive; what it is without its extensions, and what these say."""

    name: str
    stem: str
    format: FileFormat
    compression: str | None

    def is_of(self, resource: Resource) -> bool:
        """Return whether a file of this name in a folder is that of a resource: `stores.csv.gz`, in lower case."""
        return self.stem == resource.name and self.name.islower()


def parse_name(name: str) -> DataFileName | None:
    """Return the parts of the name of a data file, whose extensions are in any case; None for another name."""
    match = _NAME.fullmatch(name)
    return match and DataFileName(name, match[1], FORMATS[match[2].lower()], match[3] and match[3].lower())


def data_files(names: Iterable[str], resource: Resource | None = None) -> Sequence[DataFileName]:
    """Return the data files among some names; of a resource, if one is given.

    They are those whose format has the lowest rank among them: CSV and JSON come before others.
    """
    files = [file for name in names if (file := parse_name(name)) and (resource is None or file.is_of(resource))]
    lowest = min((file.format.rank for file in files), default=0)
    return [file for file in files if file.format.rank == lowest]


def is_archive(path: Path) -> bool:
    """Return whether the name of a file is that of a zip archive."""
    return path.suffix.lower() == f".{ARCHIVE}"


def holds_data(path: Path) -> bool:
    """Return whether the name of a file is that of a data file or of an archive of data files."""
    return is_archive(path) or parse_name(path.name) is not None


class Listing(msgspec.Struct, frozen=True):
    """A file in the manifest: the SHA-256 of its stored bytes in hexadecimal, and its number of records."""

    sha256: str
    records: int | None = None

    def check_bytes(self, stored: FileBytes) -> None:
        """Raise FileError unless the stored bytes have the listed checksum."""
        self.check_digest(hashlib.sha256(stored).hexdigest())

    def check_digest(self, digest: str) -> None:
        """Raise FileError unless this is the listed checksum."""
        if digest != self.sha256.lower():
            raise FileError(f"the SHA-256 of the file does not match {MANIFEST}")

    def check_records(self, records: int) -> None:
        """Raise FileError unless the file has the listed number of records."""
        if records != self.records:
            listed = "has no record count" if self.records is None else f"says {self.records}"
            raise FileError(f"the file has {records} records, {MANIFEST} {listed}")


class Manifest(msgspec.Struct, frozen=True):
    """The files of a data set by name, and the time of the data as written."""

    files: dict[str, Listing]
    time: str | None = msgspec.field(name="generated_at", default=None)

    def __post_init__(self) -> None:
        """Reject names and times that are malformed."""
        for name in self.files:
            if name in ("", ".", "..") or set(name) & set("/\\\0"):
                raise ValueError(f"{name!r} is not a plain file name")
        if self.time is not None and self.generated_at is None:
            raise ValueError("generated_at is not a date-time such as 2024-05-31T10:00:00Z")

    @property
    def generated_at(self) -> datetime | None:
        """The time of the data, if the manifest has it."""
        return None if self.time is None else parse_instant(self.time)

    def listing(self, name: str) -> Listing:
        """Return the listing of a file. Raises FileError if there is none."""
        if name not in self.files:
            raise FileError(f"{MANIFEST} does not list the file")
        return self.files[name]


def parse_manifest(stored: bytes) -> Manifest:
    """Return the manifest in the bytes of its file. Raises FileError if it is malformed."""
    try:
        text = decode_text(stored)
        check_depth([text])
        return msgspec.json.decode(text, type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FileError(f"the manifest is malformed: {error}") from None


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
    start, end = _common_beginning(names), _common_beginning([name[::-1] for name in names])[::-1]
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


def _common_beginning(names: Sequence[str]) -> str:
    columns = takewhile(lambda characters: len(set(characters)) == 1, zip(*names, strict=False))
    return "".join(characters[0] for characters in columns)


def suggest_file_name(names: Sequence[str], expected: str) -> str:
    """Return what to do with the files that are probably meant as `expected`, such as `stores`; "" for none."""
    if several := similar_files(names, expected):
        found = ", ".join(map(repr, several[:_SHOWN])) + ", …" * (len(several) > _SHOWN)
        return f"found {found}: name one {expected}, or {suggest_patterns(patterns_of(several, names), expected)}"
    corrections = (_correction(name, expected) for name in names if _is_similar(name, expected))
    return next(filter(None, corrections), "")


def similar_files(names: Sequence[str], expected: str) -> list[str]:
    """Return the data files that are probably meant as those of `expected`, if they are several."""
    similar = [name for name in names if parse_name(name) is not None and _is_similar(name, expected)]
    return similar if len(similar) > 1 else []


def alike(names: Sequence[str]) -> Sequence[str]:
    """Return several data files that are named like stores, or that begin alike and are not named like companies."""
    found = [file.name for file in data_files(names) if not _is_similar(file.name, COMPANIES.name)]
    begin_alike = len(found) > 1 and len(_common_beginning(found)) >= _ENOUGH_ALIKE
    return similar_files(names, STORES.name) or (found if begin_alike else [])


def suggest_patterns(patterns: Sequence[str], expected: str) -> str:
    """Return how a mapping declares several files."""
    return f"declare files = {toml(patterns)} in [{expected}] of mapping.toml"


def suggest_other_files(names: Iterable[str]) -> str:
    """Return what to do if the stores are in a data file of another name, not one of companies; "" for none."""
    unlike = [name for name in names if not _is_similar(name, COMPANIES.name)]
    found = [repr(file.name) for file in data_files(unlike) if file.format.rank != TEXT_RANK]
    if not found:
        return ""
    which = f"one of {', '.join(found[:_SHOWN])}{', …' * (len(found) > _SHOWN)}" if len(found) > 1 else found[0]
    return f"; if the stores are in {which}, check and serve that file by itself"


def suggest_conversion(name: str) -> str:
    """Return what to do with a file of a format that is not read, such as a spreadsheet; "" for another."""
    conversion = _CONVERSIONS.get(name.rpartition(".")[2].casefold())
    return f"save it as {conversion[1]}" if conversion else ""


def _is_similar(name: str, expected: str) -> bool:
    stem = name.partition(".")[0].casefold()
    return expected in stem or bool(get_close_matches(expected, [stem], cutoff=_MIN_SIMILARITY))


def _correction(name: str, expected: str) -> str:
    """Return what to do with a file; "" if unknown, as for a file that another program is still writing."""
    _, *extensions = name.casefold().split(".")
    compression = f".{extensions.pop()}" if extensions and extensions[-1] in COMPRESSIONS else ""
    extension = extensions[-1] if extensions else ""
    correct = f"{expected}.{extension}{compression}"
    if extension in FORMATS:
        return f"found {name!r}: the name must be {correct}" + (", in lower case" if name.casefold() == correct else "")
    if extension in _OTHER_COMPRESSIONS:
        return f"found {name!r}: unpack it, or compress it with gzip (.gz) or Zstandard (.zst)"
    if conversion := suggest_conversion(name):
        return f"found {name!r}: {conversion}, and name it {expected}.{_CONVERSIONS[extension][0]}"
    return "" if extension else f"found {name!r}: add the format to the name, as in {expected}.csv{compression}"
