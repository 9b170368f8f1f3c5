"""The access log of a real run with one or two workers."""

import os
import re
from pathlib import Path
from urllib.request import urlopen

import orjson
import pytest

from tests.program import SECONDS, eventually, run_here, serving, started
from tests.run.generations import Generation

pytestmark = pytest.mark.process

_REQUESTS = 200


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Generation(1).bake(tmp_path)


def lines(text: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in text.splitlines()]


def test_workers_write_a_line_for_each_request_and_a_log_in_json_contains_only_json(
    data: Path, tmp_path: Path, cache: Path
) -> None:
    logs = ("--access-log", tmp_path / "access.log", "--log-format", "json")
    options = ("--cache", cache, "--no-auth", "--workers", "2", *logs)
    with serving("--data", data, *options, log=tmp_path / "log") as service:
        for number in range(_REQUESTS):
            service.get(f"/stores?limit={number + 1}")
        service.end()
    entries = [line for line in lines((tmp_path / "access.log").read_text()) if line["path"] == "/stores"]
    assert len(entries) == len({line["request_id"] for line in entries}) == _REQUESTS
    assert {line["level"] for line in lines((tmp_path / "log").read_text())} == {"info"}


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
