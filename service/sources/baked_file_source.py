"""A baked file as a source."""

import os
from pathlib import Path
from time import time_ns
from typing import BinaryIO

from service.baking.baked_file import read_baked
from service.baking.file_copy import copy_file
from service.baking.layout import DamagedFile, NotBaked
from service.data_set import Dataset, Rejected
from service.files.status import Signature, check_regular
from service.progress import Progress
from service.reading.file_set.container import ACCEPTED
from service.reading.file_set.data_signature import file_signature
from service.reading.file_set.misnamed_files import suggest_conversion
from service.sources.blocking import run_to_end
from service.sources.local_source import LocalSource
from service.sources.source import Fetched, InPlace, Unavailable
from service.sources.verified_files import VerifiedFiles


class BakedFileSource(LocalSource):
    """A baked file. The service maps a copy, which stays intact if someone writes into the file; or it, `in_place`.

    verified  the folder that lists verified files, of which nothing is read again
    """

    def __init__(self, file: Path, verified: Path, *, in_place: bool = False) -> None:
        super().__init__(file, file_signature)
        self._verified, self._in_place = VerifiedFiles(verified), in_place

    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        return await run_to_end(self._read, to, fingerprint, progress)

    def _read(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:
        """Copy the file, or not. Raises `Rejected` if it is invalid, `Unavailable` if copying fails."""
        path = Path(os.path.realpath(self._path))  # a link may be switched before other processes map the file
        try:
            check_regular(path.stat())
            opened = path.open("rb")
        except OSError as error:
            raise Rejected(f"{self._path}: the file cannot be read: {error.strerror}") from None
        with opened:
            try:
                dataset, signature = self._verify(opened, path, to, progress)
            except NotBaked as error:
                hint = suggest_conversion(self._path.name) or f"--data takes {ACCEPTED}, a baked file or the URL of one"
                raise Rejected(f"{self._path}: {error}; {hint}") from None
            except DamagedFile as damage:
                raise Rejected(f"{self._path}: {damage}; {damage.remedy}") from None
            except OSError as error:
                raise Unavailable(f"{self._path}: it cannot be copied: {error.strerror or error}") from None
        place = InPlace(str(path), signature) if self._in_place else None
        return Fetched(fingerprint=fingerprint, summary=dataset.summary, assumed=dataset.assumed, in_place=place)

    def _verify(self, file: BinaryIO, path: Path, to: Path, progress: Progress) -> tuple[Dataset, Signature]:
        """Return the data set of an open file, after copying it unless in place, and its signature meanwhile.

        Raises DamagedFile, OSError.
        """
        since, signature = time_ns(), Signature.of(os.fstat(file.fileno()))
        known = self._verified.has(signature)
        if self._in_place:
            dataset = read_baked(path, checked=known, signature=signature, progress=progress)
        else:
            dataset = read_baked(to, checked=known, copied=copy_file(file, to, progress), progress=progress)
        unchanged = Signature.of(os.fstat(file.fileno())) == signature
        if not unchanged and (known or self._in_place):
            raise DamagedFile("the file changed while it was read", remedy="replace it by a rename only")
        if unchanged and not known:
            self._verified.add(file, signature, since)
        return dataset, signature
