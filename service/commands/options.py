"""Command-line options of settings; `serve` also reads them from environment variables and a settings file."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from service.commands.settings_file import BadSettings, read_settings
from service.setting import ENVIRONMENT_PREFIX
from service.settings import SETTINGS
from service.suggestion import did_you_mean

_FILE: Final = "settings file"
# Kubernetes sets variables for each Service; those of a Service named store-directory have our prefix.
_SERVICE_LINK: Final = "tcp://"
_SERVICE_LINK_HINT: Final = (
    "; Kubernetes sets this variable for a Service named store-directory: rename the Service, "
    "or set enableServiceLinks: false in the Pod"
)
_log = logging.getLogger(__name__)


class SettingOption(click.Option):
    """The option of a setting. Its errors say where the value comes from and which values are accepted."""

    def __init__(self, name: str, *, from_environment: bool = False) -> None:
        self.setting = setting = SETTINGS[name]
        super().__init__(
            [setting.option],
            type=bool if setting.is_flag else str if setting.is_list else setting.parse,
            is_flag=setting.is_flag,
            default=None,
            multiple=setting.is_list,
            envvar=setting.variable if from_environment else None,
            metavar=setting.help.metavar or None,
            help=setting.help.effect + (f"  [default: {setting.default_text}]" if setting.default_text else ""),
        )

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value in its type; raise a usage error if it is not accepted."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            hint = _SERVICE_LINK_HINT if isinstance(value, str) and value.startswith(_SERVICE_LINK) else ""
            raise bad_setting(self.setting.name, self.setting.mismatch(value) + hint) from error


class GroupedCommand(click.Command):
    """A command whose `--help` lists the options of settings by group."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            group: str = param.setting.help.group if isinstance(param, SettingOption) else "General"
            groups.setdefault(group, []).extend(filter(None, [param.get_help_record(ctx)]))
        for group, records in groups.items():
            with formatter.section(group):
                formatter.write_dl(records)


def load_settings_file(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    """Use the values of a settings file for settings that have neither option nor environment variable."""
    if file is not None:
        context.meta[_FILE] = file
        try:
            context.default_map = read_settings(file)
        except BadSettings as error:
            raise click.UsageError(str(error)) from error


def setting_source(name: str) -> str:
    """Return where the current command found a setting: option, environment variable, or settings file and option."""
    context, setting = click.get_current_context(), SETTINGS[name]
    match context.get_parameter_source(name):
        case ParameterSource.ENVIRONMENT:
            return setting.variable
        case ParameterSource.DEFAULT_MAP:
            return f"{context.meta[_FILE]}: {setting.key} ({setting.option})"
    return setting.option


def bad_setting(name: str, why: object) -> click.UsageError:
    """Return a usage error about a setting, which names its source."""
    return click.UsageError(f"{setting_source(name)}: {why}")


@contextmanager
def setting_errors(name: str, kind: type[Exception] = ValueError) -> Iterator[None]:
    """Turn errors of a kind into usage errors about a setting."""
    try:
        yield
    except kind as error:
        raise bad_setting(name, error) from error


def warn_of_unknown_variables(context: click.Context) -> None:
    """Log a warning, without the value, for each environment variable that has our prefix but sets no option."""
    known = [option.envvar for option in context.command.params if isinstance(option.envvar, str)]
    shortened = [variable.removeprefix(ENVIRONMENT_PREFIX) for variable in known]
    for name in sorted(os.environ):
        if name.startswith(ENVIRONMENT_PREFIX) and name not in known:
            nearest = did_you_mean(name.removeprefix(ENVIRONMENT_PREFIX), shortened, prefix=ENVIRONMENT_PREFIX)
            _log.warning("unknown environment variable %s%s", name, nearest)
