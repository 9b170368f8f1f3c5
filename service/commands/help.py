"""`store-directory help`: the pages of the documentation."""

import re
import sys
from collections.abc import Mapping
from typing import Final

import click

from service.commands.options import bundled_folder
from service.texts import did_you_mean

# A page in the table of docs/README.md, and what is in it.
_ROW: Final = re.compile(r"\| \[([\w-]+)\.md\]\(\1\.md\): (.*) \|$", re.MULTILINE)


@click.command()
@click.argument("page", metavar="[PAGE]", required=False)
@click.pass_context
def help(context: click.Context, page: str | None) -> None:  # noqa: A001 - commands are found by their names
    """Show a PAGE of the documentation; without PAGE list the pages."""
    folder = bundled_folder("docs")
    pages = dict(_ROW.findall((folder / "README.md").read_text("utf-8").replace("`", "")))
    if page is None:
        width = max(map(len, pages))
        click.echo("The documentation; `store-directory help PAGE` shows a page:")
        click.echo("\n".join(f"  {name:{width}}  {content}" for name, content in pages.items()))
    elif page not in pages:
        raise click.UsageError(f"no such page {page!r}{_what_to_do(page, pages, context.find_root().command)}")
    elif sys.stdout.isatty():
        click.echo_via_pager((folder / f"{page}.md").read_text("utf-8").removesuffix("\n"))
    else:
        click.echo((folder / f"{page}.md").read_bytes(), nl=False)  # UTF-8, whatever the locale is


def _what_to_do(page: str, pages: Mapping[str, str], program: click.Command) -> str:
    if isinstance(program, click.Group) and page in program.list_commands(click.get_current_context()):
        return f"; `store-directory {page} --help` describes the command"
    return did_you_mean(page, pages) or "; `store-directory help` lists the pages"
