"""The commands: the only room that sees all the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import click

from service import __version__
from service.access.api_key import redacted
from service.commands.suggestion import did_you_mean

# Where each command stands: the modules of the others are not imported, which takes half a second.
_MODULES: Final = {
    "serve": "serve",
    "keys": "keys",
    "check": "check",
    "sample": "sample",
    "bake": "bake",
    "verify": "bake",
}


@contextmanager
def _discreet() -> Iterator[None]:
    """Let a failure tell no key, wherever on the command line somebody put one."""
    try:
        yield
    except click.ClickException as error:
        vars(error).update(message=redacted(error.message))  # which is declared to be final
        raise


class _Commands(click.Group):
    """Commands that are imported when they are asked for, and whose failures tell no key."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's parameters
        """Return the names of all commands."""
        return sorted(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return the command of a name, if there is one."""
        if cmd_name not in _MODULES:
            return None
        command: click.Command = getattr(import_module(f"service.commands.{_MODULES[cmd_name]}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that arguments begin with; fail where there is none, with the nearest."""
        name = args[0]
        if not name.startswith("-") and name not in _MODULES:
            ctx.fail(f"there is no command {name!r}{did_you_mean(name, _MODULES)}")
        return super().resolve_command(ctx, args)

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
