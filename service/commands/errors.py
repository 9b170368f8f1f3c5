"""Errors that end a command: what is wrong with a data set or key file, and what to do."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from service.access.key_file import KeyFileError, KeyFileMissing
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


def key_file_error(file: Path, why: KeyFileError) -> click.ClickException:
    """Return the error for a key file that is missing or damaged."""
    command = f"store-directory keys new --key-file {shlex.quote(str(file))} --name NAME"
    what_to_do = f"repair it, or move it away and create one with `{command}`"
    if isinstance(why, KeyFileMissing):
        folder = Path(os.path.realpath(file)).parent
        make_folder = "" if folder.is_dir() else f"mkdir -p -m 700 {shlex.quote(str(folder))} && "
        what_to_do = f"create one with `{make_folder}{command}`"
    return click.ClickException(f"the key file {file}: {why}; {what_to_do}")
