"""Whatever happens to the source, the previous data is still served, and the failure is logged once."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from service.baking.layout import map_file, write_file
from tests.loading.data_files import packed
from tests.program import Running, eventually
from tests.publishing.test_remote_source import header_of_length
from tests.run.conftest import Serve
from tests.run.generations import COMPANIES, STORES, Generation, put, swap_link
from tests.run.load_clients import all_see, running_clients, two_clients

pytestmark = pytest.mark.ci

Damage = Callable[[Path], object]
Repair = Callable[[Generation], object]
POLL = ("--poll", "0.05")


def cut(file: Path, kept: float) -> None:
    os.truncate(file, int(file.stat().st_size * kept))


def flip(file: Path) -> None:
    with file.open("r+b") as stored:
        stored.seek(-100, os.SEEK_END)
        (byte,) = stored.read(1)
        stored.seek(-100, os.SEEK_END)
        stored.write(bytes([byte ^ 1]))


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
OF_FOLDERS: Mapping[str, Damage] = {
    "a file cut": lambda folder: cut(folder / STORES, 0.5),
    "a file deleted": lambda folder: (folder / COMPANIES).unlink(),
    "gone": lambda folder: folder.resolve().rename(folder.with_name("moved")),
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


def check_survives(service: Running, cache: Path, damages: Mapping[str, Damage], data: Path, repair: Repair) -> None:
    """Damage the data in one way after the other, and repair it each time, under requests."""
    with running_clients(*two_clients(service)) as clients:
        for number, (name, damage) in enumerate(damages.items(), 2):
            damage(data)
            eventually(lambda: not service.ready()["last_reload"]["ok"])
            wait_for_polls(cache, 3)
            ready = service.ready()
            assert (ready["status"], ready["generation"]) == ("ready", number - 1), name
            assert ready["last_reload"]["error"], name
            assert service.metrics()["store_directory_reload_success"] == 0, name
            assert len(failures(service)) == number - 1, name
            assert all(client.seen == number - 1 for client in clients), name
            repair(Generation(number))
            eventually(partial(all_see, clients, number))
            assert eventually(lambda: service.ready()["last_reload"]["ok"])
            assert service.metrics()["store_directory_reload_success"] == 1, name


def test_a_damaged_baked_file_keeps_the_previous_data_served(serve: Serve, cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    Generation(1).bake(tmp_path).replace(file)
    check_survives(serve(file, *POLL), cache, OF_FILES, file, lambda following: following.bake(tmp_path).replace(file))


def test_a_damaged_compressed_file_keeps_the_previous_data_served(serve: Serve, cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.baked.zst"

    def repair(generation: Generation) -> None:
        put(packed(generation.bake(tmp_path).read_bytes(), file.name), file)

    damages: dict[str, Damage] = {
        "truncated": lambda path: put(path.read_bytes()[:-5], path),
        "bomb": lambda path: put(packed(header_of_length(1000) + bytes(1 << 24), path.name), path),
        "not compressed": lambda path: put(Generation(1).bake(tmp_path).read_bytes(), path),
    }
    repair(Generation(1))
    check_survives(serve(file, *POLL), cache, damages, file, repair)


def test_a_damaged_folder_keeps_the_previous_data_served(serve: Serve, cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"

    def repair(generation: Generation) -> None:
        swap_link(folder, generation.write(tmp_path / generation.name))

    repair(Generation(1))
    check_survives(serve(folder, *POLL), cache, OF_FOLDERS, folder, repair)


def test_a_baked_file_written_slowly_in_place_is_served_once_it_is_complete(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    Generation(1).bake(tmp_path).replace(file)
    content = Generation(2).bake(tmp_path).read_bytes()
    service = serve(file)
    with running_clients(*two_clients(service)) as clients:
        with file.open("wb", buffering=0) as stored:
            for part in range(3):
                stored.write(content[part * len(content) // 4 : (part + 1) * len(content) // 4])
                eventually(lambda: not service.ready()["last_reload"]["ok"])
            assert all(client.seen == 1 for client in clients)
            stored.write(content[3 * len(content) // 4 :])
        eventually(partial(all_see, clients, 2))
