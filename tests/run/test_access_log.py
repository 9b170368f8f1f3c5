"""The access log of a real run with one or two workers."""

import os
import re
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import orjson
import pytest

from tests.program import SECONDS, eventually, run_here, serving, started
from tests.run.generations import Generation

pytestmark = pytest.mark.process

_REQUESTS = 200


class Written(NamedTuple):
    """The lines of both logs of a run."""

    access_log: list[dict[str, object]]
    log: list[dict[str, object]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Generation(1).bake(tmp_path)


def lines(text: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Return the logs of two workers that served some requests and ended."""
    folder = tmp_path_factory.mktemp("written")
    logs = ("--access-log", folder / "access.log", "--log-format", "json")
    options = ("--cache", folder / "cache", "--no-auth", "--workers", "2", *logs)
    with serving("--data", Generation(1).bake(folder), *options, log=folder / "log") as service:
        for number in range(_REQUESTS):
            service.get(f"/stores?limit={number + 1}")
        service.end()
        return Written(lines((folder / "access.log").read_text()), lines((folder / "log").read_text()))


def test_workers_write_a_line_for_each_request(written: Written) -> None:
    entries = [line for line in written.access_log if line["path"] == "/stores"]
    assert len(entries) == _REQUESTS
    assert len({line["request_id"] for line in entries}) == _REQUESTS


def test_a_log_in_json_contains_only_json(written: Written) -> None:
    assert {line["level"] for line in written.log} == {"info"}


def test_standard_output_contains_only_the_access_log(data: Path, tmp_path: Path, cache: Path) -> None:
    log = tmp_path / "log"
    with started("--data", data, "--cache", cache, "--no-auth", "--access-log", "-", log=log) as process:
        address = re.search(r"^Listening on (\S+)$", eventually(lambda: _ready(log)), re.MULTILINE)
        assert address is not None
        with urlopen(f"{address[1]}/health") as response:  # noqa: S310 - an address of our own
            assert response.status == 200
        process.terminate()
        printed, _ = process.communicate(timeout=SECONDS)
    assert [line["path"] for line in lines(printed)] == ["/health"]


def _ready(log: Path) -> str:
    """Return the log once the service has printed that it is ready."""
    text = log.read_text()
    return text if "Docs: " in text else ""


@pytest.mark.parametrize(
    ("name", "why"),
    [("nowhere/log", "No such file or directory"), ("pipe", "no process reads from this pipe or socket")],
)
def test_a_file_that_cannot_be_written_is_an_error_at_the_start(
    data: Path, tmp_path: Path, name: str, why: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    ended = run_here("serve", "--data", data, "--access-log", tmp_path / name)
    assert (ended.returncode, ended.stderr) == (1, f"Error: --access-log: {tmp_path / name}: {why}\n")
