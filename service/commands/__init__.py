"""The commands: the only room that sees all the others."""

import click

from service import __version__
from service.commands.bake import bake, verify
from service.commands.check import check
from service.commands.sample import sample
from service.commands.serve import serve


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="store-directory")
def main() -> None:
    """Serve a directory of retail stores and the companies that own them.

    Each option of `serve` is also an environment variable (STORE_DIRECTORY_PORT) and a key of a TOML file (--config).
    """


for command in (serve, check, sample, bake, verify):
    main.add_command(command)
