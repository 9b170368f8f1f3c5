"""Whatever happens to the source, the previous data is still served, and the failure is logged once."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from service.baking.layout import map_file, write_file
from tests.program import Running, eventually
from tests.run.conftest import Serve
from tests.run.generations import Generation, flip
from tests.run.load_clients import all_see, running_clients, two_clients

pytestmark = pytest.mark.ci

Damage = Callable[[Path], object]


def cut(file: Path, kept: float) -> None:
    os.truncate(file, int(file.stat().st_size * kept))


def replace(file: Path, make: Callable[[Path], object]) -> None:
    """Replace a file atomically with something else."""
    replacement = file.with_name("replacement")
    make(replacement)
    replacement.rename(file)


def later_format(file: Path) -> None:
    """Replace a baked file with one of a later version of the program."""
    content = map_file(file)
    write_file(file, content.arrays, {**content.metadata, "format": "store-directory 99"})


# Each is atomic: the service could see the state between two steps, and log two failures.
OF_FILES: Mapping[str, Damage] = {
    "cut to nothing": partial(cut, kept=0),
    "half of it": partial(cut, kept=0.5),
    "a bit flipped": flip,
    "another format": later_format,
    "deleted": Path.unlink,
    "a link to a folder": lambda file: replace(file, lambda replacement: replacement.symlink_to(file.parent)),
    "a link to itself": lambda file: replace(file, lambda replacement: replacement.symlink_to(file)),
    "a pipe": lambda file: replace(file, os.mkfifo),
}


def failures(service: Running) -> list[str]:
    """Return the log lines of failed attempts."""
    return [line for line in service.logged() if "the previous data is still served" in line]


def wait_for_polls(cache: Path, count: int) -> None:
    """Wait for this many polls of the source, each of which writes the publication."""
    (publication,) = cache.glob("runs/*/publication.json")
    written = {publication.stat().st_mtime_ns}

    def polled() -> bool:
        written.add(publication.stat().st_mtime_ns)
        return len(written) > count

    eventually(polled)


def test_a_damaged_file_keeps_the_previous_data_served_and_is_logged_once_however_often_it_is_polled(
    serve: Serve, file: Path, cache: Path, tmp_path: Path
) -> None:
    service = serve(file, "--poll", "0.05")
    with running_clients(*two_clients(service)) as clients:
        for number, (name, damage) in enumerate(OF_FILES.items(), 2):
            damage(file)
            eventually(lambda: not service.ready()["last_reload"]["ok"])
            wait_for_polls(cache, 3)
            ready = service.ready()
            assert (ready["status"], ready["generation"]) == ("ready", number - 1), name
            assert ready["last_reload"]["error"], name
            assert service.metrics()["store_directory_reload_success"] == 0, name
            assert len(failures(service)) == number - 1, name
            assert all(client.seen == number - 1 for client in clients), name
            Generation(number).bake(tmp_path).replace(file)
            eventually(partial(all_see, clients, number))
            assert eventually(lambda: service.ready()["last_reload"]["ok"])
            assert service.metrics()["store_directory_reload_success"] == 1, name
