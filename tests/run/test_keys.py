"""A key file that changes while the service runs: every worker follows it."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from service.access.api_key import new_key
from service.access.key_file import add_key, change_keys, revoke_key
from tests.access.example_keys import entry
from tests.program import Running, eventually, serving
from tests.run.generations import Generation, put
from tests.run.test_workers import kill_worker

pytestmark = pytest.mark.process

# This many connections reach both of two workers, except once in a million runs.
REQUESTS = 20
FIRST, SECOND = new_key(), new_key()


class KeyedService:
    """A service with a key file that contains the first key."""

    def __init__(self, service: Running, file: Path) -> None:
        self.service, self.file = service, file

    def statuses(self, key: str) -> set[int]:
        """Return the statuses of the workers' responses."""
        return {self.service.get("/companies/acme", key).status for _ in range(REQUESTS)}

    def logged(self, text: str) -> int:
        """Return the number of log lines with a text."""
        return sum(text in line for line in self.service.logged())


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyedService]:
    folder = tmp_path_factory.mktemp("keyed")
    file = folder / "keys.json"
    change_keys(file, partial(add_key, entry=entry(FIRST, name="first")))
    data = Generation(1).bake(folder)
    options = ("--data", data, "--cache", folder / "cache", "--key-file", file, "--workers", "2")
    with serving(*options, log=folder / "log") as service:
        yield KeyedService(service, file)
        log = (folder / "log").read_text()
        assert not any(key in log + service.printed for key in (FIRST, SECOND))
        assert "Traceback" not in log


def test_a_new_key_is_accepted_and_rejected_again_once_it_is_revoked(keyed: KeyedService) -> None:
    assert (keyed.statuses(FIRST), keyed.statuses(SECOND)) == ({200}, {401})
    change_keys(keyed.file, partial(add_key, entry=entry(SECOND, name="second")))
    eventually(lambda: keyed.statuses(SECOND) == {200})
    change_keys(keyed.file, partial(revoke_key, name="second"))
    eventually(lambda: keyed.statuses(SECOND) == {401})
    assert keyed.statuses(FIRST) == {200}


def test_a_damaged_file_keeps_the_previous_keys_even_in_a_new_worker(keyed: KeyedService) -> None:
    valid, workers = keyed.file.read_bytes(), keyed.service.workers()
    put(valid[:-9], keyed.file)
    eventually(lambda: keyed.logged("cut off") == 2)
    assert keyed.statuses(FIRST) == {200}
    assert keyed.service.metrics()["store_directory_key_file_success"] == 0
    kill_worker(keyed.service, workers[0])
    eventually(lambda: keyed.logged("cut off") == 3)
    eventually(lambda: keyed.service.metrics()["store_directory_workers"] == 2)
    assert (keyed.statuses(FIRST), keyed.statuses(SECOND)) == ({200}, {401})
    put(valid, keyed.file)
    eventually(lambda: keyed.logged("is valid again") == 2)
    assert keyed.service.metrics()["store_directory_key_file_success"] == 1
