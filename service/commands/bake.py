"""`store-directory bake` and `verify`: compile a data set into one file, and check the file."""

import re
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from service.baking.baked_file import load_baked, write_baked
from service.baking.layout import DamagedFile
from service.baking.records import check_identifiers
from service.baking.tables import check_hours, check_projection
from service.commands.options import DATA, SETTINGS, TARGET, Target, check_target, make_settings, written
from service.dataset import Rejected
from service.engine.table import Table
from service.loading.dataset import accept, dataset_version, load, notes
from service.loading.opening_hours import distinct_hours, open_times
from service.model.records import COMPANIES, STORES
from service.server.log import shown_progress
from service.spool import Spools

_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmg]i?b)", re.IGNORECASE)
_UNITS: Final = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_LEAST: Final = 64 << 20  # bytes


def _parse_size(_context: click.Context, _option: click.Parameter, text: str) -> int:
    """Return the number of bytes; raise a usage error for another text or too few."""
    match = _SIZE.fullmatch(text)
    size = 0 if match is None else int(float(match[1]) * _UNITS[match[2].lower()])
    if size < _LEAST:
        raise click.BadParameter(f"{text!r} is not a size of at least 64MiB, such as 512MiB or 2GiB")
    return size


_FILE = click.Path(dir_okay=False, readable=False, path_type=Path)


@click.command(
    params=[SETTINGS[name] for name in ("mapping", "encoding", "places", "invalid", "min_stores", "max_skipped")]
)
@DATA
@TARGET
@click.option(
    "--memory",
    metavar="SIZE",
    callback=_parse_size,
    default="1GiB",
    show_default=True,
    help="Memory for work that can be done in parts, such as 512MiB; the rest waits in temporary files beside FILE.",
)
def bake(data: Path, file: Target, *, memory: int, **values: Any) -> None:
    """Compile the data set in DATA into FILE, for `serve --data FILE`.

    DATA is a folder, a data file or a zip archive. FILE may be an object, such as s3://bucket/stores.baked. The same
    data gives the same bytes on every machine.
    """
    check_target(data, file)
    settings = make_settings(values)
    try:
        with written(data, file) as local:
            with shown_progress() as progress:
                spools = Spools(local.absolute().parent, memory)
                loaded = load(data, options=settings.read_options, progress=progress, spools=spools)
            dataset = accept(loaded, settings.invalid)
            settings.safeguards.check(dataset.totals)
            write_baked(dataset, local)
    except MemoryError:
        raise click.ClickException("out of memory: bake with a smaller --memory, or where there is more") from None
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
            check_identifiers(resource, table)
            check_projection(resource, table)
        _check_hours(dataset.stores)
    except Rejected as rejected:
        raise click.ClickException(str(rejected)) from rejected
    except DamagedFile as damage:
        raise click.ClickException(f"{file}: {damage}; bake it again") from damage
    if (
        dataset_version((dataset.stores, dataset.companies), dataset.schema.declaration, dataset.listed)
        != dataset.version
    ):
        raise click.ClickException(f"{file}: the records do not match version {dataset.version}; bake it again")
    click.echo(f"{file}: valid, {dataset}, version {dataset.version}")


def _check_hours(table: Table) -> None:
    if table.hours is None:
        return
    try:
        check_hours(table.hours, open_times(table.hours.field, distinct_hours(table, table.hours.field)))
    except (msgspec.DecodeError, ValueError, KeyError):  # no hours, or a zone that is unknown
        raise DamagedFile(f"the hours in {table.hours.field} are invalid") from None
