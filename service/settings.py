"""The settings of `serve`: from options, then the environment, then a TOML file."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from service.bundled import bundled_folder
from service.replica import Invalid

ENVIRONMENT_PREFIX: Final = "STORE_DIRECTORY_"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What `serve` is told. Without keys and with a key needed, one is made for this run."""

    data: Path = msgspec.field(default_factory=bundled_folder)
    host: str = "127.0.0.1"
    port: int = 8080
    api_key: tuple[str, ...] = ()
    no_auth: bool = False
    invalid: Invalid = Invalid.REFUSE


class BadSettings(Exception):
    """A settings file that cannot be used; the message says why."""


def environment_name(option: str) -> str:
    """Return the environment variable of an option, itself written as `api-key` or `api_key`."""
    return ENVIRONMENT_PREFIX + option.upper().replace("-", "_")


def read_settings(file: Path) -> dict[str, Any]:
    """Return what a TOML file sets, by the name of the setting; `api-key` and `api_key` are the same.

    Raises `BadSettings` where the file cannot be read, is no TOML, or has another name or type of value.
    """
    try:
        given = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise BadSettings(f"{file}: {reason}") from error
    values = {name.replace("-", "_"): value for name, value in given.items()}
    if len(values) < len(given):
        raise BadSettings(f"{file}: a setting stands twice, with a dash and with an underscore")
    unknown = sorted(values.keys() - set(Settings.__struct_fields__))
    if unknown:
        known = ", ".join(Settings.__struct_fields__)
        raise BadSettings(f"{file}: there is no setting {', '.join(unknown)}; the settings are {known}")
    try:
        make_settings(values)
    except msgspec.ValidationError as error:
        raise BadSettings(f"{file}: {error}") from error
    return values


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings of the values given by name; raise msgspec's ValidationError where one has the wrong type."""
    return msgspec.convert(values, Settings, dec_hook=_convert)


def _convert(to: type, value: object) -> object:
    """Read the paths, which TOML has no type for."""
    if to is Path and isinstance(value, str):
        return Path(value)
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")
