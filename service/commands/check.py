"""`store-directory check`: the errors and warnings of a data set."""

import json
import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, TypeAlias
from unicodedata import east_asian_width

import click
import msgspec
import orjson

from service.commands.options import DATA, SETTINGS, data_errors, make_settings
from service.engine.table import Table
from service.loading.dataset import Loaded, groups, load
from service.model.records import ATTRIBUTES, PREFIX
from service.reading.diagnostics import Diagnostic
from service.server.log import shown_progress
from service.texts import counted

# A text, and its style on a terminal, as SGR of ECMA-48 has it: "1;31" is bold and red.
StyledLine: TypeAlias = tuple[str, str]


def shorten(text: str, columns: int) -> str:
    """Return a text truncated to a number of columns of a terminal, with an ellipsis if it is cut."""
    ends = list(accumulate(2 if east_asian_width(character) in "WF" else 1 for character in text))
    return text if not ends or ends[-1] <= columns else f"{text[: bisect_right(ends, columns - 1)]}…"


_EXAMPLES: Final = 5
_SHOWN: Final = 3  # stores
_COLUMNS: Final = 57  # of a value: with the longest name of a field, a line fits in 80 columns and is not wrapped
_BOLD: Final = "1"
_DIM: Final = "2"
_STYLES: Final = {"error": "1;31", "warning": "1;33"}


@click.command(params=[SETTINGS[name] for name in ("mapping", "encoding", "places", "min_stores")])
@DATA
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@click.pass_context
def check(context: click.Context, /, data: Path, *, as_json: bool, **values: Any) -> None:
    """Report all errors and warnings of the data set in DATA. Exit with 1 if there is an error, or no store.

    DATA is a folder, a data file or a zip archive. Records with errors are invalid: `serve` does not serve them.
    Warnings have no effect.
    """
    settings = make_settings(values)
    with data_errors(data), shown_progress() as progress:
        loaded = load(data, options=settings.read_options, progress=progress)
    if as_json:
        click.echo(msgspec.json.encode(loaded.report))
    else:
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        for text, style in _lines(loaded):
            body = text.lstrip()
            styled = f"{text[: -len(body)]}\x1b[{style}m{body}\x1b[0m"
            click.echo(text if plain or not style else styled)
    if loaded.report.errors:
        context.exit(1)
    with data_errors(data):
        settings.safeguards.check(loaded.report.totals)


def _lines(loaded: Loaded) -> Iterator[StyledLine]:
    """Yield the report's lines.

    What was assumed; errors and warnings by code, with counts and examples of each field; the first records; how many
    stores have no location; totals.
    """
    yield from ((text, "") for text in loaded.assumed)
    for group in groups(loaded):
        yield f"{group}", _STYLES[group.kind]
        examples = _examples(group.listed)
        for example in examples:
            field, value = (text and shorten(text, _COLUMNS) for text in (example.field, example.value))
            yield f"  {msgspec.structs.replace(example, field=field, value=value)}", ""
        if group.count > len(examples):
            yield f"  … and {group.count - len(examples):,} more (see --json)", _DIM
    if loaded.dataset is not None and len(loaded.dataset.stores):
        yield "the first stores in the default order, by created_at, as they are served:", _BOLD
        yield from _first_stores(loaded.dataset.stores)
        total, locations = len(loaded.dataset.stores), loaded.dataset.stores.locations
        if unlocated := total - (locations.count if locations else 0):
            yield f"{unlocated:,} of {counted(total, 'store')} without a location", ""
    totals = loaded.report.totals
    yield (
        (
            f"{counted(totals.stores, 'store')} and {counted(totals.companies, 'company', 'companies')} can be served; "
            f"{counted(totals.skipped, 'invalid record')}, {totals.repeated:,} repeated"
        ),
        _BOLD,
    )


def _first_stores(stores: Table) -> Iterator[StyledLine]:
    """Yield the first stores in the default order, as they are served: a line for each value, one between stores."""
    for row in range(min(_SHOWN, len(stores))):
        if row:
            yield "", ""
        store = orjson.loads(stores.row(row))
        store |= {PREFIX + name: value for name, value in store.pop(ATTRIBUTES, {}).items()}
        width = max(map(len, store))
        for name, value in store.items():
            text = shorten(_printable_json(orjson.dumps(value).decode()), _COLUMNS)
            yield f"  {name:{width}}  {text}", _DIM if value is None else ""


def _printable_json(text: str) -> str:
    """Return JSON that is safe to print: unprintable characters, which are in strings, as JSON escapes them."""
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)


def _examples(listed: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the first few of each file and field."""
    by_field: defaultdict[tuple[str, str | None], list[Diagnostic]] = defaultdict(list)
    for fault in listed:
        by_field[fault.file, fault.field].append(fault)
    return [fault for found in by_field.values() for fault in found[:_EXAMPLES]]
