"""The folder of a data set, as the argument DIR of a command."""

from pathlib import Path
from typing import Any

import click


class DataFolder(click.Path):
    """A path, which need not be one of a folder: what is wrong with the data set there is for its report to say."""

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fail with a usage error, which does not quote it, where it is a URL."""
        if "://" in str(value):
            self.fail("a folder on this machine is needed, not a URL", param, ctx)
        return super().convert(value, param, ctx)
