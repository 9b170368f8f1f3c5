"""The options of `serve`: each is an environment variable and a key of the settings file, too."""

import logging
import os
from collections.abc import Callable
from math import isnan
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.core import ParameterSource

from service.commands.settings_file import BadSettings, read_settings
from service.commands.suggestion import did_you_mean
from service.server.listener import split_address
from service.settings import (
    ENVIRONMENT_PREFIX,
    LONGEST_SECONDS,
    TEXT,
    Settings,
    describe_values,
    environment_name,
    option_name,
)

_FILE: Final = "settings file"
# Kubernetes sets variables for each Service, and those of one named store-directory begin as ours do.
_SERVICE_LINK: Final = "tcp://"
_SERVICE_LINKS: Final = (
    "; Kubernetes sets this variable for a Service named store-directory: rename that, "
    "or set enableServiceLinks: false in the Pod"
)
_Command = TypeVar("_Command", bound=Callable[..., object])
_log = logging.getLogger(__name__)


def load_settings_file(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    """Take what options and environment leave open from a settings file."""
    if file is not None:
        context.meta[_FILE] = file
        try:
            context.default_map = read_settings(file)
        except BadSettings as error:
            raise click.UsageError(str(error)) from error


def setting_source(name: str) -> str:
    """Return where the current command found a setting: option, environment variable, or settings file and option."""
    context, option = click.get_current_context(), option_name(name)
    match context.get_parameter_source(name):
        case ParameterSource.ENVIRONMENT:
            return environment_name(name)
        case ParameterSource.DEFAULT_MAP:
            return f"{context.meta[_FILE]}: {option.removeprefix('--')} ({option})"
    return option


def bad_setting(name: str, why: object) -> click.UsageError:
    """Return the error of a setting, by the name under which it was given."""
    return click.UsageError(f"{setting_source(name)}: {why}")


class _Setting(click.Option):
    """An option whose errors say where its value is from, and which values it takes."""

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value in its type; fail with a usage error where it has another."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            name = self.name or ""
            wanted = describe_values(name) if name in Settings.__struct_fields__ else TEXT
            why = error.message if wanted == TEXT else f"{wanted} is needed, not {value!r}"
            link = isinstance(value, str) and value.startswith(_SERVICE_LINK)
            raise bad_setting(name, why + (_SERVICE_LINKS if link else "")) from error


def option(*names: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """Return an option that is an environment variable too."""
    variable = environment_name(names[0].lstrip("-"))
    return click.option(*names, cls=_Setting, envvar=variable, show_envvar=True, **attributes)


def warn_of_unknown_variables(context: click.Context) -> None:
    """Warn of each environment variable that begins as those of the command do, and is none; never of its value."""
    known = [option.envvar for option in context.command.params if isinstance(option.envvar, str)]
    shortened = [variable.removeprefix(ENVIRONMENT_PREFIX) for variable in known]
    for name in sorted(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known:
            nearest = did_you_mean(name.removeprefix(ENVIRONMENT_PREFIX), shortened, prefix=ENVIRONMENT_PREFIX)
            _log.warning("the environment variable %s is not known%s", name, nearest)


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
