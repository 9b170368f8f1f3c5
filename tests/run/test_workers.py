"""Several processes answer as one does; where one of them dies, the others and its replacement go on."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.directory import store, write_directory
from tests.program import Running, compilers, eventually, has_ended, kill, run, serving, started
from tests.run.asking import of_each_worker
from tests.run.conftest import Serve
from tests.run.generations import Generation

TWO = ("--workers", "2")
ANSWERED = 'store_directory_http_requests_total{method="GET",route="/stores",status="200"}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Generation(1).bake(tmp_path).replace(tmp_path / "set.baked")


def kill_worker(service: Running, worker: int) -> None:
    """Kill a worker, and wait until another has taken its place."""
    others = [each for each in service.workers() if each != worker]
    os.kill(worker, signal.SIGKILL)
    eventually(lambda: has_ended(worker) and set(service.workers()) > set(others))


def generations(service: Running) -> list[int]:
    """Return of which generation each worker answers, on a new connection."""
    asking = of_each_worker(service)
    for client in asking:
        client.close()
    return [client.seen for client in asking]


def is_served(service: Running, generation: int) -> bool:
    """Return whether the worker that is asked serves the data that the run loaded as that manieth."""
    return bool(service.ready()["generation"] == generation)


def compiling(service: Running) -> list[tuple[int, int]]:
    """Return each worker that has a compiler run, with that."""
    return [(worker, compiler) for worker in service.workers() for compiler in compilers(worker)]


class Pair:
    """Two workers that serve a file, which is replaced by one generation of data after the other.

    generation  the one that the file holds, and which of this run it is
    """

    def __init__(self, service: Running, folder: Path) -> None:
        self.service, self._folder = service, folder
        self.generation = 1

    def replace(self) -> None:
        """Let the file hold the next generation."""
        self.generation += 1
        Generation(self.generation).bake(self._folder).replace(self._folder / "set.baked")

    def all_answer(self) -> bool:
        """Return whether each worker answers of the generation that the file holds."""
        return generations(self.service) == [self.generation, self.generation]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    data = Generation(1).bake(folder).replace(folder / "set.baked")
    with serving("--data", data, "--cache", folder / "cache", "--no-auth", *TWO, log=folder / "log") as service:
        yield Pair(service, folder)


def test_a_worker_that_is_killed_is_replaced_and_the_new_one_answers_of_what_is_served_from_the_first_request(
    pair: Pair,
) -> None:
    pair.replace()
    eventually(pair.all_answer)
    for worker in pair.service.workers():
        kill_worker(pair.service, worker)
        assert pair.all_answer()
    assert pair.service.metrics()["store_directory_workers"] == 2


def test_where_the_worker_that_loads_is_killed_over_it_another_one_loads(serve: Serve, tmp_path: Path) -> None:
    folder = Generation(1).write(tmp_path / "data")
    service = serve(folder, *TWO)
    Generation(2).write(folder)
    ((leader, compiler),) = eventually(lambda: compiling(service))
    kill_worker(service, leader)
    eventually(partial(has_ended, compiler))
    eventually(lambda: generations(service) == [2, 2])


def test_workers_that_die_while_the_data_is_replaced_leave_none_behind_with_old_data(pair: Pair) -> None:
    for place in (0, 1, 0):
        pair.replace()
        kill_worker(pair.service, pair.service.workers()[place])
        eventually(pair.all_answer)


def test_metrics_are_those_of_all_workers_and_none_is_lost_with_a_worker(pair: Pair) -> None:
    service = pair.service
    before = service.metrics().get(ANSWERED, 0)
    for client in of_each_worker(service):
        with closing(client):
            for _ in range(20):
                client.ask("/stores")
    counted = before + 2 + 40
    assert service.metrics()[ANSWERED] == counted
    assert service.metrics()["store_directory_workers"] == 2
    for worker in service.workers():
        kill_worker(service, worker)
        assert service.metrics()[ANSWERED] == counted
        counted += len(generations(service))
        assert service.metrics()[ANSWERED] == counted
    eventually(lambda: service.metrics()["store_directory_workers"] == 2)


def test_a_hang_up_loads_the_data_anew_and_replaces_no_worker(pair: Pair) -> None:
    workers, loaded = pair.service.workers(), pair.service.ready()["generation"]
    for again in (1, 2):
        pair.service.process.send_signal(signal.SIGHUP)
        eventually(partial(is_served, pair.service, loaded + again))
    assert pair.service.workers() == workers


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_hang_up_while_it_starts_does_not_end_it(file: Path, cache: Path, workers: str) -> None:
    with started("--data", file, "--cache", cache, "--workers", workers) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("Listening on ")
            process.send_signal(signal.SIGHUP)
            assert process.stdout.readline().startswith("Ready: ")
        finally:
            kill(process)


@pytest.mark.parametrize("workers", [1, 2])
def test_when_told_to_end_it_ends_with_0_and_leaves_nothing_behind(
    serve: Serve, file: Path, cache: Path, workers: int
) -> None:
    service = serve(file, "--workers", str(workers))
    processes = service.workers()
    assert [path.name[:4] for path in (cache / "runs").iterdir()] == ["run-"]
    assert service.end() == 0
    assert list((cache / "runs").iterdir()) == []
    assert all(map(has_ended, processes))
    assert [line for line in service.logged() if "Traceback" in line or "ERROR" in line] == []


def test_a_faulty_data_set_is_exit_1_and_a_clear_line(tmp_path: Path, cache: Path) -> None:
    faulty = write_directory(tmp_path / "faulty", [store("s1", city=None)])
    ended = run("serve", "--port", "0", "--data", faulty, "--cache", cache, *TWO)
    assert ended.returncode == 1
    first, *more = ended.stderr.splitlines()
    assert first.startswith(f"Error: the data set in {faulty} is rejected: stores.json:1: record 1: city: ")
    assert len(more) == 1
    assert more[0].startswith("`store-directory check ")
    assert list((cache / "runs").iterdir()) == []
