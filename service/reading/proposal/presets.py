"""Propose what to add to a preset for a file of its source."""

from collections.abc import Mapping, Sequence
from typing import Final

from service.model.kinds import INSTANT
from service.model.records import STORES, Field
from service.reading.columns.field_names import COORDINATES, find_alike
from service.reading.mapping.mapped_records import resolve_columns
from service.reading.mapping.mapping_file import load_mapping
from service.reading.mapping.toml import inline_table, quoted
from service.reading.proposal.entries import fill_in, join, missing_notes, propose_entries, propose_entry
from service.reading.proposal.first_records import FirstRecords
from service.reading.proposal.flag import ProposedEntry, used_columns

# A preset -> sets of columns; the files of its source have all of one set, and hardly any others do.
SIGNATURES: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "all-the-places": [("@spider",)],
    "overture": [("names.primary", "addresses.0.locality", "sources.0.dataset")],
    "openstreetmap": [("@id", "shop"), ("@id", "addr:street"), ("shop", "addr:street")],
    "google-business-profile": [("Store code", "Business name")],
}


def find_preset(names: Sequence[str]) -> str | None:
    """Return the preset of a file with some columns, None if there is none for it."""
    has = {preset: any(all(find_alike(each, names).values()) for each in some) for preset, some in SIGNATURES.items()}
    return next((preset for preset, has_columns in has.items() if has_columns), None)


def entries_of_preset(preset: str, first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return how a preset makes the fields, of the columns that a file has. Raises FileError."""
    filled = {name for name, column in first.columns.items() if column.has_values or not first.count}
    resolved = resolve_columns(list(first.columns), load_mapping(preset).stores, STORES, is_table=False, by_name=True)
    entries = {}
    for field, entry in resolved.items():
        found = [(list(filter(filled.__contains__, each.columns)), each.separator) for each in entry.sources]
        separators = ({} if each == " " else {"separator": quoted(each)} for _, each in found)
        texts = [join(names, keys).value for (names, _), keys in zip(found, separators, strict=True) if names]
        if entry.closing_date and entry.closing_date in first.columns:
            entries[field] = ProposedEntry(columns=(entry.closing_date,))
        elif texts:
            value = texts[0] if len(texts) == 1 else inline_table({"first": f"[{', '.join(texts)}]"})
            entries[field] = ProposedEntry(value, tuple(name for columns, _ in found for name in columns))
    return entries


def entries_to_add(made: Mapping[str, ProposedEntry], first: FirstRecords) -> dict[str, ProposedEntry]:
    """Return entries where those of a preset are not enough: values are missing, or dates have another format."""
    fields = STORES.fields if first.count else ()
    added = {field.name: _entry_to_add(field, made.get(field.name, ProposedEntry()), first) for field in fields}
    return {field: entry for field, entry in added.items() if entry}


def complete_preset(made: Mapping[str, ProposedEntry], first: FirstRecords, *, paths: bool) -> dict[str, ProposedEntry]:
    """Return entries of the fields for which a file has none of the columns of a preset, from its other columns."""
    used = used_columns(made)
    others = {name: column for name, column in first.columns.items() if name not in used}
    own = propose_entries(FirstRecords(others, first.count), paths=paths)
    if not made.keys().isdisjoint(COORDINATES):  # a pair of one source
        own = {field: entry for field, entry in own.items() if field not in COORDINATES}
    return {field: entry for field, entry in own.items() if field not in made}


def _entry_to_add(field: Field, made: ProposedEntry, first: FirstRecords) -> ProposedEntry | None:
    if field.kind is INSTANT and len(made.columns) == 1:
        proposed = propose_entry(field, first.columns[made.columns[0]], first)
        return None if proposed.value == made.value else proposed
    if not field.required or not (missing := first.count_missing(made.columns)):
        return None
    if missing == first.count:
        return fill_in(field, (), first)
    return ProposedEntry(columns=made.columns, notes=missing_notes(field, made, first))
