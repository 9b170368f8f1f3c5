"""The names of data files: what is in them, in which format, and how it is compressed."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.formats.file_format import COMPRESSIONS, FORMATS, FileFormat

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
