"""Read and write TOML: tables as structs, and texts that are safe to print."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from service.reading.diagnostics import FileError
from service.texts import did_you_mean

_QUOTES_HINT: Final = '; texts and names of columns are in straight quotes, as in city = "Ort"'
MAX_SIZE: Final = 1 << 20  # bytes; a mapping is written by a person
_MAX_DOTS: Final = 1_000  # in a line; tomllib takes the square of the length of a dotted key, which is in one line
_Table = TypeVar("_Table", bound=msgspec.Struct)


def parse_toml(stored: bytes) -> dict[str, Any]:
    """Return the tables of a document. Raises FileError."""
    if len(stored) > MAX_SIZE:
        raise FileError(f"the mapping is larger than {MAX_SIZE >> 20} MiB")
    try:
        text = stored.decode("utf-8-sig").replace("\r\n", "\n")
        for line_number, content in enumerate(text.split("\n"), 1):
            if content.count(".") > _MAX_DOTS:
                raise FileError(f"the line has more than {_MAX_DOTS:,} dots: break it into several", line_number)
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise FileError("the mapping is not UTF-8: save it as UTF-8") from None
    except RecursionError:
        raise FileError("the mapping is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line ([0-9]+)", str(error))
        hint = _QUOTES_HINT if str(error).startswith("Invalid value") else ""
        raise FileError(f"not valid TOML: {error}{hint}", int(line[1]) if line else None) from None
    except ValueError:  # an integer of more digits than Python converts
        raise FileError("a number of the mapping is too long") from None


def read_table(value: object, table: type[_Table], key_path: str) -> _Table:
    """Return a table of TOML as its struct. Raises FileError with the key that is unknown, or has a wrong type."""
    keys = keys_of(table)
    for key in value if isinstance(value, Mapping) else ():
        if key not in keys:
            known = did_you_mean(key, keys) or f"; the keys are {', '.join(keys)}"
            raise FileError(f"{join_keys(key_path, key)}: unknown key{known}")
    try:
        return msgspec.convert(value, table)
    except msgspec.ValidationError as error:
        why, _, path = str(error).partition(" - at `$")
        in_toml = (why[:1].lower() + why[1:]).replace("`object`", "`table`").replace(" | null", "")
        raise FileError(f"{join_keys(key_path, path.strip('`.'))}: {in_toml}") from None


def refuse(key_path: str, reasons: Mapping[str, object]) -> None:
    """Raise FileError with the first reason whose value is true, after the dotted key that it is about."""
    for why in filter(reasons.get, reasons):
        raise FileError(key_path + why)


@cache
def keys_of(table: type[msgspec.Struct]) -> list[str]:
    """Return the keys of a table."""
    return [field.encode_name for field in msgspec.structs.fields(table)]


def join_keys(*keys: str) -> str:
    """Return the dotted key of a value; an index in brackets belongs to the key before."""
    return ".".join(filter(None, keys)).replace(".[", "[")


def quoted(text: str) -> str:
    """Return a text as a basic string; what is not printable is escaped."""
    escaped = (f"\\{each}" if each in '"\\' else each if each.isprintable() else f"\\U{ord(each):08X}" for each in text)
    return f'"{"".join(escaped)}"'


def toml(value: object) -> str:
    """Return a text, flag, number, array or table on one line; the keys of tables are in TOML already."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {toml(each)}' for key, each in value.items())} }}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, Sequence) else str(value).lower()


def one_or_several(texts: Sequence[str]) -> str | Sequence[str]:
    """Return a single text, or the array of several."""
    return texts[0] if len(texts) == 1 else texts
