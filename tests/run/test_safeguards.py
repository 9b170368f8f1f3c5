"""A reload that looks like an accident is refused; options allow it."""

import signal
from functools import partial
from pathlib import Path

import pytest

from tests.directory import store, write_directory
from tests.program import Running, eventually, run, start_error
from tests.run.conftest import Serve
from tests.run.generations import bake_stores

pytestmark = [pytest.mark.process, pytest.mark.ci]

EMPTIED = (
    "0 stores, at least 1 needed; 0 of 20 stores left, 100 % fewer than served now; "
    "--min-stores 0 --max-shrink 1 allows that"
)
NONE = "0 stores, at least 1 needed; --min-stores 0 allows that"


def has_refused(service: Running, why: str, since: str = "") -> bool:
    """Return whether the last reload was refused for this reason, by /ready and the metrics."""
    reload = service.ready()["last_reload"]
    counted = service.metrics()["store_directory_reload_success"]
    return (reload["ok"], reload["error"], counted) == (False, why, 0) and bool(reload["at"] > since)


def serves(service: Running, stores: int) -> bool:
    return {service.metrics()["store_directory_stores"], service.ready()["stores"]} == {stores}


def test_a_reload_that_an_option_allows_is_served_and_another_refused_and_reported_also_after_sighup(
    serve: Serve, tmp_path: Path
) -> None:
    service = serve(bake_stores(tmp_path, 100), "--workers", "2", "--max-shrink", "0.9")
    bake_stores(tmp_path, 20)
    eventually(partial(serves, service, 20))
    bake_stores(tmp_path, 0)
    eventually(partial(has_refused, service, EMPTIED))
    since = service.ready()["last_reload"]["at"]
    service.process.send_signal(signal.SIGHUP)
    eventually(partial(has_refused, service, EMPTIED, since))
    assert serves(service, 20)
    (line,) = (line for line in service.logged() if "fewer" in line)
    assert line.endswith(f" {EMPTIED}; the previous data is still served")
    bake_stores(tmp_path, 19)
    eventually(partial(serves, service, 19))
    eventually(lambda: service.ready()["last_reload"]["ok"])  # any worker may respond


def test_a_start_without_stores_is_exit_1_and_a_clear_line_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    baked = bake_stores(tmp_path, 0)
    ended = run("serve", "--port", "0", "--data", baked, "--cache", cache, "--workers", "2")
    assert (ended.returncode, start_error(ended)) == (1, f"Error: the data set in {baked} is rejected: {NONE}\n")
    assert list((cache / "runs").iterdir()) == []


def test_settings_of_the_environment_and_of_a_file_are_limits_too(cache: Path, tmp_path: Path) -> None:
    faulty = write_directory(tmp_path / "faulty", [store("s1"), store("s2", city=None)])
    (tmp_path / "settings.toml").write_text("invalid = 'skip'\nmax-skipped = 0.25\n")
    options = ("--data", faulty, "--config", tmp_path / "settings.toml", "--cache", cache)
    ended = run("serve", "--port", "0", *options, STORE_DIRECTORY_MIN_STORES="2")
    reason = (
        "1 stores, at least 2 needed; 1 of 3 records skipped, 33.3 %; --min-stores 1 --max-skipped 0.34 allows that"
    )
    *_, error = start_error(ended).splitlines()  # behind the progress, on a slow machine
    assert error == f"Error: the data set in {faulty} is rejected: {reason}"
