"""Runs of the service, each with its own cache and log."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from tests.program import Running, serving
from tests.run.generations import Generation


class Serve(Protocol):
    """Runs the service over some data until the test ends."""

    def __call__(self, data: Path | str, /, *options: str) -> Running: ...


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a baked file of the first generation, to be replaced by the next ones."""
    return Generation(1).bake(tmp_path).replace(tmp_path / "set.baked")


@pytest.fixture
def serve(tmp_path: Path, cache: Path) -> Iterator[Serve]:
    with ExitStack() as runs:

        def start(data: Path | str, /, *options: str) -> Running:
            return runs.enter_context(
                serving("--data", data, "--cache", cache, "--no-auth", *options, log=tmp_path / "log")
            )

        yield start
