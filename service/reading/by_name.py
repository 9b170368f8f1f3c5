"""Take the columns of a file as the fields that they are named like."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from service.model.records import STORES, Resource
from service.reading.batch import Batch
from service.reading.diagnostics import FileError, printable, truncate
from service.reading.field_names import MAX_UNUSED, suggest_field
from service.reading.record_file import RecordFile

_IGNORED: Final = re.compile(r"[\s_-]+")
_MAPPING_HINT: Final = "; `store-directory mapping` proposes a mapping of other columns"
# Columns of formats of geographic features, for fields that no column is named like.
_FEATURE_ID: Final = "feature.id"
_GEOMETRY: Final = "geometry."


class RecordsByName:
    """The records of a file by field.

    columns  field -> its column, of the fields that have one
    assumed  what was assumed about the file and about its names, each in a few words
    """

    def __init__(self, file: RecordFile, resource: Resource) -> None:
        """Find the columns. Raises FileError if that of a required field is missing, or a field has two."""
        self._file, self._fields = file, [field.name for field in resource.fields]
        self.columns = columns_by_name(file.names, resource, self._fields, file.line)
        if file.is_table or file.names:  # else it has no records
            check_required_columns(self.columns, file.names, resource, file.line)
        self.assumed = [*file.assumed, *describe_renamed(self.columns)]
        if not file.is_table:  # later records may have other members
            self.columns |= {field: field for field in self._fields if field not in self.columns}

    def batches(self) -> Iterator[Batch]:
        """Yield all records in order, with a cell for each field. Raises FileError."""
        for batch in self._file.batches(list(self.columns.values())):
            no_cells = (None,) * len(batch.numbers)
            cells = {
                field: batch.columns[self.columns[field]] if field in self.columns else no_cells
                for field in self._fields
            }
            yield msgspec.structs.replace(batch, columns=cells)


def columns_by_name(
    names: Sequence[str], resource: Resource, fields: Sequence[str], line: int | None = None
) -> dict[str, str]:
    """Return the column of each of some fields that has one: of its exact name, or with other case and separators.

    Raises FileError with the line of the names if a field has two columns of the second kind.
    """
    columns = _find_columns(names, fields, line)
    if resource.coordinates is None:
        return columns
    if resource.identifier in fields and resource.identifier not in columns and _FEATURE_ID in names:
        columns[resource.identifier] = _FEATURE_ID
    if columns.keys().isdisjoint(resource.coordinates) and set(fields) >= set(
        resource.coordinates
    ):  # not halves of two
        geometry = {field: f"{_GEOMETRY}{field}" for field in resource.coordinates}
        columns |= {field: column for field, column in geometry.items() if column in names}
    return columns


def has_required_columns(names: Sequence[str], resource: Resource) -> bool:
    """Return whether each required field of a resource has a column."""
    required = [field.name for field in resource.fields if field.required]
    try:
        return len(_find_columns(names, required)) == len(required)
    except FileError:
        return False


def check_required_columns(
    columns: Mapping[str, str], names: Sequence[str], resource: Resource, line: int | None = None
) -> None:
    """Raise FileError if a required field of a resource has no column, with the names that may be meant."""
    missing = [field.name for field in resource.fields if field.required and field.name not in columns]
    if missing:
        used = set(columns.values())
        unused = [name for name in names if name not in used][:MAX_UNUSED]
        candidates = {suggest_field(name, resource): truncate(name) for name in unused}
        hints = [f"{field} (rename {candidates[field]!r}?)" if field in candidates else field for field in missing]
        mapping_hint = _MAPPING_HINT if resource is STORES else ""
        raise FileError(f"missing columns: {', '.join(hints)}{mapping_hint}", line)


def describe_renamed(columns: Mapping[str, str]) -> list[str]:
    """Return the columns that are not named exactly like their fields, as one text if there are any."""
    renamed = [f"{_quoted(column)} → {field}" for field, column in columns.items() if column != field]
    return [f"columns {', '.join(renamed)}"] if renamed else []


def column_key(name: str) -> str:
    """Return the name of a column without what does not matter: case, spaces, underscores and hyphens."""
    return _IGNORED.sub("", name).casefold()


def _find_columns(names: Sequence[str], fields: Sequence[str], line: int | None = None) -> dict[str, str]:
    exact, alike = set(names), _by_key(names, map(column_key, fields))
    columns = {}
    for field in fields:
        found = [field] if field in exact else alike[column_key(field)]
        if len(found) > 1:
            raise FileError(f"{' and '.join(map(_quoted, found[:2]))} are both columns of {field}: rename one", line)
        if found:
            columns[field] = found[0]
    return columns


def _by_key(names: Iterable[str], keys: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {key: [] for key in keys}
    for name in names:
        if (key := column_key(name)) in found:
            found[key].append(name)
    return found


def _quoted(name: str) -> str:
    return f'"{printable(truncate(name))}"'
