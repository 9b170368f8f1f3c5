"""Where there is no room for new data, the old stays, and the new is served once there is room, or need of less."""

import resource
from functools import partial
from pathlib import Path

import pytest

from tests.program import Running, eventually
from tests.run.asking import all_see, clients, some_of
from tests.run.conftest import Serve
from tests.run.generations import Generation

ROOM = 500_000
LARGE = 200_000


class Data:
    """Data in one of the forms that it is served from."""

    def __init__(self, tmp_path: Path, *, baked: bool) -> None:
        tmp_path.mkdir()
        self._scratch, self._baked = tmp_path, baked
        self.path = tmp_path / ("set.baked" if baked else "data")

    def write(self, generation: Generation) -> Path:
        """Let it be that of a generation."""
        if self._baked:
            return generation.bake(self._scratch).replace(self.path)
        return generation.write(self.path)


def limit(service: Running, size: int) -> None:
    """Let a service, and what it starts, write no larger file: a disk that is full for it alone."""
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("baked", [True, False], ids=["a baked file", "a folder"])
def test_data_for_which_there_is_no_room_leaves_the_old_served_and_is_told_once(
    serve: Serve, cache: Path, tmp_path: Path, *, baked: bool
) -> None:
    data = Data(tmp_path / "source", baked=baked)
    data.write(Generation(1))
    service = serve(data.path, "--poll", "0.1")
    with clients(*some_of(service)) as asking:
        limit(service, ROOM)
        data.write(Generation(2, weight=LARGE))
        eventually(lambda: not service.ready()["last_reload"]["ok"])
        first = service.ready()["last_reload"]
        eventually(lambda: service.ready()["last_reload"]["at"] != first["at"])  # it was tried again
        ready = service.ready()
        assert (ready["status"], ready["generation"]) == ("ready", 1)
        assert ready["last_reload"]["error"].endswith(": File too large")
        assert service.metrics()["store_directory_reload_success"] == 0
        assert sum("File too large; the previous data is still served" in line for line in service.logged()) == 1
        eventually(lambda: len(list(cache.glob("runs/*/*.baked"))) == 1)  # nothing is left of the attempt
        data.write(Generation(3))
        eventually(partial(all_see, asking, 3))
        assert eventually(lambda: service.ready()["last_reload"]["ok"])


def test_once_there_is_room_the_data_is_served_though_nobody_touches_it_again(serve: Serve, tmp_path: Path) -> None:
    data = Data(tmp_path / "source", baked=True)
    data.write(Generation(1))
    service = serve(data.path)
    with clients(*some_of(service)) as asking:
        limit(service, ROOM)
        data.write(Generation(2, weight=LARGE))
        eventually(lambda: not service.ready()["last_reload"]["ok"])
        limit(service, resource.RLIM_INFINITY)
        eventually(partial(all_see, asking, 2))
