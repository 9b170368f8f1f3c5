"""Markdown tables, and the marked places of pages that benches fill in."""

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
    """Return a text with what stands between the marks of a name replaced; without the marks it stays as it is."""
    mark, end = f"<!-- table:{name} -->", f"<!-- end:{name} -->"
    between = re.compile(f"{re.escape(mark)}.*{re.escape(end)}", re.DOTALL)
    return between.sub(lambda _: f"{mark}\n{tables}{end}", text)


def keep(name: str, *, found: object, tables: str, page: Path = _ROOM / "README.md") -> None:
    """Write what a bench found into `results/`, as JSON, and its tables into the marked place of a page."""
    results = _ROOM / "results"
    results.mkdir(exist_ok=True)
    (results / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    page.write_text(fill(page.read_text("utf-8"), name, tables), "utf-8")
