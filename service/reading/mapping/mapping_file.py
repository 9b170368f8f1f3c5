"""Read a mapping: the file mapping.toml, or a preset; how its tables are read, and their cells cleaned."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from encodings.aliases import aliases
from pathlib import Path
from typing import Any, Final

import msgspec

from service.model.records import COMPANIES, STORES, Field, Resource
from service.reading.characters import REPAIRS, meant_by_c1
from service.reading.columns.field_names import suggest_field
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import is_delimiter
from service.reading.formats.table_file import TableOptions
from service.reading.mapping.declaration import (
    CompaniesTable,
    DataMapping,
    FieldMapping,
    FileTable,
    ResourceMapping,
    StoresTable,
)
from service.reading.mapping.entries import check_distinct, find_time_zone, parse_attributes, parse_entry, parse_formats
from service.reading.mapping.toml import MAX_SIZE, parse_toml, read_table, refuse
from service.reading.text import parse_encoding, read_stored
from service.texts import did_you_mean, truncate

_FOLDER: Final = Path(__file__).parent / "presets"
_OF_STORES: Final = ("fields", "files", "attributes")  # keys that are not those of companies that are derived from them
PRESETS: Final = tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def load_mapping(name: str | Path, errors: list[FileError] | None = None) -> DataMapping:
    """Return the mapping of a file, or the preset of a name; see `parse_mapping`."""
    if str(name) in PRESETS:
        return _parse_tables(_read_preset(str(name)))
    try:
        stored = read_stored(Path(name), what="the mapping", most=MAX_SIZE + 1)
    except FileError as error:
        raise FileError(f"{error.why}{did_you_mean(str(name), PRESETS)}") from None
    return parse_mapping(stored, errors)


def parse_mapping(stored: bytes, errors: list[FileError] | None = None) -> DataMapping:
    """Return the mapping in the bytes of its file. Raises FileError, with the key that is wrong.

    With a list for `errors`, those of entries are added to it, and required fields get a constant: see `is_incomplete`.
    """
    own = parse_toml(stored)
    preset = read_table(own, FileTable, "").preset
    if preset is None:
        return _parse_tables(own, errors)
    if preset not in PRESETS:
        hint = did_you_mean(preset, PRESETS) or f"; the presets are {', '.join(PRESETS)}"
        raise FileError(f"preset: no preset {preset!r}{hint}")
    return _parse_tables(_merge(_read_preset(preset), own), errors)


def is_incomplete(mapping: DataMapping) -> bool:
    """Return whether the entry of an identifier has an error, so that records cannot be compared."""
    keys = (STORES.identifier, COMPANIES.identifier)
    return any(each.fields.get(key) == _stand_in(key) for each in (mapping.stores, mapping.companies) for key in keys)


def _stand_in(field: str) -> FieldMapping:
    """Return how a required field is made whose entry has an error: then nothing is missing."""
    return FieldMapping(default=field)


def _read_preset(name: str) -> dict[str, Any]:
    """Return the tables of a preset. A file may be without any of its columns."""
    tables = parse_toml((_FOLDER / f"{name}.toml").read_bytes())
    for table in tables.values():
        fields = table.get("fields", {}).items()
        entries = {field: {"from": entry} if isinstance(entry, str) else entry for field, entry in fields}
        table["fields"] = {field: entry | {"optional": True} for field, entry in entries.items()}
    return tables


def _merge(preset: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**preset, **own}
    for name, table in preset.items():
        fields = own.get(name, {}).get("fields", {})
        if isinstance(fields, dict):  # otherwise it is reported when it is checked
            merged[name] = {**table, **own.get(name, {}), "fields": table["fields"] | fields}
    return merged


def _parse_tables(tables: Mapping[str, Any], errors: list[FileError] | None = None) -> DataMapping:
    file = read_table(tables, FileTable, "")
    derives = "from" in file.companies
    # Derived companies are read from the files of the stores: their options are theirs.
    options = {key: value for key, value in file.stores.items() if key not in _OF_STORES} if derives else {}
    of_stores = read_table(file.stores, StoresTable, STORES.name)
    stores = _parse_resource(of_stores, STORES, errors)
    table = read_table(options | file.companies, CompaniesTable, COMPANIES.name)
    if derives and table.source != STORES.name:
        raise FileError(f'companies.from: expected "{STORES.name}"')
    companies = _parse_resource(table, COMPANIES, errors)
    if derives:
        stores, companies = _share_identifier(stores, companies)
    if derives and table.files is not None:
        raise FileError("companies.files: not used, because the companies are derived from the stores")
    files = {STORES.name: of_stores.files, COMPANIES.name: table.files}
    patterns = {name: _parse_patterns(each, f"{name}.files") for name, each in files.items() if each is not None}
    return DataMapping(files=patterns, stores=stores, companies=companies, derives_companies=derives)


def _parse_resource(table: StoresTable, resource: Resource, errors: list[FileError] | None) -> ResourceMapping:
    key_path, fields = resource.name, dict[str, FieldMapping]()
    found = list[FileError]() if errors is None else errors
    for name, entry in table.fields.items():
        try:
            fields[name] = parse_entry(entry, _find_field(name, resource), f"{key_path}.fields.{name}")
        except FileError as error:
            found.append(error)
    failed = table.fields.keys() - fields.keys()
    fields |= {each.name: _stand_in(each.name) for each in resource.fields if each.required and each.name in failed}
    attributes, mapped = parse_attributes(table.attributes, resource, table.decimal, f"{key_path}.attributes", found)
    if errors is None and found:
        raise found[0]
    table_options = _parse_table_options(table, key_path)
    return ResourceMapping(
        fields=fields | mapped,
        attributes=attributes,
        encoding=table.encoding,
        table=table_options,
        decimal=table.decimal,
        dates=parse_formats(table.date, f"{key_path}.date"),
        time_zone=None if table.time_zone is None else find_time_zone(table.time_zone, f"{key_path}.time_zone"),
        no_value=frozenset(text.strip(" ").casefold() for text in table.no_value),
    )


def _find_field(name: str, resource: Resource) -> Field:
    known = {field.name: field for field in resource.fields}
    if name not in known:
        near = suggest_field(name, resource)
        hint = f"; did you mean {near}?" if near else did_you_mean(name, known)
        raise FileError(f"{resource.name}.fields.{name}: not a field{hint}")
    return known[name]


def _share_identifier(stores: ResourceMapping, companies: ResourceMapping) -> tuple[ResourceMapping, ResourceMapping]:
    """Return both mappings with the one entry for the company, which is the name of companies without another."""
    key = COMPANIES.identifier
    store_key = stores.fields.get(key) or companies.fields.get(key) or FieldMapping.of_column(key)
    company_key = companies.fields.get(key) or store_key
    return (
        msgspec.structs.replace(stores, fields={**stores.fields, key: store_key}),
        msgspec.structs.replace(companies, fields={"name": company_key, **companies.fields, key: company_key}),
    )


def _parse_patterns(patterns: Sequence[str], key_path: str) -> tuple[str, ...]:
    path = next((each for each in patterns if set(each) & set("/\\\0")), "")
    reasons = {
        ': expected names of files, as in ["stores-*.csv"]': not patterns or not all(patterns),
        f": {truncate(path)!r} is a path: expected names of files beside each other": path,
    }
    refuse(key_path, reasons)
    return tuple(patterns)


def _find_encoding(name: str, key_path: str, others: Iterable[str] = ()) -> str:
    if found := _encoding(name):
        return found
    known = {each.replace("_", "-") for each in (*aliases, *aliases.values())}
    hint = did_you_mean(name, sorted([*others, *filter(_encoding, known)]))
    raise FileError(f"{key_path}: no text encoding {name!r}{hint}")


def _encoding(name: str) -> str | None:
    with suppress(ValueError):
        return parse_encoding(name)
    return None


def _parse_repairs(declared: str | Sequence[str], key_path: str) -> tuple[str, ...]:
    names = [declared] if isinstance(declared, str) else declared
    repairs = [name if name in REPAIRS else _find_encoding(name, key_path, REPAIRS) for name in names]
    for name, repair in zip(names, repairs, strict=True):
        why = f": {name!r} has no characters for the bytes 0x80 to 0x9F; most files need windows-1252"
        refuse(key_path, {why: repair not in REPAIRS and not meant_by_c1(repair)})
    return tuple(repairs)


def _parse_table_options(table: StoresTable, key_path: str) -> TableOptions:
    if table.encoding is not None:
        _find_encoding(table.encoding, f"{key_path}.encoding")
    one_character = ".delimiter: expected one character, but no letter, digit or quote"
    reasons = {
        '.decimal: expected "." or ","': table.decimal not in (".", ","),
        one_character: table.delimiter is not None and not is_delimiter(table.delimiter),
        '.quote: expected "" if quotes are ordinary characters': table.quote not in ('"', ""),
        ".columns: expected a name for each column of the file": table.columns is not None
        and not (table.columns and all(map(str.strip, table.columns))),
        ".sheets: expected names of sheets, or one in sheet": table.sheets == []
        or None not in (table.sheets, table.sheet),
    }
    refuse(key_path, reasons)
    for key, names in {"columns": table.columns, "sheets": table.sheets}.items():
        check_distinct(names or (), f"{key_path}.{key}")
    options = {key: getattr(table, key) for key in TableOptions.__struct_fields__} | {
        "repair": _parse_repairs(table.repair, f"{key_path}.repair"),
        "columns": tuple(table.columns or ()),
        "sheets": tuple(table.sheets or ()) if table.sheet is None else (table.sheet,),
    }
    return TableOptions(**options)
