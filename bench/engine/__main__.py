"""Measure the steps of a request in this process: `python -m bench.engine`.

Arguments go to pytest: `-k 'select and city'`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.report import save, surroundings, table
from bench.servers import HOME


def main(*arguments: str) -> int:
    """Print the tables, and write them to README.md if nothing was deselected. Return pytest's exit status."""
    file = HOME / "engine.json"
    HOME.mkdir(exist_ok=True)
    own = ["--benchmark-quiet", f"--benchmark-json={file}", "--override-ini=addopts=--import-mode=importlib"]
    status = pytest.main([str(Path(__file__).parent), *own, *arguments])
    if status == pytest.ExitCode.OK:
        tables = markdown(json.loads(file.read_bytes())["benchmarks"])
        print(tables)
        if not arguments:
            save("engine", tables)
    return int(status)


def markdown(benchmarks: Sequence[Mapping[str, Any]]) -> str:
    """Return a table of the median times of the steps by shape."""
    times = {
        (case["step"], case["shape"]): f"{1e6 * each['stats']['median'] / requests:,.2f} µs"
        for each in benchmarks
        for case, requests in [(each["params"], each["extra_info"]["requests"])]
    }
    steps, shapes = (dict.fromkeys(names) for names in zip(*times, strict=True))
    rows = ([step, *(times.get((step, shape), "-") for shape in shapes)] for step in steps)
    return f"{surroundings()}\n\n{table(('step of a request', *shapes), rows)}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
