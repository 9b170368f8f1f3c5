"""Errors that end a command: what is wrong with a data set, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from service.dataset import Rejected


def dataset_error(source: str, rejected: Rejected) -> click.ClickException:
    """Return the error for a data set that cannot be served."""
    lines = [f"the data set in {source} is rejected: {rejected}", rejected.rejection.hint]
    return click.ClickException("\n".join(filter(None, lines)))


@contextmanager
def data_errors(data: Path, written: object = None) -> Iterator[None]:
    """Turn errors of loading a data set into those of the command; OSError is of what is written, or of spools."""
    try:
        yield
    except Rejected as rejected:
        raise dataset_error(str(data), rejected) from rejected
    except OSError as error:
        raise click.ClickException(f"{written or error.filename}: {error.strerror}") from error
