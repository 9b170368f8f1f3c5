"""What is printed for the person who started the service."""

import shlex
from contextlib import suppress

import click

from service.replica.replica import Snapshot
from service.web.auth import KEY_HEADER


def say(line: str) -> None:
    """Print a line. The service goes on where nobody reads it."""
    with suppress(OSError):
        click.echo(line)


def announced(current: Snapshot, *, address: str, made_key: str | None, open_to_all: bool) -> None:
    """Tell that the service is ready, and how to ask it. A key is shown where it was made for this run."""
    dataset = current.dataset
    say(f"Ready: {len(dataset.stores):,} stores of {len(dataset.companies):,} companies")
    if made_key is not None:
        say(f"Key: {made_key} (made for this run; --api-key sets your own)")
    key = "" if open_to_all else f"-H '{KEY_HEADER}: {made_key or '<your key>'}' "
    say(f"Try: curl {key}{shlex.quote(f'{address}/stores?limit=2')}")
    say(f"Docs: {address}/docs")
