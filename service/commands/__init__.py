"""The commands. This package alone may import all others."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

import click

from service import INTERFACE_VERSION, __version__
from service.access.api_key import redacted

ENVIRONMENT_PREFIX: Final = "STORE_DIRECTORY_"
# The module of each command. Importing all of them would take half a second.
_MODULES: Final[dict[str, Any]] = {
    **{
        name: name
        for name in ("serve", "keys", "check", "mapping", "sample", "bake", "export", "diff", "help", "probe")
    },
    "verify": "bake",
}


@contextmanager
def _masked_keys() -> Iterator[None]:
    """Mask API keys in error messages: any argument may contain one by mistake."""
    try:
        yield
    except click.ClickException as error:
        vars(error).update(message=redacted(error.message))  # the attribute is declared final
        raise


class _Commands(click.Group):
    """A group that imports a command when it is used, and masks API keys in error messages."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's parameter
        module = _MODULES.get(cmd_name)
        return module and getattr(import_module(f"service.commands.{module}"), cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _masked_keys():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _masked_keys():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\nInterrupted: files are written whole or not at all", err=True)  # below ^C on a terminal
            ctx.exit(130)  # the shells' exit code for SIGINT


@click.group(cls=_Commands, commands=_MODULES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(f"{__version__}, interface {INTERFACE_VERSION}", prog_name="store-directory")
def main() -> None:
    """Serve a directory of retail stores and the companies that own them.

    Options of `serve` can also be set as environment variables (STORE_DIRECTORY_PORT) or in a TOML file (--config).
    """
