"""`store-directory export`: write all records to a file, as the service returns them."""

from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Any, Final

import click

from service.baking.baked_file import load_baked
from service.commands.options import (
    DATA,
    SETTINGS,
    TARGET,
    Target,
    check_target,
    make_settings,
    setting_errors,
    written,
)
from service.dataset import Dataset
from service.engine.results import WRITERS
from service.engine.select import ordered
from service.files import atomic_write
from service.loading.dataset import accept, load
from service.model.errors import UnprocessableContent
from service.model.parameters import file_parameters_of
from service.model.query import Query, QueryParser, query_pairs
from service.model.records import COMPANIES, STORES, Resource
from service.publishing.choice import check_unread, is_baked
from service.server.log import shown_progress
from service.settings import Settings
from service.spool import Spools
from service.texts import counted, did_you_mean, truncate

_PARQUET: Final = "parquet"
_RESOURCES: Final = {each.name: each for each in (STORES, COMPANIES)}


@click.command(
    params=[
        *(SETTINGS[name] for name in ("mapping", "encoding", "invalid")),
        click.Option(
            ["--resource"],
            type=click.Choice(list(_RESOURCES)),
            default=STORES.name,
            show_default=True,
            help="The records to write.",
        ),
        click.Option(
            ["--query"],
            default="",
            metavar="QUERY",
            help="Which records, which of their members, in which order: parameters as in a URL, such as "
            "'country=ca&sort_by=name'.",
        ),
    ]
)
@DATA
@TARGET
def export(data: Path, file: Target, *, resource: str, query: str, **values: Any) -> None:
    """Write the stores in DATA to FILE, whose name ends with .csv, .ndjson, .geojson or .parquet.

    DATA is a folder, a data file, a zip archive or a baked file. FILE may be an object, such as s3://bucket/stores.csv.
    The bytes are those of `/stores.csv` and so on. Parquet of stores is GeoParquet 1.1.
    """
    check_target(data, file)
    kind, ending = _RESOURCES[resource], PurePath(str(file)).suffix.removeprefix(".")
    endings = [each for each in (*WRITERS, _PARQUET) if each != "geojson" or kind.coordinates]
    if ending not in endings:
        listed = ", ".join(f".{each}" for each in endings)
        raise click.BadParameter(f"must end with one of {listed}", param_hint="FILE")
    if ending == _PARQUET and find_spec("pyarrow") is None:
        raise click.ClickException("writing Parquet needs pyarrow: `pip install 'store-directory[parquet]'`")
    settings = make_settings(values)
    with written(data, file) as local:
        dataset = load_local(data, settings, Spools(local.absolute().parent))
        served, table = dataset.schema.of(kind), dataset.stores if kind is STORES else dataset.companies
        parsed = _parse(served, ending, query)
        order = ordered(table, parsed).whole()
        with atomic_write(local) as target:
            if ending == _PARQUET:
                from service.commands.parquet_export import write_parquet  # noqa: PLC0415 - an extra

                write_parquet(served, table, parsed, order, target)
            else:
                target.writelines(WRITERS[ending](served, table, parsed, order))
    click.echo(f"{file}: {counted(order.total, kind.noun, kind.name)}, version {dataset.version}")


def _parse(resource: Resource, ending: str, query: str) -> Query:
    parser, pairs = QueryParser(resource, file_parameters_of(resource, ending)), query_pairs(query)
    known = [parameter.name for parameter in parser.parameters]
    if unknown := next((name for name, _ in pairs if name not in known), ""):
        near = parser.replacement(unknown)
        hint = f"; use an interval, such as {near}=A/.." if near else did_you_mean(unknown, known)
        raise click.UsageError(f"--query: {truncate(unknown)!r} is no parameter of files{hint}")
    try:
        return parser.parse(pairs, strict=False)
    except UnprocessableContent as error:
        why = "; ".join(f"{item.loc[-1]}: {item.msg}" for item in error.errors)
        raise click.UsageError(f"--query: {why}") from error


def load_local(data: Path, settings: Settings, spools: Spools) -> Dataset:
    """Load a baked file, or data files. Raises `Rejected`, and a usage error for options of data files."""
    with shown_progress() as progress:
        if is_baked(data):
            with setting_errors("mapping"):
                check_unread(settings.read_options)
            return load_baked(data, progress=progress)
        loaded = load(data, options=settings.read_options, progress=progress, spools=spools)
    return accept(loaded, settings.invalid)
