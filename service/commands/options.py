"""The options of `serve`: each is an environment variable and a key of the settings file, too."""

from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

import click

from service.commands.listen import split_address
from service.settings import LONGEST_SECONDS, BadSettings, environment_name, read_settings

_Command = TypeVar("_Command", bound=Callable[..., object])


def use_file(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    """Let a settings file stand behind the options and the environment."""
    if file is not None:
        try:
            context.default_map = read_settings(file)
        except BadSettings as error:
            raise click.UsageError(str(error)) from error


def option(*names: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """Return an option that is an environment variable too."""
    return click.option(*names, envvar=environment_name(names[0].lstrip("-")), show_envvar=True, **attributes)


class _Number(click.FloatRange):
    """A number within a range, and not NaN."""

    kind = ""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fail with a usage error where it is none in range."""
        number: float = super().convert(value, param, ctx)
        if isnan(number):  # which no comparison finds
            self.fail(f"{value!r} is no {self.kind}", param, ctx)
        return number


class Seconds(_Number):
    """A number of seconds."""

    name, kind = "SECONDS", "number of seconds"

    def __init__(self, *, positive: bool = False) -> None:
        super().__init__(0, LONGEST_SECONDS, min_open=positive)


class Share(_Number):
    """A share of a whole, from 0 to 1."""

    name, kind = "SHARE", "share from 0 to 1"

    def __init__(self) -> None:
        super().__init__(0, 1)


class Count(click.ParamType[Any]):
    """A number of processes, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number, or "auto"; fail with a usage error otherwise."""
        return value if value == "auto" else click.IntRange(1).convert(value, param, ctx)


class Address(click.ParamType[str]):
    """HOST:PORT."""

    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text as it is; fail with a usage error where it is no address."""
        try:
            split_address(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)
