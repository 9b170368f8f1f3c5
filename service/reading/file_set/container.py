"""Where the files of a data set are stored: a folder, an archive or a single file."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from service.files.mapped_bytes import FileBytes
from service.files.spool import Spools
from service.model.records import COMPANIES, STORES
from service.reading.batches.diagnostics import FileError
from service.reading.file_set.data_signature import is_file, resolve_root
from service.reading.file_set.file_names import ARCHIVE, MANIFEST, data_files, holds_data, is_archive
from service.reading.file_set.misnamed_files import suggest_conversion
from service.reading.file_set.zip_archive import ZipArchive
from service.reading.formats.file_format import FORMATS
from service.reading.text.stored_bytes import copy_stored, reason

ACCEPTED: Final = f"a folder with stores and companies, a file of stores ({', '.join(FORMATS)}) or a {ARCHIVE} archive"


class Container(ABC):
    """The files of a data set.

    names   of all its files, sorted
    single  the name of its only data file, which has the stores, if it need not be called so
    """

    names: Sequence[str]
    single: str | None = None

    @abstractmethod
    def read(self, name: str) -> FileBytes:
        """Return the bytes of a file. Raises FileError."""

    def is_file(self, name: str) -> bool:
        """Return whether a name is that of a file, not of a folder."""
        return name in self.names


class _Folder(Container):
    def __init__(self, folder: Path, spools: Spools) -> None:
        self._root, self._spools = resolve_root(folder), spools
        self.names = sorted(path.name for path in self._root.iterdir())

    def read(self, name: str) -> FileBytes:
        return copy_stored(self._root / name, self._spools)

    def is_file(self, name: str) -> bool:
        return is_file(self._root / name)


class _SingleFile(Container):
    def __init__(self, file: Path, spools: Spools) -> None:
        self._file, self._spools, self.single, self.names = file, spools, file.name, [file.name]

    def read(self, name: str) -> FileBytes:  # noqa: ARG002 - there is only one
        return copy_stored(self._file, self._spools)


class _Archive(Container):
    def __init__(self, file: Path, spools: Spools) -> None:
        self._archive = ZipArchive(copy_stored(file, spools), spools)
        self.names = sorted(self._archive.names)
        self.single = _only_data_file(self.names)

    def read(self, name: str) -> FileBytes:
        return self._archive.read(name)


def open_container(path: Path, spools: Spools | None = None) -> Container:
    """Return what is at a path; what is read of it is in `spools` if it is large. Raises FileError."""
    if not is_file(path):
        try:
            return _Folder(path, spools or Spools())
        except (OSError, RuntimeError, ValueError) as error:  # RuntimeError: a cycle of links, before Python 3.13
            what = "file" if holds_data(path) else "folder"
            raise FileError(f"the {what} cannot be read: {reason(error)}") from None
    if not holds_data(path):
        hint = suggest_conversion(path.name) or f"a data set is {ACCEPTED}"
        raise FileError(f"the file name has no known extension: {hint}")
    return (_Archive if is_archive(path) else _SingleFile)(path, spools or Spools())


def _only_data_file(names: Sequence[str]) -> str | None:
    """Return the file with the stores, by any name, if there is none of companies and no other that may have them."""
    if data_files(names, COMPANIES):
        return None
    files = data_files(names, STORES) or data_files(name for name in names if name != MANIFEST)
    return files[0].name if len(files) == 1 else None
