"""Several workers serve as one process does; when one dies, the others and its replacement continue."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.program import Running, compilers, eventually, has_ended, serving, started
from tests.run.conftest import Serve
from tests.run.generations import Generation
from tests.run.load_clients import clients_of_all_workers

pytestmark = pytest.mark.process

TWO = ("--workers", "2")
ANSWERED = 'store_directory_http_requests_total{method="GET",route="/stores",status="200"}'


def kill_worker(service: Running, worker: int) -> None:
    """Kill a worker, and wait for its replacement."""
    others = [each for each in service.workers() if each != worker]
    os.kill(worker, signal.SIGKILL)
    eventually(lambda: has_ended(worker) and set(service.workers()) > set(others))


def generations(service: Running) -> list[int]:
    """Return the generation that each worker serves."""
    clients = clients_of_all_workers(service)
    for client in clients:
        client.close()
    return [client.seen for client in clients]


def is_served(service: Running, generation: int) -> bool:
    """Return whether the worker that responds serves this generation of the run."""
    return bool(service.ready()["generation"] == generation)


def compiling(service: Running) -> list[tuple[int, int]]:
    """Return each worker that runs a compiler, with the compiler."""
    return [(worker, compiler) for worker in service.workers() for compiler in compilers(worker)]


class Pair:
    """Two workers over a file that is replaced by one generation after the other.

    generation  of the file, and of the run
    """

    def __init__(self, service: Running, folder: Path) -> None:
        self.service, self._folder = service, folder
        self.generation = 1

    def replace(self) -> None:
        """Replace the file with the next generation."""
        self.generation += 1
        Generation(self.generation).bake(self._folder).replace(self._folder / "set.baked")

    def all_serve(self) -> bool:
        """Return whether each worker serves the generation of the file."""
        return generations(self.service) == [self.generation, self.generation]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    data = Generation(1).bake(folder).replace(folder / "set.baked")
    with serving("--data", data, "--cache", folder / "cache", "--no-auth", *TWO, log=folder / "log") as service:
        yield Pair(service, folder)


def test_the_replacement_of_a_killed_worker_serves_the_current_data_from_the_first_request(pair: Pair) -> None:
    pair.replace()
    eventually(pair.all_serve)
    for worker in pair.service.workers():
        kill_worker(pair.service, worker)
        assert pair.all_serve()
    assert pair.service.metrics()["store_directory_workers"] == 2


def test_after_the_leader_is_killed_during_a_reload_another_worker_reloads(serve: Serve, tmp_path: Path) -> None:
    folder = Generation(1).write(tmp_path / "data")
    service = serve(folder, *TWO)
    number = 1

    def reloading() -> list[tuple[int, int]]:
        """Look for the compiler of the next generation: one may end between two looks, then the next is written."""
        nonlocal number
        if is_served(service, number):
            number += 1
            Generation(number).write(folder)
        return compiling(service)

    ((leader, compiler),) = eventually(reloading)
    kill_worker(service, leader)
    eventually(partial(has_ended, compiler))
    eventually(lambda: generations(service) == [number, number])


def test_no_worker_serves_old_data_after_workers_die_during_a_reload(pair: Pair) -> None:
    for place in (0, 1, 0):
        pair.replace()
        kill_worker(pair.service, pair.service.workers()[place])
        eventually(pair.all_serve)


def test_metrics_cover_all_workers_including_dead_ones(pair: Pair) -> None:
    service = pair.service
    before = service.metrics().get(ANSWERED, 0)
    for client in clients_of_all_workers(service):
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


def test_metrics_have_the_cpu_time_memory_and_descriptors_of_each_process(pair: Pair) -> None:
    def complete() -> dict[str, float]:
        """Return the metrics if each process has some of all: the system counts CPU time in ticks of 10 ms."""
        metrics, names = pair.service.metrics(), ("cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds")
        values = [metrics[f'process_{name}{{process="{each}"}}'] for name in names for each in ("parent", "0", "1")]
        return metrics if all(value > 0 for value in values) else {}

    def started() -> dict[str, float]:
        metrics = eventually(complete)
        return {each: metrics[f'process_start_time_seconds{{process="{each}"}}'] for each in ("parent", "0", "1")}

    before = started()
    eventually(pair.all_serve)  # a worker that has begun may not listen yet
    kill_worker(pair.service, pair.service.workers()[0])
    eventually(lambda: pair.service.metrics()["store_directory_workers"] == 2)
    assert len(before.items() & started().items()) == 2  # the parent and the other worker; one has a successor


def test_sighup_reloads_the_data_and_replaces_no_worker(pair: Pair) -> None:
    workers, loaded = pair.service.workers(), pair.service.ready()["generation"]
    for again in (1, 2):
        pair.service.process.send_signal(signal.SIGHUP)
        eventually(partial(is_served, pair.service, loaded + again))
    assert pair.service.workers() == workers


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sighup_during_the_start_does_not_end_the_service_but_sigterm_with_0_and_it_leaves_nothing(
    file: Path, cache: Path, tmp_path: Path, workers: str
) -> None:
    log = tmp_path / "log"
    with started("--data", file, "--cache", cache, "--no-auth", "--workers", workers, log=log) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Listening on ")
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline().startswith("Ready: ")
        service = Running(process, "", "", log)
        processes = service.workers()
        assert [path.name[:4] for path in (cache / "runs").iterdir()] == ["run-"]
        assert service.end() == 0
    assert list((cache / "runs").iterdir()) == []
    assert all(map(has_ended, processes))
    assert [line for line in service.logged() if "Traceback" in line or "ERROR" in line] == []
