"""The names of data files: what is in them, in which format, and how it is compressed."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from service.model.kinds import parse_instant
from service.model.records import Resource
from service.reading.diagnostics import FileError
from service.reading.formats.file_format import COMPRESSIONS, FORMATS, FileFormat
from service.reading.formats.json_batches import check_depth
from service.reading.text import decode_text
from service.spool import FileBytes

ARCHIVE: Final = "zip"
MANIFEST: Final = "manifest.json"
MAPPING: Final = "mapping.toml"
_NAME: Final = re.compile(rf"(.+)\.({'|'.join(FORMATS)})(?:\.({'|'.join(COMPRESSIONS)}))?", re.IGNORECASE | re.DOTALL)


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
        if bad_names := [name for name in self.files if not _is_plain_name(name)]:
            raise ValueError(f"{bad_names[0]!r} is not a plain file name")
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


def _is_plain_name(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")
