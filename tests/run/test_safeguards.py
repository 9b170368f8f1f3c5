"""A reload that looks like an accident is refused; options or a restart allow it."""

import os
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from tests.baking.random_datasets import baked_file
from tests.directory import store, write_directory
from tests.http_server import serving_files
from tests.program import Running, eventually, run, start_error
from tests.run.conftest import Serve
from tests.run.test_workers import compiling, kill_worker

pytestmark = [pytest.mark.process, pytest.mark.ci]

MANY, SOME, FEW = 100, 60, 20
LATER = datetime(2099, 1, 1, tzinfo=UTC).timestamp()
HEADER = b"store_id,company_id,address_1,city,country\n"
EMPTIED = (
    "0 stores, at least 1 needed; 0 of 100 stores left, 100 % fewer than served now; "
    "--min-stores 0 --max-shrink 1 allows that"
)
SHRUNK = "20 of 100 stores left, 80 % fewer than served now; --max-shrink 0.8 allows that"
NONE = "0 stores, at least 1 needed; --min-stores 0 allows that"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "companies.csv").write_text("company_id,name\nacme,Acme\n")
    write_stores(folder, MANY)
    return folder


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "empty", [])


def write_stores(folder: Path, stores: int, city: str = "Toronto") -> None:
    """Write this many stores into a folder."""
    rows = b"".join(b"s%d,acme,1 Main St,%b,CA\n" % (number, city.encode()) for number in range(stores))
    (folder / "stores.csv").write_bytes(HEADER + rows)


def has_refused(service: Running, why: str, since: str = "") -> bool:
    """Return whether the last reload was refused for this reason, by /ready and the metrics."""
    reload = service.ready()["last_reload"]
    counted = service.metrics()["store_directory_reload_success"]
    return (reload["ok"], reload["error"], counted) == (False, why, 0) and bool(reload["at"] > since)


def serves(service: Running, stores: int) -> bool:
    return {service.metrics()["store_directory_stores"], service.ready()["stores"]} == {stores}


def test_a_file_emptied_to_its_header_is_refused_and_reported_also_after_sighup(serve: Serve, folder: Path) -> None:
    service = serve(folder, "--workers", "2")
    write_stores(folder, 0)
    eventually(partial(has_refused, service, EMPTIED))
    since = service.ready()["last_reload"]["at"]
    service.process.send_signal(signal.SIGHUP)
    eventually(partial(has_refused, service, EMPTIED, since))
    assert serves(service, MANY)
    (line,) = (line for line in service.logged() if "fewer" in line)
    assert line.endswith(f" {EMPTIED}; the previous data is still served")
    write_stores(folder, SOME)
    eventually(partial(serves, service, SOME))
    eventually(lambda: service.ready()["last_reload"]["ok"])  # any worker may respond


def test_a_reload_is_compared_with_the_served_data_under_any_leader_and_a_restart_accepts_it(
    serve: Serve, folder: Path
) -> None:
    service = serve(folder, "--workers", "2")
    write_stores(folder, FEW)
    ((leader, _),) = eventually(partial(compiling, service))
    eventually(partial(has_refused, service, SHRUNK))
    kill_worker(service, leader)
    since = service.ready()["last_reload"]["at"]
    write_stores(folder, FEW, "Ottawa")
    eventually(partial(has_refused, service, SHRUNK, since))
    assert serves(service, MANY)
    service.end()
    assert serves(serve(folder), FEW)


def test_a_reload_that_the_options_allow_is_served(serve: Serve, folder: Path) -> None:
    service = serve(folder, "--min-stores", "0", "--max-shrink", "1")
    write_stores(folder, 0)
    eventually(partial(serves, service, 0))
    eventually(lambda: service.ready()["last_reload"]["ok"])  # any worker may respond


def test_a_start_without_stores_is_exit_1_and_a_clear_line_and_leaves_nothing(
    empty: Path, tmp_path: Path, cache: Path
) -> None:
    baked = baked_file(empty, tmp_path / "empty.baked")
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


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """Serve the folder `web`; return its URL."""
    (tmp_path / "web").mkdir()
    with serving_files(tmp_path / "web") as address:
        yield address


def test_a_refused_file_of_an_origin_does_not_replace_the_last_good_copy(
    serve: Serve, folder: Path, tmp_path: Path, web: str
) -> None:
    file, url = tmp_path / "web" / "set.baked", f"{web}/set.baked"
    baked_file(folder, file)
    service = serve(url, "--poll", "0.1")
    write_stores(folder, FEW)
    os.utime(baked_file(folder, file), (LATER, LATER))  # the fingerprint is Last-Modified, in seconds
    eventually(partial(has_refused, service, SHRUNK))
    assert serves(service, MANY)
    service.end()
    file.rename(tmp_path / "gone.baked")
    service = serve(url, "--poll", "0.1")
    assert serves(service, MANY)
    (tmp_path / "gone.baked").rename(file)
    eventually(partial(has_refused, service, SHRUNK))  # compared with the copy with which the run started
    assert serves(service, MANY)
    service.end()
    service = serve(url, "--poll", "0.1", "--max-shrink", "1")
    eventually(partial(serves, service, FEW))
