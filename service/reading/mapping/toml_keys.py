"""Check the keys and types of the tables of a mapping."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from service.reading.batches.diagnostics import FileError
from service.suggestion import did_you_mean

_Table = TypeVar("_Table", bound=msgspec.Struct)


def read_table(value: object, table: type[_Table], key_path: str) -> _Table:
    """Return a table of TOML as its struct. Raises FileError with the key that is unknown, or has a wrong type."""
    _check_keys(value, keys_of(table), key_path)
    try:
        return msgspec.convert(value, table)
    except msgspec.ValidationError as error:
        why, _, path = str(error).partition(" - at `$")
        raise FileError(f"{join_keys(key_path, path.strip('`.'))}: {_in_toml(why)}") from None


def keys_of(table: type[msgspec.Struct]) -> list[str]:
    """Return the keys of a table."""
    return [field.encode_name for field in msgspec.structs.fields(table)]


def join_keys(*keys: str) -> str:
    """Return the dotted key of a value; an index in brackets belongs to the key before."""
    return ".".join(filter(None, keys)).replace(".[", "[")


def _check_keys(value: object, keys: Sequence[str], key_path: str) -> None:
    for key in value if isinstance(value, Mapping) else ():
        if key not in keys:
            known = did_you_mean(key, keys) or f"; the keys are {', '.join(keys)}"
            raise FileError(f"{join_keys(key_path, key)}: unknown key{known}")


def _in_toml(why: str) -> str:
    """Return a message of msgspec in the terms of TOML."""
    return (why[:1].lower() + why[1:]).replace("`object`", "`table`").replace(" | null", "")
