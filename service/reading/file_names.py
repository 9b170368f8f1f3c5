"""The names of data files: what is in them, in which format, and how it is compressed."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from service.reading.formats import COMPRESSIONS, FORMATS

ARCHIVE: Final = "zip"
_EXTENSIONS: Final = rf"({'|'.join(FORMATS)})(?:\.({'|'.join(COMPRESSIONS)}))?"
_IN_FOLDER: Final = re.compile(rf"([a-z]+)\.{_EXTENSIONS}")
_ALONE: Final = re.compile(rf"(.+)\.{_EXTENSIONS}", re.IGNORECASE | re.DOTALL)


def data_file_name(name: str) -> re.Match[str] | None:
    """Return the parts of the name of a data file in a folder: resource, format, compression; None for another."""
    return _IN_FOLDER.fullmatch(name)


def single_file_name(name: str) -> re.Match[str] | None:
    """Return the parts of the name of a data file that is alone, in any case: any text, format, compression."""
    return _ALONE.fullmatch(name)


def of_lowest_rank(files: Sequence[re.Match[str]]) -> Sequence[re.Match[str]]:
    """Return those data files whose format has the lowest rank among them: CSV and JSON come before others."""
    ranks = [FORMATS[match[2].lower()].rank for match in files]
    return [match for match, rank in zip(files, ranks, strict=True) if rank == min(ranks)]


def is_archive(path: Path) -> bool:
    """Return whether the name of a file is that of a zip archive."""
    return path.suffix.lower() == f".{ARCHIVE}"


def holds_data(path: Path) -> bool:
    """Return whether the name of a file is that of a data file or of an archive of data files."""
    return is_archive(path) or single_file_name(path.name) is not None
