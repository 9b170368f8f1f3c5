"""The argument DATA: a folder, a data file or an archive; and the options that say how it is read."""

from pathlib import Path
from typing import Any, Final

import click

from service.commands.options import setting_errors
from service.reading.file_set.data_signature import is_file
from service.reading.text.decoding import parse_encoding
from service.settings import Settings


class _DataPath(click.Path):
    """A path. That it has a data set is checked, and reported, when the data is loaded."""

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. A URL, which may contain a password, is a usage error that does not quote it."""
        if "://" in str(value):
            self.fail("must be a local folder or file, not a URL", param, ctx)
        return super().convert(value, param, ctx)


DATA: Final = click.argument("data", metavar="DATA", type=_DataPath())


def check_read_options(settings: Settings) -> None:
    """Raise a usage error for options that say how data is read, but cannot."""
    with setting_errors("encoding"):
        if settings.encoding:
            parse_encoding(settings.encoding)


def check_target(data: Path, file: Path) -> None:
    """Raise a usage error for a FILE that cannot be written, or is DATA."""
    if not file.name:
        raise click.BadParameter("must be a file name", param_hint="FILE")
    if is_file(data) and is_file(file) and data.samefile(file):
        raise click.BadParameter("this is the data file: choose another name", param_hint="FILE")
