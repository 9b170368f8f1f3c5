"""Files are read once they have stopped changing."""

from time import time

from service.publishing.local_source import wait_until_stable
from service.reading.files.container import DataSignature
from tests.program import SECONDS

QUIET_SECONDS = DataSignature("", 0, verifiable=True).quiet_seconds


class Files:
    """Files with one signature per read, and the last one from then on."""

    def __init__(self, *signatures: DataSignature) -> None:
        self._signatures = list(signatures)
        self.reads = 0

    def read(self) -> DataSignature:
        """Return the next signature."""
        self.reads += 1
        return self._signatures.pop(0) if len(self._signatures) > 1 else self._signatures[0]


def signature(fingerprint: str, changed_at: float, *, proven: bool = True) -> DataSignature:
    return DataSignature(fingerprint, changed_at, proven)


async def test_old_files_are_stable_at_once() -> None:
    files = Files(signature("old", time() - 100))
    assert (await wait_until_stable(files.read)).fingerprint == "old"
    assert files.reads == 1


async def test_files_that_have_just_changed_are_stable_after_the_quiet_time() -> None:
    changed = time()
    files = Files(signature("new", changed))
    assert (await wait_until_stable(files.read)).fingerprint == "new"
    assert files.reads > 1
    assert time() - changed >= QUIET_SECONDS


async def test_files_that_keep_changing_are_waited_for() -> None:
    began = time()
    files = Files(*(signature(f"{step}", began + step * QUIET_SECONDS / 2) for step in range(5)))
    stable = await wait_until_stable(files.read)
    assert stable.fingerprint == "4"
    assert time() - stable.changed_at >= QUIET_SECONDS


async def test_files_with_times_in_the_future_are_stable_after_the_quiet_time() -> None:
    began = time()
    files = Files(signature("one", began + 3600), signature("other", began + 3600))
    assert (await wait_until_stable(files.read)).fingerprint == "other"
    assert QUIET_SECONDS <= time() - began < SECONDS


async def test_the_quiet_time_is_that_of_the_last_signature() -> None:
    began = time()
    files = Files(signature("with proof", began + 3600), signature("without", began + 3600, proven=False))
    stable = await wait_until_stable(files.read)
    assert stable.fingerprint == "without"
    assert time() - began >= stable.quiet_seconds > QUIET_SECONDS
