"""Markdown tables, and the marked sections of pages that benchmarks write."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

_ROOM: Final = Path(__file__).parent


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def fill(text: str, name: str, tables: str) -> str:
    """Replace the text between the marks of a name; without the marks the text is unchanged."""
    mark, end = f"<!-- table:{name} -->", f"<!-- end:{name} -->"
    between = re.compile(f"{re.escape(mark)}.*{re.escape(end)}", re.DOTALL)
    return between.sub(lambda _: f"{mark}\n{tables}{end}", text)


def save(name: str, *, results: object, tables: str, page: Path = _ROOM / "README.md") -> None:
    """Write the results of a benchmark to `results/`, as JSON, and its tables into the marked section of a page."""
    folder = _ROOM / "results"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")
    page.write_text(fill(page.read_text("utf-8"), name, tables), "utf-8")
