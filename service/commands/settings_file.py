"""The settings file of `serve`, in TOML."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from service.settings import SETTINGS
from service.suggestion import did_you_mean


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
