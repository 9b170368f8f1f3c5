"""A data set that is refused, told to a person."""

import click


def refusal(source: str, why: Exception, *, of_records: bool) -> click.ClickException:
    """Return the error that ends a command: what is wrong with the data set at `source`, and what to do."""
    lines = [f"the data set in {source} is refused: {why}"]
    if of_records:
        lines.append(f"`store-directory check {source}` tells all; `--invalid skip` leaves out the records at fault")
    return click.ClickException("\n".join(lines))
