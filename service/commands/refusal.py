"""A data set that is refused, told to a person."""

from pathlib import Path

import click

from service.replica import Refused


def refusal(source: Path, refused: Refused) -> click.ClickException:
    """Return the error that ends a command: what is wrong with the data set at `source`, and what to do."""
    lines = [f"the data set in {source} is refused: {refused}"]
    if any(fault.record is not None for fault in refused.report.faults):
        lines.append(f"`store-directory check {source}` tells all; `--invalid skip` leaves out the records at fault")
    return click.ClickException("\n".join(lines))
