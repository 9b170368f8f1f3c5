"""A data set or a key file that is refused, told to a person."""

import os
import shlex
from pathlib import Path

import click

from service.access.key_entries import KeyFileError, KeyFileMissing
from service.loading.acceptance import Cause, advice


def refusal(source: str, why: Exception, cause: Cause) -> click.ClickException:
    """Return the error that ends a command: what is wrong with the data set at `source`, and what to do."""
    lines = [f"the data set in {source} is refused: {why}", advice(source, cause)]
    return click.ClickException("\n".join(filter(None, lines)))


def bad_key_file(file: Path, why: KeyFileError) -> click.ClickException:
    """Return the error that ends a command: what is wrong with a key file, and what to do."""
    command = f"store-directory keys new --key-file {shlex.quote(str(file))} --name NAME"
    what_to_do = f"put it right, or move it away and make one with `{command}`"
    if isinstance(why, KeyFileMissing):
        folder = Path(os.path.realpath(file)).parent
        first = "" if folder.is_dir() else f"mkdir -p -m 700 {shlex.quote(str(folder))} && "
        what_to_do = f"make one with `{first}{command}`"
    return click.ClickException(f"the key file {file}: {why}; {what_to_do}")
