"""Lines on standard output: coloured and wrapped on a terminal, as they are in a pipe or a file."""

import os
import sys
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import TypeAlias
from unicodedata import east_asian_width

import click

# A text, and its style on a terminal as rich names it: "bold red".
StyledLine: TypeAlias = tuple[str, str]


def print_lines(lines: Iterable[StyledLine]) -> None:
    """Print lines. On a terminal the rest of a long line is indented by two more; NO_COLOR turns all styles off."""
    if not sys.stdout.isatty():
        click.echo("\n".join(text for text, _ in lines))
        return
    from rich.console import Console  # noqa: PLC0415 - slow to import, and needed on a terminal only
    from rich.text import Text  # noqa: PLC0415 - as above

    console = Console(color_system=None if os.environ.get("NO_COLOR") else "auto")
    for text, style in lines:
        body = text.lstrip()
        indent = len(text) - len(body)
        first, *rest = Text(body, style).wrap(console, console.width - indent - 2) or [Text()]
        for margin, part in ((indent, first), *((indent + 2, each) for each in rest)):
            console.print(" " * margin, part, sep="", highlight=False)


def shorten(text: str, columns: int) -> str:
    """Return a text truncated to a number of columns of a terminal, with an ellipsis if it is cut."""
    ends = list(accumulate(2 if east_asian_width(character) in "WF" else 1 for character in text))
    return text if not ends or ends[-1] <= columns else f"{text[: bisect_right(ends, columns - 1)]}…"
