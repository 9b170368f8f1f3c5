"""A baked file that is served in place is not copied, followed when it is replaced, and verified when it changed."""

from functools import partial
from pathlib import Path

import pytest

from tests.program import Running, eventually
from tests.run.conftest import Serve
from tests.run.generations import Generation, flip
from tests.run.load_clients import all_see, clients_of_all_workers, running_clients
from tests.run.test_damage import replace
from tests.run.test_workers import generations, kill_worker

pytestmark = pytest.mark.process

TWO = ("--no-copy", "--workers", "2")


def failure(service: Running) -> str:
    """Return why the last reload failed; "" if it did not."""
    return service.ready()["last_reload"]["error"] or ""


def mapped(pid: int) -> set[str]:
    """Return the baked files that a process has mapped."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return {line.partition("/")[1] + line.partition("/")[2] for line in lines if ".baked" in line}


def test_all_workers_map_the_file_in_place_and_follow_replacements(
    serve: Serve, file: Path, cache: Path, tmp_path: Path
) -> None:
    following = [Generation(number).bake(tmp_path) for number in range(2, 7)]
    service = serve(file, *TWO)
    with running_clients(*clients_of_all_workers(service)) as clients:
        for number, baked in enumerate(following, 2):
            assert [mapped(worker) for worker in service.workers()] == [{str(file)}, {str(file)}]
            baked.replace(file)
            eventually(partial(all_see, clients, number))
    assert not list(cache.glob("runs/**/*.baked"))


def test_a_damaged_replacement_keeps_the_previous_data_served_and_a_replaced_worker_maps_nothing_of_it(
    serve: Serve, file: Path, tmp_path: Path
) -> None:
    service = serve(file, *TWO)
    replace(file, lambda replacement: replacement.symlink_to(file.parent))
    eventually(lambda: "directory" in failure(service))
    damaged = Generation(2).bake(tmp_path)
    flip(damaged)
    damaged.replace(file)
    eventually(lambda: "damaged" in failure(service))
    assert generations(service) == [1, 1]
    kill_worker(service, service.workers()[0])
    eventually(lambda: "was replaced or changed after it was verified" in "".join(service.logged()))
    assert service.ready()["status"] == "ready"
    Generation(3).bake(tmp_path).replace(file)
    eventually(lambda: generations(service) == [3, 3])


def test_an_open_connection_does_not_keep_earlier_data_mapped(serve: Serve, file: Path, tmp_path: Path) -> None:
    service = serve(file)  # a copy
    (client,) = clients_of_all_workers(service)
    (before,) = mapped(service.process.pid)
    Generation(2).bake(tmp_path).replace(file)
    eventually(lambda: [each.startswith(before) for each in mapped(service.process.pid)] == [False])
    client.close()
