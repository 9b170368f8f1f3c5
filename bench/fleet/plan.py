"""What a planned rate of requests takes, by the measured CPU time and size of each: `python -m bench.fleet.plan`."""

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Final

import msgspec

from bench.markdown import fill, table
from bench.wire.http_report import Report

PAGE: Final = Path(__file__).parents[2] / "docs" / "fleet.md"
_RESULTS: Final = Path(__file__).parents[1] / "results" / "1000000.json"
_RATE: Final = 100_000
# So that half of the machines may fail.
_USED: Final = 0.5
# In the order of the rows, with what is exhausted first.
_FIRST: Final = {
    "not-modified": "-",
    "company": "-",
    "city-zstd-cached": "-",
    "city-zstd-not-cached": "CPU",
    "city": "bandwidth",
    "radius-unrepeated": "CPU, bandwidth",
    "page": "bandwidth",
    "clusters-dense-unrepeated": "CPU",
}


def markdown() -> str:
    """Return the plan as a table."""
    report = msgspec.json.decode(_RESULTS.read_bytes(), type=Report)
    return table(("all requests are", "CPU µs", "cores", "body, kB", "Gbit/s", "first exhausted"), _rows(report))


def _rows(report: Report) -> Iterator[Sequence[str]]:
    costs = {each.shape: each.medians("cpu_microseconds")[0] for each in report.low_level}
    facts = {shape.slug: shape for shape in report.shapes}
    for slug, first in _FIRST.items():
        cores, bits = costs[slug] * _RATE / 1e6 / _USED, facts[slug].mean_bytes * 8 * _RATE
        body = f"{facts[slug].mean_bytes / 1e3:,.1f}"
        yield facts[slug].title, f"{costs[slug]:,.1f}", f"{ceil(cores):,}", body, f"{bits / 1e9:,.1f}", first


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text("utf-8"), "plan", markdown()), "utf-8")
