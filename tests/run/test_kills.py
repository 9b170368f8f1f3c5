"""Whatever is killed at any moment, no incomplete data is served, and the next start is clean."""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.killed import killable
from tests.program import children, compilers, eventually, kill, serving, started, usage
from tests.run.generations import Generation
from tests.run.load_clients import running_clients, two_clients

pytestmark = [pytest.mark.process, pytest.mark.ci]

HEAVY = 300_000
LONG = 20_000  # more than one spool has in memory, in a few records
SPOOLS = 3  # at least: of the data file, of the rows in both orders


def has_compiled(_: int, cache: Path) -> bool:
    return any(cache.glob("runs/*/*.baked"))


def compiles(service: int, cache: Path) -> bool:
    """Return whether a compiler runs, or has ended unseen between two looks."""
    return any(map(compilers, (service, *children(service)))) or has_compiled(service, cache)


# Moments of a start: a condition that detects each, and a number of workers.
MOMENTS: Final[tuple[tuple[Callable[[int, Path], bool], int], ...]] = ((compiles, 2), (has_compiled, 1))


def test_a_start_after_runs_killed_during_their_start_is_clean(cache: Path, tmp_path: Path) -> None:
    folder = Generation(1, weight=HEAVY).write(tmp_path / "data")
    options = ("--data", folder, "--cache", cache, "--no-auth")
    for has_happened, workers in MOMENTS:
        with started(*options, "--workers", str(workers)) as process:
            try:
                eventually(lambda: has_happened(process.pid, cache))  # noqa: B023 - called at once
            finally:
                kill(process)
    with serving(*options) as service:
        (own,) = (cache / "runs").iterdir()
        assert own.name.startswith("run-")
        names = sorted(file.suffix or file.name for file in own.iterdir())
        assert names == [".baked", ".json", "leader", "listening", "ready"]
        with running_clients(*two_clients(service)) as clients:
            eventually(lambda: all(client.answers > 10 for client in clients))
            assert {client.seen for client in clients} == {1}


def bake(folder: str) -> None:
    """Bake the data in a folder; see `tests.killed`."""
    usage("bake", Path(folder, "data"), Path(folder, "set.baked"), "--memory", "64MiB")


def test_baking_killed_at_any_step_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """Nothing is left of spools, of which some are in files; what is left was to be the new file."""
    generations = Generation(1), Generation(2, weight=LONG)
    file, (old, new) = tmp_path / "set.baked", (each.bake(tmp_path).read_bytes() for each in generations)
    generations[1].write(tmp_path / "data")
    before, found, left = {*tmp_path.iterdir(), file}, [], []
    with killable("tests.run.test_kills:bake", tmp_path) as run:
        for step in count(1):
            file.write_bytes(old)
            killed = run(step)
            found.append(file.read_bytes())
            left.append(set(tmp_path.iterdir()) - before)
            for each in left[-1]:
                each.unlink()
            if not killed:
                break
    assert set(found[:-1]) <= {old, new}
    assert (found[0], found[-1]) == (old, new)
    assert all(path.match(".set.baked.*.part") for paths in left for path in paths)
    assert left.index(next(filter(None, left))) >= SPOOLS
