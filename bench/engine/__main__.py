"""Measure the steps of a request in this process: `python -m bench.engine`, `--large` for 1,000,000 stores too.

Other arguments go to pytest: `-k 'select and city'`.
"""

import sys
from pathlib import Path

import msgspec
import pytest

from bench.engine.engine_report import Report, markdown
from bench.markdown import save
from bench.wire.contender import HOME


def main(*arguments: str) -> int:
    """Print the table, and write it to README.md if nothing was deselected. Return pytest's exit status."""
    file = HOME / "engine.json"
    HOME.mkdir(exist_ok=True)
    own = ["--benchmark-quiet", f"--benchmark-json={file}", "--override-ini=addopts=--import-mode=importlib"]
    status = pytest.main([str(Path(__file__).parent), *own, *arguments])
    if status == pytest.ExitCode.OK:
        report = msgspec.json.decode(file.read_bytes(), type=Report)
        print(markdown(report))
        if not set(arguments) - {"--large"}:
            save("engine", results=report, tables=markdown(report))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
