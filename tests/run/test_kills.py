"""Whatever is killed at whatever moment, nothing half is ever served, and the next start is clean."""

import os
import signal
import subprocess
from pathlib import Path
from random import Random
from time import sleep

from service.baking.baked import load_baked
from service.loading.acceptance import Invalid, accept
from service.loading.version import dataset_version
from tests.program import (
    PROGRAM,
    compilers,
    environment,
    eventually,
    has_ended,
    kill,
    serving,
    started,
)
from tests.run.asking import clients, some_of
from tests.run.conftest import Serve
from tests.run.generations import Generation

HEAVY = 300_000


def test_a_start_after_a_run_that_was_killed_at_any_moment_is_clean(cache: Path, tmp_path: Path) -> None:
    folder, chance = Generation(1, weight=HEAVY).write(tmp_path / "data"), Random(3)
    options = ("--data", folder, "--cache", cache, "--no-auth")
    for attempt in range(5):
        with started(*options, "--workers", str(1 + attempt % 2)) as process:
            try:
                sleep(chance.uniform(0.2, 1.5))  # a moment of start, compilation or service
            finally:
                kill(process)
    with serving(*options) as service:
        (own,) = (cache / "runs").iterdir()
        assert own.name.startswith("run-")
        assert sorted(file.suffix or file.name for file in own.iterdir()) == [
            ".baked",
            ".json",
            "leader",
            "listening",
            "ready",
        ]
        with clients(*some_of(service)) as asking:
            eventually(lambda: all(client.answers > 10 for client in asking))
            assert {client.seen for client in asking} == {1}


def test_a_start_after_a_run_that_was_killed_over_a_reload_serves_the_new_data(cache: Path, tmp_path: Path) -> None:
    folder, chance = Generation(1).write(tmp_path / "data"), Random(4)
    for number in (2, 4):
        with serving("--data", folder, "--cache", cache, "--no-auth", "--workers", "2") as service:
            Generation(number, weight=HEAVY).write(folder)
            sleep(chance.uniform(0, 1))
            kill(service.process)
    with serving("--data", folder, "--cache", cache, "--no-auth") as service:
        assert len(list((cache / "runs").iterdir())) == 1
        with clients(*some_of(service)) as asking:
            eventually(lambda: all(client.seen == 4 for client in asking))


def test_a_compiler_that_is_killed_is_told_and_started_again(serve: Serve, tmp_path: Path) -> None:
    folder = Generation(1).write(tmp_path / "data")
    service = serve(folder)
    with clients(*some_of(service)) as asking:
        Generation(2).write(folder)
        (compiler,) = eventually(lambda: compilers(service.process.pid))
        os.kill(compiler, signal.SIGKILL)
        eventually(lambda: not service.ready()["last_reload"]["ok"])
        assert service.ready()["last_reload"]["error"].endswith("the compiler was ended by SIGKILL")
        assert all(client.seen == 1 for client in asking)
        eventually(lambda: all(client.seen == 2 for client in asking))


def test_a_compiler_ends_when_the_service_is_killed(cache: Path, tmp_path: Path) -> None:
    folder = Generation(1, weight=HEAVY).write(tmp_path / "data")
    with started("--data", folder, "--cache", cache) as process:
        try:
            (compiler,) = eventually(lambda: compilers(process.pid))
            process.kill()
            eventually(lambda: has_ended(compiler))
        finally:
            kill(process)


def test_baking_that_is_killed_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    folder, file, chance = tmp_path / "data", tmp_path / "set.baked", Random(5)
    Generation(1).bake(tmp_path).replace(file)
    Generation(2, weight=HEAVY).write(folder)
    for _ in range(5):
        with subprocess.Popen(
            [*PROGRAM, "bake", folder, file], stdout=subprocess.DEVNULL, env=environment({})
        ) as process:
            try:
                process.wait(chance.uniform(0.35, 0.65))
            except subprocess.TimeoutExpired:
                process.kill()
        dataset, _ = accept(load_baked(file), Invalid.REFUSE)
        assert dataset_version((dataset.stores, dataset.companies)) == dataset.version
