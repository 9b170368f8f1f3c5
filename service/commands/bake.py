"""`store-directory bake` and `verify`: a data set compiled into one file."""

from pathlib import Path

import click

from service.baking.baked_file import bake as write_baked, load_baked
from service.baking.layout import DamagedFile
from service.baking.validation import check_records
from service.commands.data_folder import DataFolder
from service.commands.options import Share
from service.commands.refusal import refusal
from service.loading.acceptance import InvalidRecords, Refused, Safeguards, accept
from service.loading.data_version import dataset_version
from service.loading.dataset import Dataset, load
from service.loading.summary import notes
from service.model.records import COMPANIES, STORES
from service.server.progress_bar import shown_progress

_FILE = click.Path(dir_okay=False, readable=False, path_type=Path)


@click.command()
@click.argument("folder", metavar="DIR", type=DataFolder())
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--invalid",
    type=click.Choice([each.value for each in InvalidRecords]),
    default=InvalidRecords.REFUSE.value,
    show_default=True,
    help="What to do about records at fault.",
)
@click.option(
    "--min-stores",
    metavar="N",
    type=click.IntRange(0),
    default=Safeguards().min_stores,
    show_default=True,
    help="Refuse data with fewer stores.",
)
@click.option(
    "--max-skipped",
    type=Share(),
    default=Safeguards().max_skipped,
    show_default=True,
    help="Refuse data if more than this share of its records would be skipped.",
)
def bake(folder: Path, file: Path, *, invalid: str, min_stores: int, max_skipped: float) -> None:
    """Compile the data set in DIR into FILE, for `serve --data FILE`.

    The same data gives the same bytes on every machine.
    """
    if not file.name:
        raise click.BadParameter("a name is needed", param_hint="FILE")
    try:
        with shown_progress() as progress:
            loaded = load(folder, progress=progress)
        dataset, report = accept(loaded, InvalidRecords(invalid))
        Safeguards(min_stores=min_stores, max_skipped=max_skipped).check(report.totals)
        write_baked(dataset, report.totals, file)
    except Refused as refused:
        raise refusal(str(folder), refused, refused.cause) from refused
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror}") from error
    for note in notes(loaded, folder):
        click.echo(note, err=True)
    click.echo(f"{file}: {_described(dataset)}")


@click.command()
@click.argument("file", metavar="FILE", type=_FILE)
def verify(file: Path) -> None:
    """Check every byte and every record of the baked FILE; exit 1 if anything is not as it was baked."""
    loaded = load_baked(file)
    if loaded.dataset is None:
        raise click.ClickException(str(Refused.because_of(loaded.report)))
    dataset = loaded.dataset
    try:
        check_records(STORES, dataset.stores)
        check_records(COMPANIES, dataset.companies)
    except DamagedFile as damage:
        raise click.ClickException(f"{file}: {damage}; bake it again") from damage
    if dataset_version((dataset.stores, dataset.companies)) != dataset.version:
        raise click.ClickException(f"{file}: the records are not those of version {dataset.version}; bake it again")
    click.echo(f"{file}: sound, {_described(dataset)}")


def _described(dataset: Dataset) -> str:
    stores, companies = len(dataset.stores), len(dataset.companies)
    return f"{stores:,} stores of {companies:,} companies, version {dataset.version}"
