"""Discovery of Python interpreters: fake programs that print their release, in separate folders."""

from pathlib import Path

import pytest

from tests.matrix.pythons import Python, find_pythons, identify

pytestmark = pytest.mark.process

# As of a pyenv that has several, an environment of one of them, and none selected.
PYENV = "printf '%s\\n' system 2.7.18 3.9.18 3.12.9 3.12.10 3.13.0 3.13.0/envs/one"
SHIM = '[ -n "$PYENV_VERSION" ] || exit 127; echo 3.12.10 "$PYENV_VERSION"'


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folders of PATH, the last of which is not there."""
    folders = [tmp_path / name for name in ("one", "other", "missing")]
    for folder in folders[:2]:
        folder.mkdir()
    monkeypatch.setenv("PATH", ":".join(map(str, folders)))
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    return folders


def program(folder: Path, name: str, does: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{does}\n")
    file.chmod(0o755)


def test_each_release_on_the_path_is_found_once_and_the_oldest_is_first(path: list[Path]) -> None:
    program(path[1], "python3.9", "echo 3.9.18 /nine")
    program(path[1], "python3.13", "echo 3.13.0 /thirteen")
    program(path[1], "python3.11", "echo 3.11.7 /eleven with a space")
    program(path[0], "python3.13", "echo 3.13.5 /other thirteen")
    program(path[0], "python3.14", "echo 3.14.0rc1 /fourteen")
    assert find_pythons() == [
        Python("3.11.7", "/eleven with a space"),
        Python("3.13.5", "/other thirteen"),
        Python("3.14.0rc1", "/fourteen"),
    ]


def test_what_is_no_python_or_does_not_run_is_none(path: list[Path]) -> None:
    program(path[0], "python3.12", "exit 127")
    program(path[0], "python3.12-config", "echo 3.12.1 /config")
    program(path[0], "python3.13t", "echo 3.13.1 /threads")
    (path[0] / "python3.11").write_text("no program")
    assert find_pythons() == []
    assert identify("python3.10") is None


def test_those_of_pyenv_are_found_though_they_are_not_selected(path: list[Path]) -> None:
    program(path[0], "pyenv", PYENV)
    program(path[0], "python3.12", SHIM)
    assert find_pythons() == [Python("3.12.10", "3.13.0:3.12.10:3.12.9:3.9.18")]


def test_those_that_are_selected_are_kept(path: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    program(path[0], "pyenv", PYENV)
    program(path[0], "python3.12", SHIM)
    monkeypatch.setenv("PYENV_VERSION", "3.12.9")
    assert find_pythons() == [Python("3.12.10", "3.12.9")]
