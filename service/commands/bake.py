"""`store-directory bake` and `verify`: compile a data set into one file, and check the file."""

from pathlib import Path
from typing import Any

import click

from service.baking.baked_file import load_baked, write_baked
from service.baking.layout import DamagedFile
from service.baking.validation import validate_identifiers, validate_projection
from service.commands.command_errors import data_set_error
from service.commands.data_argument import DATA, check_read_options, check_target
from service.commands.options import SettingOption
from service.data_set import Rejected
from service.loading.acceptance import accept
from service.loading.dataset import dataset_version, load
from service.loading.summary import notes
from service.model.records import COMPANIES, STORES
from service.server.progress_bar import shown_progress
from service.settings import make_settings

_FILE = click.Path(dir_okay=False, readable=False, path_type=Path)


@click.command(params=[SettingOption(name) for name in ("mapping", "encoding", "invalid", "min_stores", "max_skipped")])
@DATA
@click.argument("file", metavar="FILE", type=_FILE)
def bake(data: Path, file: Path, **values: Any) -> None:
    """Compile the data set in DATA into FILE, for `serve --data FILE`.

    DATA is a folder, a data file or a zip archive. The same data gives the same bytes on every machine.
    """
    check_target(data, file)
    settings = make_settings(values)
    check_read_options(settings)
    try:
        with shown_progress() as progress:
            loaded = load(data, options=settings.read_options, progress=progress)
        dataset = accept(loaded, settings.invalid)
        settings.safeguards.check(dataset.totals)
        write_baked(dataset, file)
    except Rejected as rejected:
        raise data_set_error(str(data), rejected) from rejected
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error
    for note in (*loaded.assumed, *notes(loaded)):
        click.echo(note, err=True)
    click.echo(f"{file}: {dataset}, version {dataset.version}")


@click.command()
@click.argument("file", metavar="FILE", type=_FILE)
def verify(file: Path) -> None:
    """Check every byte and every record of the baked FILE. Exit with 1 if it is damaged."""
    try:
        dataset = load_baked(file)
        for resource, table in ((STORES, dataset.stores), (COMPANIES, dataset.companies)):
            validate_identifiers(resource, table)
            validate_projection(resource, table)
    except Rejected as rejected:
        raise click.ClickException(str(rejected)) from rejected
    except DamagedFile as damage:
        raise click.ClickException(f"{file}: {damage}; bake it again") from damage
    if dataset_version((dataset.stores, dataset.companies)) != dataset.version:
        raise click.ClickException(f"{file}: the records do not match version {dataset.version}; bake it again")
    click.echo(f"{file}: valid, {dataset}, version {dataset.version}")
