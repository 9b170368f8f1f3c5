"""A proposed entry of a mapping."""

from collections.abc import Mapping
from typing import Final

import msgspec

from service.reading.mapping.toml_text import inline_table

KEEP_ONE: Final = "Keep one of these lines:"


class ProposedEntry(msgspec.Struct, frozen=True):
    """A proposed mapping of a field.

    value    in TOML; "" if the file does not show it
    columns  the columns that it is made of
    comment  what to check about the value
    notes    what to know before it
    """

    value: str = ""
    columns: tuple[str, ...] = ()
    comment: str = ""
    notes: tuple[str, ...] = ()


def with_keys(value: str, keys: Mapping[str, str]) -> str:
    """Return the value of an entry with more keys, each with its value in TOML; "" is an entry without any."""
    table = inline_table({"from": value}) if value.startswith('"') else value
    return f"{table.removesuffix(' }')}, {inline_table(keys).removeprefix('{ ')}" if table else inline_table(keys)
