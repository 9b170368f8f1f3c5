"""`store-directory help`: the pages of the documentation."""

import re
import sys
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
        hint = did_you_mean(page, pages) or "; `store-directory help` lists the pages"
        program = context.find_root().command
        if isinstance(program, click.Group) and page in program.list_commands(context):
            hint = f"; `store-directory {page} --help` describes the command"
        raise click.UsageError(f"no such page {page!r}{hint}")
    elif sys.stdout.isatty():
        click.echo_via_pager((folder / f"{page}.md").read_text("utf-8").removesuffix("\n"))
    else:
        click.echo((folder / f"{page}.md").read_bytes(), nl=False)  # UTF-8, whatever the locale is
