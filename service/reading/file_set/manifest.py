"""The manifest of a data set: the time of the data, and the checksums of its files."""

import hashlib
from datetime import datetime

import msgspec

from service.files.mapped_bytes import FileBytes
from service.model.kinds import parse_instant
from service.reading.batches.diagnostics import FileError
from service.reading.file_set.file_names import MANIFEST
from service.reading.text.decompression import decode_text


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
        return msgspec.json.decode(decode_text(stored), type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FileError(f"the manifest is malformed: {error}") from None


def _is_plain_name(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")
