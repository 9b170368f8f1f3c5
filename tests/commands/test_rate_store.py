"""`--rate-store`."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.program import eventually, run, run_here, serving
from tests.run.generations import Generation

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize("url", ["redis://user:the-secret", "http://the-secret", "redis://host?the_secret=1", ""])
def test_a_url_that_is_none_ends_the_start_with_one_line_that_does_not_repeat_it(url: str) -> None:
    ended = run_here("serve", STORE_DIRECTORY_RATE_STORE=url) if url else run_here("serve", "--rate-store", url)
    assert ended.returncode == 2
    name = "STORE_DIRECTORY_RATE_STORE" if url else "--rate-store"
    assert re.fullmatch(f"Error: {name}: (it|an option) .*", ended.stderr.splitlines()[-1])
    assert "secret" not in ended.stdout + ended.stderr


def test_without_the_package_for_redis_the_start_ends_with_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / "__init__.py").write_text("raise ImportError('as if it were not there')")
    ended = run("serve", "--rate-store", "redis://localhost", PYTHONPATH=str(tmp_path))
    assert ended.returncode == 2
    assert "--rate-store: it needs a package: pip install 'redis>=7,<8'\n" in ended.stderr
    assert "redis>=7,<8" in tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]["dev"]
    assert "Traceback" not in ended.stderr


def test_a_store_that_is_not_there_keeps_no_service_from_starting_and_is_told_before_anybody_asks(
    unused_tcp_port: int, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    url = f"redis://user:the-secret@127.0.0.1:{unused_tcp_port}"
    with serving("--data", Generation(1).bake(tmp_path), "--rate-store", url, "--workers", "2", log=log) as service:
        told = "the rate store does not respond (ConnectionError)"
        eventually(lambda: told in log.read_text())
        assert sum(told in line for line in service.logged()) == 1
        assert service.get("/stores?limit=1", service.key).status == 200
        assert service.end() == 0
    assert "secret" not in service.printed + log.read_text()
