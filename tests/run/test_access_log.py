"""The access log of a run: a real process, or two."""

import os
import re
from pathlib import Path
from urllib.request import urlopen

import orjson
import pytest

from tests.directory import company, store, write_directory
from tests.program import SECONDS, eventually, run, started
from tests.run.conftest import Serve

_REQUESTS = 200


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "data", [store("s1")], [company("acme")])


def lines(text: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in text.splitlines()]


def test_workers_write_a_line_for_each_request(data: Path, tmp_path: Path, serve: Serve) -> None:
    log = tmp_path / "access.log"
    running = serve(data, "--workers", "2", "--access-log", str(log))
    for number in range(_REQUESTS):
        running.get(f"/stores?limit={number + 1}")
    running.end()
    told = [line for line in lines(log.read_text()) if line["path"] == "/stores"]
    assert len(told) == _REQUESTS
    assert len({line["request_id"] for line in told}) == _REQUESTS


def test_on_standard_output_it_stands_alone(data: Path, tmp_path: Path, cache: Path) -> None:
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
    """Return what a log holds once the service says that it is ready."""
    text = log.read_text()
    return text if "Docs: " in text else ""


def test_a_file_that_cannot_be_written_is_told_at_the_start(data: Path, tmp_path: Path) -> None:
    ended = run("serve", "--data", data, "--access-log", tmp_path / "nowhere" / "log")
    assert ended.returncode == 1
    assert ended.stderr == f"Error: --access-log: {tmp_path}/nowhere/log: No such file or directory\n"


def test_a_pipe_without_a_reader_is_told_at_the_start(data: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = run("serve", "--data", data, "--access-log", pipe)
    assert ended.returncode == 1
    assert ended.stderr == f"Error: --access-log: {pipe}: it is a pipe or socket, and nobody reads from it\n"


def test_a_log_of_json_has_nothing_but_json(data: Path, serve: Serve) -> None:
    running = serve(data, "--workers", "2", "--log-format", "json")
    eventually(running.logged)
    running.end()
    assert {line["level"] for line in lines("\n".join(running.logged()))} == {"info"}
