"""Propose what to add to a preset for a file of its source."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from service.model.kinds import INSTANT
from service.model.records import STORES, Field
from service.reading.columns.field_names import column_key
from service.reading.columns.flags import IS_OPEN
from service.reading.mapping.declaration import JoinedColumns
from service.reading.mapping.mapped_records import resolve_columns
from service.reading.mapping.mapping_file import load_mapping
from service.reading.mapping.toml import array, inline_table, quoted
from service.reading.proposal.column_choice import FirstRecords, find_flags
from service.reading.proposal.entries import fill_in, missing_notes, propose_entry
from service.reading.proposal.flag import ProposedEntry, propose_closing

# A preset -> sets of columns; the files of its source have all of one set, and hardly any others do.
SIGNATURES: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "all-the-places": [("@spider",)],
    "overture": [("names.primary", "addresses.0.locality", "sources.0.dataset")],
    "openstreetmap": [("@id", "shop"), ("@id", "addr:street"), ("shop", "addr:street")],
    "google-business-profile": [("Store code", "Business name")],
}


def find_preset(names: Iterable[str]) -> str | None:
    """Return the preset of a file with some columns, None if there is none for it."""
    keys = set(map(column_key, names))
    for preset, signatures in SIGNATURES.items():
        if any(keys.issuperset(map(column_key, signature)) for signature in signatures):
            return preset
    return None


def entries_of_preset(preset: str, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return how a preset makes the fields, of the columns that a file has. Raises FileError."""
    resolved = resolve_columns(list(first.columns), load_mapping(preset).stores, STORES, is_table=False, by_name=True)
    found = {field: list(_found(entry.sources, first)) for field, entry in resolved.items()}
    return {field: _entry(sources) for field, sources in found.items() if sources}


def entries_to_add(made: Mapping[str, ProposedEntry], first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return entries where those of a preset are not enough: values are missing, or dates have another format."""
    added = {field.name: _entry_to_add(field, made.get(field.name, ProposedEntry()), first) for field in STORES.fields}
    return {field: entry for field, entry in added.items() if entry is not None} if first.count else {}


def flag_to_add(preset: str, made: Mapping[str, ProposedEntry], first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return the entry of is_open, if the preset has none, from the other columns."""
    if IS_OPEN.name in load_mapping(preset).stores.fields:
        return {}
    used = {name for entry in made.values() for name in entry.columns}
    others = [column for name, column in first.columns.items() if name not in used and column.has_values]
    flags = find_flags(others)
    entries = {} if flags is None else {IS_OPEN.name: propose_entry(IS_OPEN, flags, first)}
    return entries | propose_closing(others, entries, first)


def _found(sources: Iterable[JoinedColumns], first: FirstRecords) -> Iterator[JoinedColumns]:
    for source in sources:
        if columns := tuple(name for name in source.columns if name in first.columns):
            yield JoinedColumns(columns, source.separator)


def _entry(sources: list[JoinedColumns]) -> ProposedEntry:
    columns = tuple(name for source in sources for name in source.columns)
    texts = list(map(_as_toml, sources))
    return ProposedEntry(texts[0] if len(texts) == 1 else inline_table({"first": f"[{', '.join(texts)}]"}), columns)


def _as_toml(source: JoinedColumns) -> str:
    if len(source.columns) == 1:
        return quoted(source.columns[0])
    separator = {} if source.separator == " " else {"separator": quoted(source.separator)}
    return inline_table({"join": array(source.columns)} | separator)


def _entry_to_add(field: Field, made: ProposedEntry, first: FirstRecords) -> ProposedEntry | None:
    if field.kind is INSTANT and len(made.columns) == 1:
        proposed = propose_entry(field, first.columns[made.columns[0]], first)
        return None if proposed.value == made.value else proposed
    if not field.required or not (missing := first.count_missing(made.columns)):
        return None
    if missing == first.count:
        return fill_in(field, (), first)
    return ProposedEntry(columns=made.columns, notes=missing_notes(field, made, first))
