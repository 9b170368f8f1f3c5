"""Propose attributes for the columns that are left: as comments, so that adding one is deleting a `#`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final
from unicodedata import combining, normalize

import msgspec

from service.model.attributes import MOST, NAME, RESERVED
from service.model.records import PREFIX, STORES
from service.reading.mapping.toml_text import inline_table, quoted
from service.reading.proposal.attribute_kinds import kind_keys, of_kind
from service.reading.proposal.first_records import ColumnSample, FirstRecords

_HOW: Final = "# The columns that are left: to serve one, delete the # of its line."
_IN_LISTS: Final = ".0"  # the end of the path of the first text of an array
_NOT_ASCII: Final = re.compile(r"[^a-z0-9]+")
_UNNAMED: Final = "column"
_MAX_NAME: Final = 50  # characters, so that a number has a place behind them


class ProposedAttributes(msgspec.Struct, frozen=True):
    """The lines of a mapping that declare attributes, and the names of columns for which there are too many."""

    lines: Sequence[str]
    unused: Sequence[str]


def propose_attributes(
    columns: Sequence[ColumnSample], first: FirstRecords, *, decimal: str, paths: bool
) -> ProposedAttributes:
    """Return the attributes of some columns; `paths` if the names of columns are paths.

    `decimal` is the decimal separator of the stores.
    """
    names = _names(columns)
    lines = [
        f"# {name} = {inline_table(_keys(column, first, decimal=decimal, paths=paths))}"
        for name, column in zip(names, columns[:MOST], strict=False)
    ]
    heading = [f"[{STORES.name}.attributes]", _HOW] if lines else []
    return ProposedAttributes([*heading, *lines], [column.name for column in columns[MOST:]])


def _names(columns: Iterable[ColumnSample]) -> Iterator[str]:
    """Yield a name for each column that is valid, of no field, and of no other column."""
    taken = RESERVED | {field.name for field in STORES.fields}
    for column in columns:
        name = _name(column.name)
        numbered = (f"{name}_{number}" for number in count(2))
        chosen = name if name not in taken else next(each for each in numbered if each not in taken)
        taken |= {chosen}
        yield chosen


def _name(column: str) -> str:
    """Return the name of a column in ASCII, as that of an attribute."""
    letters = normalize("NFKD", column.removeprefix(PREFIX).removesuffix(_IN_LISTS).casefold())
    plain = "".join(letter for letter in letters if not combining(letter))
    name = _NOT_ASCII.sub("_", plain).strip("_")[:_MAX_NAME]
    return name if NAME.fullmatch(name) else f"{_UNNAMED}_{name}".strip("_")


def _keys(column: ColumnSample, first: FirstRecords, *, decimal: str, paths: bool) -> dict[str, str]:
    """Return the keys of an attribute, each with its value in TOML."""
    if paths and _is_array(column, first):
        source, found = column.name.removesuffix(_IN_LISTS), of_kind("list")
    else:
        source, found = column.name, kind_keys(column, first, decimal=decimal)
    return {"from": quoted(source), **found, "invalid": quoted("null")}


def _is_array(column: ColumnSample, first: FirstRecords) -> bool:
    """Return whether a column is the first of the texts in an array."""
    array_path = column.name.removesuffix(_IN_LISTS)
    alone = sum(name.startswith(f"{array_path}.") for name in first.columns) == 1
    return array_path != column.name and alone and all(isinstance(cell, str | None) for cell in column.cells)
