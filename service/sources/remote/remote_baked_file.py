"""A baked file at a URL as a source."""

from functools import partial
from hashlib import file_digest
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from service.baking.baked_file import read_baked
from service.baking.characters import UnicodeMismatch
from service.baking.layout import DamagedFile, NotBaked
from service.data_set import Rejected, Summary
from service.progress import Progress
from service.sources.bake_first import bake_first
from service.sources.blocking import run_to_end
from service.sources.remote.download import receive
from service.sources.remote.remote_source import Damaged, RemoteSource, new_file
from service.sources.source import Fetched


class RemoteBakedFile(RemoteSource):
    """A baked file at a URL."""

    async def _attempt(self, to: Path, known: str, progress: Progress) -> Fetched | None:
        with new_file(to) as file:
            async with self._transport.get(known) as remote:
                if remote is None:
                    return None
                try:
                    await receive(remote, file, partial(progress, f"Fetching {self.name}"))
                except DamagedFile as damage:
                    raise self._rejected(damage, remote.fingerprint or f"rejected: {damage}") from damage
        fingerprint = remote.fingerprint or await run_to_end(_digest, to)
        if fingerprint == known:
            return None
        try:
            return Fetched(fingerprint=fingerprint, summary=await run_to_end(_verify, to))
        except UnicodeMismatch as other:
            raise Rejected(f"{self.name}: {other}; {other.remedy}", fingerprint=fingerprint) from other
        except DamagedFile as damage:
            raise Damaged.by(self._rejected(damage, fingerprint).rejection) from damage

    def _rejected(self, damage: DamagedFile, fingerprint: str) -> Rejected:
        path = PurePosixPath(urlsplit(self.name).path)
        is_data = isinstance(damage, NotBaked) and path.suffix != ".baked"
        hint = bake_first(path.name or "stores.csv") if is_data else ""
        return Rejected(f"{self.name}: {damage}", hint=hint, fingerprint=fingerprint)


def _verify(file: Path) -> Summary:
    """Check every byte; return the summary. Afterwards nothing of the file is mapped. Raises `DamagedFile`."""
    return read_baked(file).summary


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return f"sha256:{file_digest(content, 'sha256').hexdigest()}"
