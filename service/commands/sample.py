"""`store-directory sample`: generate a fictional data set."""

from functools import partial
from pathlib import Path
from typing import Final

import click

from service.sampling.sample_dataset import FORMATS, DatasetExists, SampleFormat, write_sample
from service.server.log import shown_progress

_number = partial(click.option, metavar="N", show_default=True)
_count: Final = click.IntRange(0, 10**9)


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@_number("--stores", type=_count, default=5000, help="Number of stores.")
@_number("--companies", type=_count, default=120, help="Number of companies.")
@_number("--seed", type=click.IntRange(0), default=1, help="Seed of the random generator.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="Format of the files.",
)
def sample(folder: Path, *, stores: int, companies: int, seed: int, file_format: SampleFormat) -> None:
    """Generate a fictional data set and write it to the folder DIR.

    The same options give the same bytes on every machine.
    """
    try:
        with shown_progress() as progress:
            numbers = {"stores": stores, "companies": companies, "seed": seed}
            write_sample(folder, **numbers, file_format=file_format, progress=progress)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except DatasetExists as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{folder}: {error.strerror}") from error
    click.echo(f"{folder}: {stores:,} stores of {companies:,} companies")
