"""The commands: the only room that sees all the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from service import __version__
from service.commands.bake import bake, verify
from service.commands.check import check
from service.commands.keys import keys
from service.commands.sample import sample
from service.commands.serve import serve
from service.keys.key import masked


@contextmanager
def _discreet() -> Iterator[None]:
    """Let a failure tell no key, wherever on the command line somebody put one."""
    try:
        yield
    except click.ClickException as error:
        vars(error).update(message=masked(error.message))  # which is declared to be final
        raise


class _Commands(click.Group):
    """Commands whose failures tell no key."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands before the command."""
        with _discreet():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _discreet():
            return super().invoke(ctx)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="store-directory")
def main() -> None:
    """Serve a directory of retail stores and the companies that own them.

    Each option of `serve` is also an environment variable (STORE_DIRECTORY_PORT) and a key of a TOML file (--config).
    """


for command in (serve, keys, check, sample, bake, verify):
    main.add_command(command)
