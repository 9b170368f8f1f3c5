"""The settings file of `serve`, in TOML."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from service.commands.suggestion import did_you_mean
from service.settings import Settings, describe_values, make_settings, option_name


class BadSettings(Exception):
    """A settings file that cannot be used; the message says why, and quotes no key."""


def read_settings(file: Path) -> dict[str, Any]:
    """Return what a TOML file sets, by the name of the setting; `api-key` and `api_key` are the same.

    Raises `BadSettings` where the file cannot be read, is no TOML, or has another name or type of value.
    """
    try:
        given = tomllib.loads(file.read_text("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        hint = '; a text is written in quotes, as in host = "127.0.0.1"' if "Invalid value" in str(error) else ""
        raise BadSettings(f"{file}: this is not TOML: {error}{hint}") from error
    except UnicodeDecodeError as error:
        raise BadSettings(f"{file}: the file is not UTF-8: save it as UTF-8") from error
    except OSError as error:
        raise BadSettings(f"{file}: {error.strerror}") from error
    if errors := list(_errors(given)):
        raise BadSettings("\n".join(f"{file}: {error}" for error in errors))
    return {_name(written): value for written, value in given.items()}


def _errors(given: Mapping[str, Any]) -> Iterator[str]:
    seen = set()
    for written, value in given.items():
        name = _name(written)
        if name in seen:
            yield f"{written} is set twice, with a dash and with an underscore"
        elif name not in Settings.__struct_fields__:
            yield _unknown(written, value)
        elif error := _error(name, value):
            yield f"{written} ({option_name(name)}): {error}"
        seen.add(name)


def _name(written: str) -> str:
    return written.replace("-", "_")


def _unknown(written: str, value: object) -> str:
    if isinstance(value, dict):
        return f"there is no table [{written}]: settings are not in tables"
    options = [option_name(name).removeprefix("--") for name in Settings.__struct_fields__]
    hint = did_you_mean(written.replace("_", "-"), options) or f"; the settings are {', '.join(options)}"
    return f"there is no setting {written}{hint}"


def _error(name: str, value: object) -> str:
    if any("\0" in text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)):
        return "a text cannot hold the character NUL"
    try:
        make_settings({name: value})
    except msgspec.ValidationError:
        return f"{describe_values(name)} is needed{_contrast(name, value)}"
    return ""


def _contrast(name: str, value: object) -> str:
    """Return what is there instead; nothing of a setting that takes several texts, which may be keys."""
    if isinstance(getattr(Settings(), name), tuple) or not isinstance(value, str | int | float):
        return ""
    return f", not {str(value).lower() if isinstance(value, bool) else repr(value)}"
