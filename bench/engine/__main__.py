"""Measure the steps of a request in this process: `python -m bench.engine`, `--large` for 1,000,000 stores too.

Other arguments go to pytest: `-k 'select and city'`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from bench.report import save, surroundings, table
from bench.servers import HOME

_ALL_STEPS: Final = 100_000


def main(*arguments: str) -> int:
    """Print the tables, and write them to README.md if nothing was deselected. Return pytest's exit status."""
    file = HOME / "engine.json"
    HOME.mkdir(exist_ok=True)
    own = ["--benchmark-quiet", f"--benchmark-json={file}", "--override-ini=addopts=--import-mode=importlib"]
    status = pytest.main([str(Path(__file__).parent), *own, *arguments])
    if status == pytest.ExitCode.OK:
        tables = markdown(json.loads(file.read_bytes())["benchmarks"])
        print(tables)
        if not set(arguments) - {"--large"}:
            save("engine", tables)
    return int(status)


def markdown(benchmarks: Sequence[Mapping[str, Any]]) -> str:
    """Return tables of the median times: of some steps by number of stores, and of all by shape."""
    times = {
        (case["step"], case["shape"], case["stores"]): f"{1e6 * each['stats']['median'] / requests:,.2f} µs"
        for each in benchmarks
        for case, requests in [(each["params"], each["extra_info"]["requests"])]
    }
    steps, shapes, stores = (dict.fromkeys(names) for names in zip(*times, strict=True))
    sizes, cases = sorted(stores), dict.fromkeys((step, shape) for step, shape, size in times if size != _ALL_STEPS)
    of_sizes = ([*case, *(times.get((*case, size), "-") for size in sizes)] for case in cases)
    of_all = ([step, *(times.get((step, shape, _ALL_STEPS), "-") for shape in shapes)] for step in steps)
    by_size = table(("step", "shape", *(f"{size:,} stores" for size in sizes)), of_sizes)
    return f"{surroundings()}\n\n{by_size}\n{table(('step of a request', *shapes), of_all)}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
