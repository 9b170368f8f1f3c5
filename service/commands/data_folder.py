"""The argument DIR: the folder of a data set."""

from pathlib import Path
from typing import Any

import click


class DataFolder(click.Path):
    """A path. That it is a folder with a data set is checked, and reported, when the data is loaded."""

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. A URL, which may contain a password, is a usage error that does not quote it."""
        if "://" in str(value):
            self.fail("a local folder is needed, not a URL", param, ctx)
        return super().convert(value, param, ctx)
