"""A key file that is changed while the service runs: each of its processes heeds that."""

import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from service.access.api_key import new_key
from service.access.key_entries import add_key, revoke_key
from service.access.key_file import change_keys
from tests.access.made_up_keys import entry
from tests.program import Running, eventually, has_ended, serving
from tests.run.generations import Generation, put

# Of two workers so many connections reach both, but once in a million times.
ASKED = {"1": 1, "2": 20}
FIRST, SECOND = new_key(), new_key()
# Of a key that expires, in seconds: the first is enough, but on a machine that is slower than any.
LIFETIMES = (1.5, 15, 45)


class Kept:
    """A service with a key file, in which its first key stands."""

    def __init__(self, service: Running, file: Path, asked: int) -> None:
        self.service, self.file, self._asked = service, file, asked

    def answers(self, key: str) -> set[int]:
        """Return the statuses with which the workers answer."""
        return {self.service.get("/companies/acme", key).status for _ in range(self._asked)}

    def let_in_for(self, seconds: float) -> str:
        """Add a key that expires after so many seconds; return it once all let it in, or "" if it expired before."""
        key, expires_at = new_key(), datetime.now(UTC) + timedelta(seconds=seconds)
        change_keys(self.file, partial(add_key, entry=entry(key, name=f"for-{seconds}", expires_at=expires_at)))
        accepted = eventually(lambda: self.answers(key) == {200} or (datetime.now(UTC) > expires_at and "too late"))
        return key if accepted is True else ""

    def told(self, what: str) -> int:
        """Return how many lines of the log tell something."""
        return sum(what in line for line in self.service.logged())


@pytest.fixture(scope="module", params=ASKED, ids=["one process", "two workers"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("kept")
    file = folder / "keys.json"
    change_keys(file, partial(add_key, entry=entry(FIRST, name="first")))
    data = Generation(1).bake(folder)
    options = ("--data", data, "--cache", folder / "cache", "--key-file", file, "--workers", request.param)
    with serving(*options, log=folder / "log") as service:
        yield Kept(service, file, ASKED[request.param])
        log = (folder / "log").read_text()
        assert not any(key in log + service.printed for key in (FIRST, SECOND))
        assert "Traceback" not in log


def test_a_new_key_is_let_in_and_refused_again_once_it_is_revoked(kept: Kept) -> None:
    assert (kept.answers(FIRST), kept.answers(SECOND)) == ({200}, {401})
    change_keys(kept.file, partial(add_key, entry=entry(SECOND, name="second")))
    eventually(lambda: kept.answers(SECOND) == {200})
    change_keys(kept.file, partial(revoke_key, name="second"))
    eventually(lambda: kept.answers(SECOND) == {401})
    assert kept.answers(FIRST) == {200}


def test_a_key_that_expires_is_refused(kept: Kept) -> None:
    key = next(filter(None, map(kept.let_in_for, LIFETIMES)))
    eventually(lambda: kept.answers(key) == {401})


def test_a_damaged_file_leaves_the_keys_of_before_also_to_a_worker_that_is_replaced_meanwhile(kept: Kept) -> None:
    sound, workers = kept.file.read_bytes(), kept.service.workers()
    each = max(len(workers), 1)
    put(sound[:-9], kept.file)
    eventually(lambda: kept.told("cut off") == each)
    assert kept.answers(FIRST) == {200}
    assert kept.service.metrics()["store_directory_key_file_success"] == 0
    if workers:
        os.kill(workers[0], signal.SIGKILL)
        eventually(lambda: has_ended(workers[0]) and len(kept.service.workers()) == len(workers))
        eventually(lambda: kept.told("cut off") == each + 1)
        eventually(lambda: kept.service.metrics()["store_directory_workers"] == each)
    assert (kept.answers(FIRST), kept.answers(SECOND)) == ({200}, {401})
    put(sound, kept.file)
    eventually(lambda: kept.told("is valid again") == each)
    assert kept.service.metrics()["store_directory_key_file_success"] == 1
