"""Files are read once they have been left alone for long enough."""

from time import time

from service.loading.folder_signature import DataSignature
from service.sources.debounce import wait_until_stable
from tests.program import SECONDS

PATIENCE = DataSignature("", 0, verifiable=True).quiet_seconds


class Files:
    """Files that look like this now, like that the next time, and stay as they last looked."""

    def __init__(self, *looks: DataSignature) -> None:
        self._looks = list(looks)
        self.looked = 0

    def look(self) -> DataSignature:
        """Look once more."""
        self.looked += 1
        return self._looks.pop(0) if len(self._looks) > 1 else self._looks[0]


def look(fingerprint: str, changed_at: float, *, proven: bool = True) -> DataSignature:
    return DataSignature(fingerprint, changed_at, proven)


async def test_files_that_were_left_alone_for_long_enough_are_taken_at_once() -> None:
    files = Files(look("old", time() - 100))
    assert (await wait_until_stable(files.look)).fingerprint == "old"
    assert files.looked == 1


async def test_files_that_have_just_changed_are_looked_at_again_when_they_have_been_left_alone() -> None:
    changed = time()
    files = Files(look("new", changed))
    assert (await wait_until_stable(files.look)).fingerprint == "new"
    assert files.looked > 1
    assert time() - changed >= PATIENCE


async def test_files_that_go_on_changing_are_waited_for() -> None:
    began = time()
    files = Files(*(look(f"{step}", began + step * PATIENCE / 2) for step in range(5)))
    seen = await wait_until_stable(files.look)
    assert seen.fingerprint == "4"
    assert time() - seen.changed_at >= PATIENCE


async def test_files_dated_in_the_future_are_taken_when_they_have_looked_the_same_for_long_enough() -> None:
    began = time()
    files = Files(look("one", began + 3600), look("other", began + 3600))
    assert (await wait_until_stable(files.look)).fingerprint == "other"
    assert PATIENCE <= time() - began < SECONDS


async def test_files_are_given_the_time_that_their_last_look_asks_for() -> None:
    began = time()
    files = Files(look("with proof", began + 3600), look("without", began + 3600, proven=False))
    seen = await wait_until_stable(files.look)
    assert seen.fingerprint == "without"
    assert time() - began >= seen.quiet_seconds > PATIENCE
