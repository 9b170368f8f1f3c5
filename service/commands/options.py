"""Options of settings, which `serve` also reads from variables and a settings file; DATA, FILE, and their errors."""

import logging
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final, TypeAlias, get_args, get_origin

import click
import msgspec
from click.core import ParameterSource
from msgspec.structs import FieldInfo, fields

from service.commands import ENVIRONMENT_PREFIX
from service.dataset import Rejected
from service.publishing.object_store import ObjectUrl, open_store, parse_object_url, upload
from service.publishing.source import Unavailable
from service.reading.files.container import is_file
from service.reading.text import parse_encoding
from service.settings import SECTIONS, Settings
from service.texts import did_you_mean

_PACKAGE: Final = Path(__file__).parents[1]


def bundled_folder(name: str, *, package: Path = _PACKAGE) -> Path:
    """Return one of them by name: inside an installed package, beside it in a checkout."""
    installed = package / name
    return installed if installed.is_dir() else package.parent / name


# Kubernetes sets variables for each Service; those of a Service named store-directory have our prefix.
_SERVICE_LINK_HINT: Final = (
    "; Kubernetes sets this variable for a Service named store-directory: rename the Service, "
    "or set enableServiceLinks: false in the Pod"
)
_LONGEST: Final = 100  # bits of a number that is quoted
_log = logging.getLogger(__name__)


class SettingOption(click.Option):
    """The option of a field of `Settings`. Its errors say where the value comes from and which values are accepted."""

    def __init__(self, field: FieldInfo) -> None:
        self.key = field.name.replace("_", "-")
        # The type without None, which says: not set.
        self.kind = next(each for each in (field.type, *get_args(field.type)) if get_origin(each) is Annotated)
        *metas, words = self.kind.__metadata__
        self.accepted: str = metas[-1].description
        is_flag, is_list = isinstance(field.default, bool), isinstance(field.default, tuple)
        default = words.default
        if not (default or is_flag or field.default in (None, ())):
            default = ", ".join(field.default) if is_list else str(field.default)
        super().__init__(
            [f"--{self.key}"],
            type=bool if is_flag else self.parse_one if is_list else self.parse,
            is_flag=is_flag,
            default=None,
            multiple=is_list,
            metavar=words.metavar or metas[-1].title,
            help=words.effect + (f"  [default: {default}]" if default else ""),
        )

    def parse(self, value: Any) -> Any:
        """Return the value of a text, or of a value of the settings file; raise ValueError if it is not accepted."""
        for read in (str, float, int):
            with suppress(ValueError, msgspec.ValidationError):
                return msgspec.convert(read(value), self.kind)
        raise ValueError(self.mismatch(value))

    def parse_one(self, value: str) -> str:
        """Return a text of a list; raise ValueError if it is empty."""
        if not value:
            raise ValueError(self.mismatch(value))
        return value

    def mismatch(self, value: object) -> str:
        """Return the error message for a value that is not accepted; it quotes no list, which may hold keys."""
        is_long = isinstance(value, int) and value.bit_length() > _LONGEST  # Python may refuse to convert it
        if self.multiple or is_long or not isinstance(value, str | int | float):
            return f"must be {self.accepted}"
        return f"must be {self.accepted}, not {str(value).lower() if isinstance(value, bool) else repr(value)}"

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the value in its type; raise a usage error if it is not accepted."""
        try:
            return super().type_cast_value(ctx, value)
        except click.BadParameter as error:
            hint = _SERVICE_LINK_HINT if isinstance(value, str) and value.startswith("tcp://") else ""
            raise click.UsageError(f"{setting_source(self.name)}: {self.mismatch(value)}{hint}") from error


SETTINGS: Final = {field.name: SettingOption(field) for field in fields(Settings)}
_FILE: Final = "settings file"


def load_settings_file(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    """Use the values of a settings file for settings that have neither option nor environment variable."""
    if file is not None:
        context.meta[_FILE] = file
        context.default_map = read_settings(file)


def read_settings(file: Path) -> dict[str, Any]:
    """Return the values of a TOML file by setting name; `api-key` and `api_key` are the same.

    Raises a usage error if the file cannot be read, or with every unknown key and every value that is not accepted.
    """
    values, errors = dict[str, Any](), list[str]()
    for key, value in _read_toml(file).items():
        name = key.replace("-", "_")
        if isinstance(value, str) and name in SETTINGS and SETTINGS[name].multiple:
            value = [value]  # noqa: PLW2901 - one text is a list of one
        if name in values:
            errors.append(f"{key} is set twice, with a dash and with an underscore")
        elif name not in SETTINGS:
            errors.append(_unknown(key, value))
        elif error := _error(SETTINGS[name], value):
            errors.append(f"{key} (--{SETTINGS[name].key}): {error}")
        values[name] = value
    if errors:
        raise click.UsageError("\n".join(f"{file}: {error}" for error in errors))
    return values


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        hint = '; write texts in quotes, as in host = "127.0.0.1"' if "Invalid value" in str(error) else ""
        why = f"invalid TOML: {error}{hint}"
    except UnicodeDecodeError:
        why = "the file is not UTF-8: save it as UTF-8"
    except (ValueError, RecursionError):  # of tomllib
        why = "a number is too long, or a value is nested too deeply"
    except OSError as error:
        why = f"{error.strerror}"
    raise click.UsageError(f"{file}: {why}")


def _unknown(key: str, value: object) -> str:
    if isinstance(value, dict):
        return f"unknown table [{key}]: settings are top-level keys"
    keys = [setting.key for setting in SETTINGS.values()]
    hint = did_you_mean(key.replace("_", "-"), keys) or f"; known settings: {', '.join(keys)}"
    return f"unknown setting {key}{hint}"


def _error(setting: SettingOption, value: object) -> str:
    """Return why a value is not accepted, or ""."""
    if any("\0" in text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)):
        return "a text cannot contain the character NUL"
    try:
        msgspec.convert(value, setting.kind)
    except msgspec.ValidationError:
        return setting.mismatch(value)
    return ""


class SectionedCommand(click.Command):
    """A command whose `--help` lists the options of settings in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        sections: dict[str, list[tuple[str, str]]] = {}
        section = general = "General"
        for param in self.get_params(ctx):
            section = SECTIONS.get(param.name, section) if param.name in SETTINGS else general
            sections.setdefault(section, []).extend(filter(None, [param.get_help_record(ctx)]))
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)


def setting_source(name: str) -> str:
    """Return where the current command found a setting: option, environment variable, or settings file and option."""
    context, key = click.get_current_context(), SETTINGS[name].key
    match context.get_parameter_source(name):
        case ParameterSource.ENVIRONMENT:
            return ENVIRONMENT_PREFIX + name.upper()
        case ParameterSource.DEFAULT_MAP:
            return f"{context.meta[_FILE]}: {key} (--{key})"
    return f"--{key}"


@contextmanager
def setting_errors(name: str, kind: type[Exception] = ValueError) -> Iterator[None]:
    """Turn errors of a kind into usage errors about a setting, which name its source."""
    try:
        yield
    except kind as error:
        raise click.UsageError(f"{setting_source(name)}: {error}") from error


def warn_of_unknown_variables(context: click.Context) -> None:
    """Log a warning, without the value, for each environment variable that has our prefix but sets no option."""
    known = [option.name.upper() for option in context.command.params]
    for variable in sorted(os.environ):
        name = variable.removeprefix(ENVIRONMENT_PREFIX)
        if name not in (variable, *known):
            nearest = did_you_mean(name, known, prefix=ENVIRONMENT_PREFIX)
            _log.warning("unknown environment variable %s%s", variable, nearest)


def dataset_error(source: str, rejected: Rejected) -> click.ClickException:
    """Return the error for a data set that cannot be served."""
    lines = [f"the data set in {source} is rejected: {rejected}", rejected.rejection.hint]
    return click.ClickException("\n".join(filter(None, lines)))


@contextmanager
def data_errors(data: Path, written: object = None) -> Iterator[None]:
    """Turn errors of loading a data set into those of the command; OSError is of what is written, or of spools."""
    try:
        yield
    except Rejected as rejected:
        raise dataset_error(str(data), rejected) from rejected
    except OSError as error:
        raise click.ClickException(f"{written or error.filename}: {error.strerror}") from error


class _DataPath(click.Path):
    """A path. That it has a data set is checked, and reported, when the data is loaded."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. A URL, which may contain a password, is a usage error that does not quote it."""
        if "://" in str(value):
            self.fail("must be a local folder or file, not a URL", param, ctx)
        return super().convert(value, param, ctx)


class _TargetPath(click.Path):
    """A path, or the URL of an object."""

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
DATA: Final = click.argument("data", metavar="DATA", type=_DataPath(readable=False, path_type=Path))
TARGET: Final = click.argument("file", metavar="FILE", type=_TargetPath(dir_okay=False, readable=False, path_type=Path))


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings of values by name; None and () are not set. Raises a usage error for an unknown encoding."""
    settings = Settings(**{name: value for name, value in values.items() if value not in (None, ())})
    with setting_errors("encoding"):
        if settings.encoding:
            parse_encoding(settings.encoding)
    return settings


@contextmanager
def written(data: Path, target: Target) -> Iterator[Path]:
    """Return the path to write a target to, and turn errors of loading DATA and of writing into those of the command.

    If the target is an object, the file is uploaded at the end, if that succeeds.
    """
    with data_errors(data, target):
        if isinstance(target, Path):
            yield target
            return
        with TemporaryDirectory() as folder:
            yield (file := Path(folder) / PurePosixPath(target.key).name)
            try:
                upload(file, target)
            except Unavailable as error:
                raise click.ClickException(f"{target}: it cannot be uploaded: {error}") from error


def check_target(data: Path, file: Target) -> None:
    """Raise a usage error for a FILE that cannot be written, or is DATA."""
    if isinstance(file, ObjectUrl):
        return
    if not file.name:
        raise click.BadParameter("must be a file name", param_hint="FILE")
    if is_file(data) and is_file(file) and data.samefile(file):
        raise click.BadParameter("this is the data file: choose another name", param_hint="FILE")
