"""The arguments DATA and FILE of commands, and the options that say how data is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import click

from service.commands.options import setting_errors
from service.object_stores.object_store import open_store
from service.object_stores.object_url import ObjectUrl, parse_object_url
from service.object_stores.store_errors import StoreError
from service.object_stores.upload import upload
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


class _TargetPath(click.Path):
    """A path, or the URL of an object."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or the URL of an object; what is no such URL is a usage error that does not quote it."""
        if "://" not in str(value):
            return super().convert(value, param, ctx)
        try:
            open_store(url := parse_object_url(str(value)))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        if not url.key or url.key.endswith("/"):
            self.fail("the URL must have the key of an object", param, ctx)
        return url


Target: TypeAlias = Path | ObjectUrl
DATA: Final = click.argument("data", metavar="DATA", type=_DataPath())
TARGET: Final = click.argument("file", metavar="FILE", type=_TargetPath())


def check_read_options(settings: Settings) -> None:
    """Raise a usage error for options that say how data is read, but cannot."""
    with setting_errors("encoding"):
        if settings.encoding:
            parse_encoding(settings.encoding)


@contextmanager
def local_file(target: Target) -> Iterator[Path]:
    """Return the path to write a target to. If it is an object, the file is uploaded at the end, if that succeeds."""
    if isinstance(target, Path):
        yield target
        return
    with TemporaryDirectory() as folder:
        yield (file := Path(folder) / PurePosixPath(target.key).name)
        try:
            upload(file, target)
        except StoreError as error:
            raise click.ClickException(f"{target}: it cannot be uploaded: {error}") from error


def check_target(data: Path, file: Target) -> None:
    """Raise a usage error for a FILE that cannot be written, or is DATA."""
    if isinstance(file, ObjectUrl):
        return
    if not file.name:
        raise click.BadParameter("must be a file name", param_hint="FILE")
    if is_file(data) and is_file(file) and data.samefile(file):
        raise click.BadParameter("this is the data file: choose another name", param_hint="FILE")
