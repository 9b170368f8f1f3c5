"""Processes that read Parquet and workbooks start at once."""

import sys

import pytest

from service.reading import isolation
from tests.warm import Warm


@pytest.fixture(autouse=True)
def warm_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes of files, as those of the program. Tests of how they end start a new Python."""
    monkeypatch.setattr(isolation, "Popen", Warm)
    monkeypatch.setattr(isolation, "module_command", lambda module: (sys.executable, "-m", module))
