"""`store-directory check`: every fault of a data set."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

import click
import msgspec

from service.commands.data_folder import DataFolder
from service.commands.terminal import shown_progress
from service.loading.dataset import Report, load

_EXAMPLES: Final = 5


@click.command()
@click.argument("folder", metavar="DIR", type=DataFolder())
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.pass_context
def check(context: click.Context, folder: Path, *, as_json: bool) -> None:
    """Tell every fault of the data set in DIR; exit 1 if there is one.

    A fault costs the record. A warning costs nothing.
    """
    with shown_progress() as progress:
        report = load(folder, progress=progress).report
    if as_json:
        click.echo(msgspec.json.encode(report))
    else:
        click.echo("\n".join(report_lines(report)))
    context.exit(1 if report.faults else 0)


def report_lines(report: Report) -> Iterator[str]:
    """Return a report for a person: faults and warnings by code, with counts and examples, and the totals."""
    for kind, found in (("fault", report.faults), ("warning", report.warnings)):
        for code, group in groupby(sorted(found, key=attrgetter("code")), key=attrgetter("code")):
            faults = list(group)
            yield f"{code}: {len(faults):,} {kind}{'' if len(faults) == 1 else 's'}"
            yield from (f"  {fault}" for fault in faults[:_EXAMPLES])
            if len(faults) > _EXAMPLES:
                yield f"  … and {len(faults) - _EXAMPLES:,} more (--json prints all)"
    totals = report.totals
    yield (
        f"{totals.stores:,} stores and {totals.companies:,} companies can be served; "
        f"{totals.skipped:,} records at fault, {totals.repeated:,} repeated"
    )
