"""The tables of a matrix: which releases each cell had, and what came of its tests."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tests.matrix.cell import Result
from tests.matrix.dependencies import package, requirements

_NONE: Final = "-"


def passed(results: Sequence[Result]) -> bool:
    """Return whether there are results, and none with an error."""
    return bool(results) and not any(result.errors for result in results)


def report(results: Sequence[Result]) -> str:
    """Return the table of releases, a line for each error, and the table of what came of the tests."""
    cells = [f"{result.cell.python.release} {result.cell.resolution}" for result in results]
    releases = _table(["package", "bounds", *cells], _releases(results))
    outcomes = _table(["Python", "releases", "tests", "seconds"], map(_outcome, results))
    errors = "".join(f"{cell}: {error}\n" for cell, each in zip(cells, results, strict=True) for error in each.errors)
    return "\n" + "\n".join(filter(None, [releases, errors, outcomes]))


def _releases(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for each in requirements():
        name = package(each)
        yield (
            name,
            ",".join(sorted(map(str, each.specifier), reverse=True)),
            *(result.releases.get(name, _NONE) for result in results),
        )


def _outcome(result: Result) -> Sequence[str]:
    return result.cell.python.release, result.cell.resolution, result.tests, f"{result.seconds:.0f}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(f"{'  '.join(map(str.ljust, line, widths)).rstrip()}\n" for line in lines)
