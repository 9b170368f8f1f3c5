"""`--rate-store`."""

import tomllib
from pathlib import Path

import pytest

from tests.program import eventually, run, serving
from tests.run.generations import Generation

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.process
def test_without_the_redis_package_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    (tmp_path / "redis" / "__init__.py").write_text("raise ImportError('as if it were not there')")
    ended = run("serve", "--rate-store", "redis://localhost", PYTHONPATH=str(tmp_path))
    assert ended.returncode == 2
    assert "--rate-store: this needs the package redis: pip install 'redis>=7,<9'\n" in ended.stderr
    assert "redis>=7,<9" in tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]["dev"]
    assert "Traceback" not in ended.stderr


@pytest.mark.process
def test_an_unreachable_store_is_logged_and_does_not_prevent_the_start(unused_tcp_port: int, tmp_path: Path) -> None:
    log = tmp_path / "log"
    url = f"redis://user:the-secret@127.0.0.1:{unused_tcp_port}"
    with serving("--data", Generation(1).bake(tmp_path), "--rate-store", url, "--workers", "2", log=log) as service:
        message = "the rate store does not respond (ConnectionError)"
        eventually(lambda: message in log.read_text())
        assert sum(message in line for line in service.logged()) == 1
        assert service.get("/stores?limit=1", service.key).status == 200
        assert service.end() == 0
    assert "secret" not in service.printed + log.read_text()
