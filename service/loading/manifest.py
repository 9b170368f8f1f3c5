"""The manifest of a data set: when it was made, and what its files are."""

import hashlib
from datetime import datetime
from typing import Final

import msgspec

from service.loading.decompression import read_text
from service.loading.faults import RefusedError
from service.model.kinds import read_instant

MANIFEST: Final = "manifest.json"


class Listing(msgspec.Struct, frozen=True):
    """A file as the manifest has it: the SHA-256 of its stored bytes in hexadecimal, and its number of records."""

    sha256: str
    records: int | None = None

    def check_bytes(self, stored: bytes) -> None:
        """Raise RefusedError unless the stored bytes are those that the manifest means."""
        if hashlib.sha256(stored).hexdigest() != self.sha256.lower():
            raise RefusedError(f"the SHA-256 of the file is not the one in {MANIFEST}")

    def check_records(self, records: int) -> None:
        """Raise RefusedError unless the file holds as many records as the manifest says."""
        if records != self.records:
            told = "does not say how many" if self.records is None else f"says {self.records}"
            raise RefusedError(f"the file has {records} records, {MANIFEST} {told}")


class Manifest(msgspec.Struct, frozen=True):
    """A data set's files by name, and when it was made, where the manifest says."""

    files: dict[str, Listing]
    generated_at: datetime | None

    def listing(self, name: str) -> Listing:
        """Return what the manifest has of a file. Raises RefusedError where it does not list it."""
        if name not in self.files:
            raise RefusedError(f"{MANIFEST} does not list the file")
        return self.files[name]


class _Document(msgspec.Struct, frozen=True):
    """The manifest as it is written."""

    files: dict[str, Listing]
    generated_at: str | None = None


def parse_manifest(stored: bytes) -> Manifest:
    """Return the manifest that a file holds. Raises RefusedError where it is malformed."""
    try:
        document = msgspec.json.decode(read_text(stored), type=_Document)
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusedError(f"the manifest is malformed: {error}") from None
    if foreign := [name for name in document.files if not _is_plain(name)]:
        raise RefusedError(f"the manifest is malformed: {foreign[0]!r} is not a plain file name")
    return Manifest(document.files, _read_time(document.generated_at))


def _is_plain(name: str) -> bool:
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")


def _read_time(text: str | None) -> datetime | None:
    moment = None if text is None else read_instant(text)
    if moment is None and text is not None:
        raise RefusedError("the manifest is malformed: generated_at is no date-time of the form 2024-05-31T10:00:00Z")
    return moment
