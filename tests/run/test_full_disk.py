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


class Data:
    """A source: a baked file or a folder."""

    def __init__(self, tmp_path: Path, *, baked: bool) -> None:
        tmp_path.mkdir()
        self._scratch, self._baked = tmp_path, baked
        self.path = tmp_path / ("set.baked" if baked else "data")

    def write(self, generation: Generation) -> Path:
        """Replace the data with a generation."""
        if self._baked:
            return generation.bake(self._scratch).replace(self.path)
        return generation.write(self.path)


def limit(service: Running, size: int) -> None:
    """Limit the size of files that a service and its children can write, like a full disk for them alone."""
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("baked", [True, False], ids=["a baked file", "a folder"])
def test_data_that_does_not_fit_keeps_the_previous_data_served_and_is_logged_once(
    serve: Serve, cache: Path, tmp_path: Path, *, baked: bool
) -> None:
    data = Data(tmp_path / "source", baked=baked)
    data.write(Generation(1))
    service = serve(data.path, "--poll", "0.1")
    with running_clients(*two_clients(service)) as clients:
        limit(service, DISK_SPACE)
        data.write(Generation(2, weight=LARGE))
        eventually(lambda: not service.ready()["last_reload"]["ok"])
        first = service.ready()["last_reload"]
        eventually(lambda: service.ready()["last_reload"]["at"] != first["at"])  # retried
        ready = service.ready()
        assert (ready["status"], ready["generation"]) == ("ready", 1)
        assert ready["last_reload"]["error"].endswith(": File too large")
        assert service.metrics()["store_directory_reload_success"] == 0
        assert sum("File too large; the previous data is still served" in line for line in service.logged()) == 1
        eventually(lambda: len(list(cache.glob("runs/*/*.baked"))) == 1)  # no file of the attempt remains
        data.write(Generation(3))
        eventually(partial(all_see, clients, 3))
        assert eventually(lambda: service.ready()["last_reload"]["ok"])


def test_once_there_is_space_the_unchanged_data_is_served(serve: Serve, tmp_path: Path) -> None:
    data = Data(tmp_path / "source", baked=True)
    data.write(Generation(1))
    service = serve(data.path)
    with running_clients(*two_clients(service)) as clients:
        limit(service, DISK_SPACE)
        data.write(Generation(2, weight=LARGE))
        eventually(lambda: not service.ready()["last_reload"]["ok"])
        limit(service, resource.RLIM_INFINITY)
        eventually(partial(all_see, clients, 2))
