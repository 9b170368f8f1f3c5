"""`store-directory check`: the errors and warnings of a data set."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from service.commands.data_argument import DATA, check_read_options
from service.commands.options import SettingOption
from service.engine.table import Table
from service.loading.counted import counted
from service.loading.dataset import Loaded, load
from service.loading.summary import groups
from service.reading.diagnostics import Diagnostic
from service.server.progress_bar import shown_progress
from service.settings import make_settings

_EXAMPLES: Final = 5
_SHOWN: Final = 3  # stores


@click.command(params=[SettingOption(name) for name in ("mapping", "encoding")])
@DATA
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@click.pass_context
def check(context: click.Context, /, data: Path, *, as_json: bool, **values: Any) -> None:
    """Report all errors and warnings of the data set in DATA. Exit with 1 if there is an error.

    DATA is a folder, a data file or a zip archive. Records with errors are invalid: `serve` does not serve them.
    Warnings have no effect.
    """
    settings = make_settings(values)
    check_read_options(settings)
    with shown_progress() as progress:
        loaded = load(data, options=settings.read_options, progress=progress)
    if as_json:
        click.echo(msgspec.json.encode(loaded.report))
    else:
        click.echo("\n".join(_lines(loaded)))
    context.exit(1 if loaded.report.errors else 0)


def _lines(loaded: Loaded) -> Iterator[str]:
    """Yield the report's lines.

    What was assumed; errors and warnings by code, with counts and examples of each field; the first records; totals.
    """
    yield from loaded.assumed
    for group in groups(loaded):
        yield f"{group}"
        examples = _examples(group.listed)
        yield from (f"  {example}" for example in examples)
        if group.count > len(examples):
            yield f"  … and {group.count - len(examples):,} more (see --json)"
    if loaded.dataset is not None:
        yield from _first_stores(loaded.dataset.stores)
    totals = loaded.report.totals
    yield (
        f"{counted(totals.stores, 'store')} and {counted(totals.companies, 'company', 'companies')} can be served; "
        f"{counted(totals.skipped, 'invalid record')}, {totals.repeated:,} repeated"
    )


def _first_stores(stores: Table) -> Iterator[str]:
    """Yield the first stores in the default order, as they are served."""
    rows = [stores.rows[row] for row in range(min(_SHOWN, len(stores)))]
    if rows:
        yield "the first stores, as they are served:"
    yield from (f"  {_printable_json(row.decode().removesuffix(','))}" for row in rows)


def _printable_json(text: str) -> str:
    """Return JSON that is safe to print: unprintable characters, which are in strings, as JSON escapes them."""
    return "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)


def _examples(listed: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the first few of each file and field."""
    by_field: defaultdict[tuple[str, str | None], list[Diagnostic]] = defaultdict(list)
    for fault in listed:
        by_field[fault.file, fault.field].append(fault)
    return [fault for found in by_field.values() for fault in found[:_EXAMPLES]]
