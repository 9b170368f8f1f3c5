"""Whatever happens to the data while it is served: the old data is answered on, and the failure is told, once."""

import os
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from random import Random

from tests.program import Running, eventually
from tests.run.asking import all_see, clients, some_of
from tests.run.conftest import Serve
from tests.run.generations import COMPANIES, MANIFEST, STORES, Generation, put

Damage = Callable[[Path], object]
Mend = Callable[[Path, Generation], object]
POLL = ("--poll", "0.05")


def cut(file: Path, kept: float) -> None:
    os.truncate(file, int(file.stat().st_size * kept))


def flip(file: Path) -> None:
    with file.open("r+b") as stored:
        stored.seek(-100, os.SEEK_END)
        (byte,) = stored.read(1)
        stored.seek(-100, os.SEEK_END)
        stored.write(bytes([byte ^ 1]))


def garble(file: Path) -> None:
    """Overwrite a file in place, as long as it was."""
    with file.open("r+b") as stored:
        stored.write(Random(7).randbytes(file.stat().st_size))


def replace(file: Path, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a file: at once, so that nobody finds nothing there, but for a folder."""
    beside = file.with_name("beside")
    make(beside)
    if beside.is_dir():
        file.unlink()
    beside.rename(file)


OF_FILES: Mapping[str, Damage] = {
    "cut to nothing": partial(cut, kept=0),
    "cut to its header": partial(cut, kept=0.01),
    "half of it": partial(cut, kept=0.5),
    "all but its end": partial(cut, kept=0.999),
    "a bit flipped": flip,
    "garbled": garble,
    "deleted": Path.unlink,
    "a folder": lambda file: replace(file, Path.mkdir),
    "a link to itself": lambda file: replace(file, lambda beside: beside.symlink_to(file)),
    "a pipe": lambda file: replace(file, os.mkfifo),
}
OF_FOLDERS: Mapping[str, Damage] = {
    "a file cut": lambda folder: cut(folder / STORES, 0.5),
    "a file deleted": lambda folder: (folder / COMPANIES).unlink(),
    "a file garbled": lambda folder: garble(folder / STORES),
    "a manifest that lies": lambda folder: put(Generation(1000).files()[MANIFEST], folder / MANIFEST),
    "gone": shutil.rmtree,
}


def failures(service: Running) -> list[str]:
    """Return the lines of the log that tell of a failed attempt."""
    return [line for line in service.logged() if "what was served stays" in line]


def see_polls(cache: Path, count: int) -> None:
    """Wait until the source was looked at so many times: what is published is written anew each time."""
    (publication,) = cache.glob("runs/*/publication.json")
    written = {publication.stat().st_mtime_ns}

    def look() -> bool:
        written.add(publication.stat().st_mtime_ns)
        return len(written) > count

    eventually(look)


def check_survives(service: Running, cache: Path, damages: Mapping[str, Damage], data: Path, mend: Mend) -> None:
    """Damage the data in one way after the other, and mend it each time; clients ask meanwhile."""
    with clients(*some_of(service)) as asking:
        for number, (name, damage) in enumerate(damages.items(), 2):
            damage(data)
            eventually(lambda: not service.ready()["last_reload"]["ok"])
            see_polls(cache, 3)
            ready = service.ready()
            assert (ready["status"], ready["generation"]) == ("ready", number - 1), name
            assert ready["last_reload"]["error"], name
            assert service.metrics()["store_directory_reload_success"] == 0, name
            assert len(failures(service)) == number - 1, name
            assert all(client.seen == number - 1 for client in asking), name
            mend(data, Generation(number))
            eventually(partial(all_see, asking, number))
            assert eventually(lambda: service.ready()["last_reload"]["ok"])
            assert service.metrics()["store_directory_reload_success"] == 1, name


def test_a_baked_file_damaged_in_any_way_leaves_the_old_data_served(serve: Serve, cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    Generation(1).bake(tmp_path).replace(file)

    def mend(data: Path, generation: Generation) -> None:
        baked = generation.bake(tmp_path)
        if data.is_dir():
            data.rmdir()
        baked.replace(data)

    check_survives(serve(file, *POLL), cache, OF_FILES, file, mend)


def test_a_folder_damaged_in_any_way_leaves_the_old_data_served(serve: Serve, cache: Path, tmp_path: Path) -> None:
    folder = Generation(1).write(tmp_path / "data")
    check_survives(serve(folder, *POLL), cache, OF_FOLDERS, folder, lambda data, next_one: next_one.write(data))


def test_a_baked_file_written_slowly_and_in_place_is_served_once_it_is_whole(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "set.baked"
    Generation(1).bake(tmp_path).replace(file)
    content = Generation(2).bake(tmp_path).read_bytes()
    service = serve(file)
    with clients(*some_of(service)) as asking:
        with file.open("wb", buffering=0) as stored:
            for part in range(3):
                stored.write(content[part * len(content) // 4 : (part + 1) * len(content) // 4])
                eventually(lambda: not service.ready()["last_reload"]["ok"])
            assert all(client.seen == 1 for client in asking)
            stored.write(content[3 * len(content) // 4 :])
        eventually(partial(all_see, asking, 2))
