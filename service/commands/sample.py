"""`store-directory sample`: generate a fictional data set."""

from pathlib import Path

import click

from service.sampling.sample import DataSetExists, SampleFormat, write_sample
from service.server.progress_bar import shown_progress


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--stores", metavar="N", type=click.IntRange(0), default=5000, show_default=True, help="Number of stores."
)
@click.option(
    "--companies", metavar="N", type=click.IntRange(0), default=120, show_default=True, help="Number of companies."
)
@click.option(
    "--seed", metavar="N", type=int, default=1, show_default=True, help="Seed of the random generator, 0 or more."
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice([each.value for each in SampleFormat]),
    default=SampleFormat.JSON.value,
    show_default=True,
    help="Format of the files.",
)
def sample(folder: Path, *, stores: int, companies: int, seed: int, file_format: str) -> None:
    """Generate a fictional data set and write it to the folder DIR.

    The same options give the same bytes on every machine.
    """
    try:
        with shown_progress() as progress:
            write_sample(
                folder,
                stores=stores,
                companies=companies,
                seed=seed,
                file_format=SampleFormat(file_format),
                progress=progress,
            )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    except DataSetExists as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{folder}: {error.strerror}") from error
    click.echo(f"{folder}: {stores:,} stores of {companies:,} companies")
