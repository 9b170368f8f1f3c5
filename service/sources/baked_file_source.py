"""A baked file as a source."""

from pathlib import Path

from service.baking.baked_file import read_baked
from service.baking.file_copy import copy_file
from service.baking.layout import DamagedFile, NotBaked
from service.data_set import Rejected
from service.files.status import check_regular
from service.progress import Progress
from service.reading.file_set.container import ACCEPTED
from service.reading.file_set.data_signature import file_signature
from service.reading.file_set.misnamed_files import suggest_conversion
from service.sources.blocking import run_to_end
from service.sources.local_source import LocalSource
from service.sources.source import Fetched, Unavailable


class BakedFileSource(LocalSource):
    """A baked file. The service maps a copy, which stays intact if someone writes into the file."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, file_signature)

    async def _fetch(self, to: Path, fingerprint: str, progress: Progress) -> Fetched:  # noqa: ARG002 - copying is fast
        return await run_to_end(_copy, self._path, to, fingerprint)


def _copy(file: Path, to: Path, fingerprint: str) -> Fetched:
    """Copy a baked file. Raises `Rejected` if it is invalid, `Unavailable` if copying fails."""
    try:
        check_regular(file.stat())
        with file.open("rb"):
            pass
    except OSError as error:
        raise Rejected(f"{file}: the file cannot be read: {error.strerror}") from None
    try:
        dataset = read_baked(to, copied=copy_file(file, to))
        return Fetched(fingerprint=fingerprint, summary=dataset.summary, assumed=dataset.assumed)
    except NotBaked as error:
        hint = suggest_conversion(file.name) or f"--data takes {ACCEPTED}, a baked file or the URL of one"
        raise Rejected(f"{file}: {error}; {hint}") from None
    except DamagedFile as damage:
        raise Rejected(f"{file}: {damage}; {damage.remedy}") from None
    except OSError as error:
        raise Unavailable(f"{file}: it cannot be copied: {error.strerror or error}") from None
