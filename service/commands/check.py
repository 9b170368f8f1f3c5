"""`store-directory check`: the errors and warnings of a data set."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from service.commands.data_folder import DataFolder
from service.loading.dataset import Loaded, load
from service.loading.summary import groups
from service.reading.diagnostics import Diagnostic
from service.server.progress_bar import shown_progress

_EXAMPLES: Final = 5


@click.command()
@click.argument("folder", metavar="DIR", type=DataFolder())
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
@click.pass_context
def check(context: click.Context, folder: Path, *, as_json: bool) -> None:
    """Report all errors and warnings of the data set in DIR. Exit with 1 if there is an error.

    Records with errors are invalid: `serve` does not serve them. Warnings have no effect.
    """
    with shown_progress() as progress:
        loaded = load(folder, progress=progress)
    if as_json:
        click.echo(msgspec.json.encode(loaded.report))
    else:
        click.echo("\n".join(_lines(loaded)))
    context.exit(1 if loaded.report.errors else 0)


def _lines(loaded: Loaded) -> Iterator[str]:
    """Yield the report's lines: errors and warnings by code, with counts and examples of each field; the totals."""
    for group in groups(loaded):
        yield f"{group}"
        examples = _examples(group.listed)
        yield from (f"  {example}" for example in examples)
        if group.count > len(examples):
            yield f"  … and {group.count - len(examples):,} more (see --json)"
    totals = loaded.report.totals
    yield (
        f"{totals.stores:,} stores and {totals.companies:,} companies can be served; "
        f"{totals.skipped:,} invalid records, {totals.repeated:,} repeated"
    )


def _examples(listed: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return the first few of each file and field."""
    by_field: defaultdict[tuple[str, str | None], list[Diagnostic]] = defaultdict(list)
    for fault in listed:
        by_field[fault.file, fault.field].append(fault)
    return [fault for found in by_field.values() for fault in found[:_EXAMPLES]]
