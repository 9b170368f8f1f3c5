"""Measure the steps of an answer in this process: `python -m bench.engine`, with `--large` on 1,000,000 stores too.

What else is given goes to pytest: `-k 'select and city'`.
"""

import sys
from pathlib import Path

import msgspec
import pytest

from bench.engine.report import Report, markdown
from bench.markdown import save
from bench.wire.contender import HOME


def main(*arguments: str) -> int:
    """Print the table; where everything was measured, keep it in README.md. Return pytest's exit status."""
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
