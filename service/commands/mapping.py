"""`store-directory mapping`: propose a mapping for a data file."""

from pathlib import Path
from typing import Any

import click

from service.commands.command_errors import spool_error
from service.commands.data_argument import DATA, check_read_options
from service.commands.options import SettingOption
from service.model.records import COMPANIES, STORES
from service.reading.batches.diagnostics import FileError
from service.reading.file_set.data_files import read_data_set
from service.reading.proposal.column_choice import recognizes
from service.reading.proposal.proposal import propose_mapping
from service.reading.resource_records import open_records
from service.settings import make_settings


@click.command(params=[SettingOption("encoding")])
@DATA
def mapping(data: Path, **values: Any) -> None:
    """Propose a mapping for the stores in DATA: print the text of a mapping.toml to check and to complete.

    DATA is a data file, or a folder or zip archive with a file of stores. The proposal is made from the names of the
    columns and from the first records.
    """
    settings = make_settings(values)
    check_read_options(settings)
    try:
        found = read_data_set(data, options=settings.read_options)
    except OSError as error:  # of the temporary files for large data files
        raise spool_error(error) from error
    file = found.files.get(STORES.name)
    if file is None:
        raise click.ClickException("\n".join(map(str, found.errors)))
    derives = found.derives_companies or COMPANIES.name not in found.files
    encoding = settings.encoding if file.format.is_csv else ""
    try:
        opened = open_records(file, recognizes, encoding)
        text = propose_mapping(opened, file.name, encoding=encoding, derives_companies=derives)
    except FileError as error:
        raise click.ClickException(str(error.diagnostic(file.name))) from error
    except OSError as error:
        raise spool_error(error) from error
    click.echo(text.encode(), nl=False)  # TOML is UTF-8, whatever the terminal is
