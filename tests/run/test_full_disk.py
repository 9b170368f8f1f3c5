"""On a full disk the previous data is still served; new data is served once it fits."""

import resource
from functools import partial
from pathlib import Path

import pytest

from tests.program import Running, eventually
from tests.run.conftest import Serve
from tests.run.generations import Generation
from tests.run.load_clients import all_see, running_clients, two_clients

pytestmark = pytest.mark.ci

DISK_SPACE = 500_000
LARGE = 200_000


def limit(service: Running, size: int) -> None:
    """Limit the size of files that a service can write, like a full disk for it alone."""
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def test_data_that_does_not_fit_keeps_the_previous_data_served_and_is_logged_once_and_served_once_there_is_space(
    serve: Serve, file: Path, cache: Path, tmp_path: Path
) -> None:
    service = serve(file, "--poll", "0.1")
    with running_clients(*two_clients(service)) as clients:
        limit(service, DISK_SPACE)
        Generation(2, weight=LARGE).bake(tmp_path).replace(file)
        eventually(lambda: not service.ready()["last_reload"]["ok"])
        first = service.ready()["last_reload"]
        eventually(lambda: service.ready()["last_reload"]["at"] != first["at"])  # retried
        ready = service.ready()
        assert (ready["status"], ready["generation"]) == ("ready", 1)
        assert ready["last_reload"]["error"].endswith(": File too large")
        assert service.metrics()["store_directory_reload_success"] == 0
        assert sum("File too large; the previous data is still served" in line for line in service.logged()) == 1
        eventually(lambda: len(list(cache.glob("runs/*/*.baked"))) == 1)  # no file of the attempt remains
        limit(service, resource.RLIM_INFINITY)
        eventually(partial(all_see, clients, 2))
        assert eventually(lambda: service.ready()["last_reload"]["ok"])
