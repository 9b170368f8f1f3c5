"""The process that compiles data files."""

from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from service.background import module_command
from service.dataset import InvalidRecords
from service.publishing import compiler_process
from service.reading.files.container import data_signature
from tests.directory import company, store, write_directory
from tests.program import SECONDS


@pytest.mark.process
@pytest.mark.parametrize("closed", ["stdin", "stdout"])
def test_a_compiler_that_outlives_its_parent_ends_without_a_traceback(tmp_path: Path, closed: str) -> None:
    folder = write_directory(tmp_path / "data", [store("s1")], [company()])
    fingerprint = data_signature(folder).fingerprint
    arguments = (str(folder), str(tmp_path / "baked"), InvalidRecords.REFUSE.value, fingerprint)
    command = module_command(compiler_process.__name__, *arguments)
    with Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        getattr(process, closed).close()  # the other one stays open
        assert process.wait(SECONDS) == 1
        assert process.stderr is not None
        assert process.stderr.read() == b""
