"""`store-directory mapping`: propose a mapping for a data file."""

from pathlib import Path
from typing import Any

import click

from service.commands.options import DATA, SETTINGS, data_errors, make_settings
from service.model.records import COMPANIES, STORES
from service.reading.diagnostics import FileError
from service.reading.files.data_files import alike_files, read_dataset
from service.reading.files.records import opener
from service.reading.mapping.declaration import DataMapping
from service.reading.proposal.proposal import propose_mapping
from service.reading.proposal.table_options import find_table_options, recognizes


@click.command(params=[SETTINGS["encoding"]])
@DATA
def mapping(data: Path, **values: Any) -> None:
    """Propose a mapping for the stores in DATA: print the text of a mapping.toml to check and to complete.

    DATA is a data file, or a folder or zip archive with files of stores. The proposal is made from the names of the
    columns and from the first records.
    """
    settings = make_settings(values)
    with data_errors(data):
        found = read_dataset(data, options=settings.read_options)
        if STORES.name not in found.files and (alike := alike_files(data)):
            declaring = DataMapping(files={STORES.name: alike})  # as a mapping would
            found = read_dataset(data, options=settings.read_options, mapping=declaring)
    if STORES.name not in found.files:
        raise click.ClickException("\n".join(map(str, found.errors)))
    file = found.files[STORES.name][0]
    derives = found.derives_companies or COMPANIES.name not in found.files
    encoding = settings.encoding if file.format.is_csv else ""
    try:
        with data_errors(data):
            open_file = opener(file, recognizes, encoding)
            options = find_table_options(open_file, file.format, file.sheets)
            patterns = found.mapping.files.get(STORES.name)
            declared = {key: value for key, value in {"files": patterns, "encoding": encoding}.items() if value}
            declared |= options.declared
            text = propose_mapping(open_file(options), file.name, options=declared, derives_companies=derives)
    except FileError as error:
        raise click.ClickException(str(error.diagnostic(file.name))) from error
    click.echo(text.encode(), nl=False)  # TOML is UTF-8, whatever the terminal is
