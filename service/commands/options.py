"""Command-line options of settings; `serve` also reads them from environment variables and a settings file."""

import logging
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import click
from click.core import ParameterSource

from service.publishing.object_store import ObjectUrl, StoreError, open_store, parse_object_url, upload
from service.reading.files.data_signature import is_file
from service.reading.text import parse_encoding
from service.settings import ENVIRONMENT_PREFIX, SETTINGS, Settings
from service.texts import did_you_mean

_PACKAGE: Final = Path(__file__).parents[1]


def bundled_folder(name: str, *, package: Path = _PACKAGE) -> Path:
    """Return one of them by name: inside an installed package, beside it in a checkout."""
    installed = package / name
    return installed if installed.is_dir() else package.parent / name


class BadSettings(Exception):
    """A settings file that cannot be used. The message says why and quotes no API key."""


def read_settings(file: Path) -> dict[str, Any]:
    """Return the values of a TOML file by setting name; `api-key` and `api_key` are the same.

    Raises `BadSettings` if the file cannot be read, or lists every unknown key and every value that is not accepted.
    """
    try:
        values = tomllib.loads(file.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        hint = '; write texts in quotes, as in host = "127.0.0.1"' if "Invalid value" in str(error) else ""
        raise BadSettings(f"{file}: invalid TOML: {error}{hint}") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{file}: the file is not UTF-8: save it as UTF-8") from error
    except (ValueError, RecursionError) as error:  # of tomllib
        raise BadSettings(f"{file}: a number is too long, or a value is nested too deeply") from error
    except OSError as error:
        raise BadSettings(f"{file}: {error.strerror}") from error
    if errors := list(_errors(values)):
        raise BadSettings("\n".join(f"{file}: {error}" for error in errors))
    return {_name(key): value for key, value in values.items()}


def _errors(values: Mapping[str, Any]) -> Iterator[str]:
    names = set()
    for key, value in values.items():
        name = _name(key)
        if name in names:
            yield f"{key} is set twice, with a dash and with an underscore"
        elif (setting := SETTINGS.get(name)) is None:
            yield _unknown(key, value)
        else:
            try:
                setting.check(value)
            except ValueError as error:
                yield f"{key} ({setting.option}): {error}"
        names.add(name)


def _name(key: str) -> str:
    return key.replace("-", "_")


def _unknown(key: str, value: object) -> str:
    if isinstance(value, dict):
        return f"unknown table [{key}]: settings are top-level keys"
    keys = [setting.key for setting in SETTINGS.values()]
    hint = did_you_mean(key.replace("_", "-"), keys) or f"; known settings: {', '.join(keys)}"
    return f"unknown setting {key}{hint}"


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
