"""Check the entries of a mapping: how a field is made of columns."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec import UNSET, UnsetType

from service.model.kinds import DATE, FLAG, INSTANT
from service.model.records import STORES, Field
from service.reading.batches.diagnostics import FileError
from service.reading.mapping.declaration import Constant, FieldMapping, FieldTable, JoinedColumns, JoinTable, SplitPart
from service.reading.mapping.mapping_options import parse_date_formats
from service.reading.mapping.toml_keys import join_keys, read_table
from service.texts import truncate

_T = TypeVar("_T")
SOURCES: Final = ("from", "join", "first", "constant")
_CLOSING_DATE: Final = "closing_date"
_MAX_TEXT: Final = 200  # characters of a text that may be in each record
_NOT_WITH_A_CONSTANT: Final = ("split", "part", "default", "values", "other")
_OF_CLOSING_DATES: Final = ("date", "optional")


def parse_entry(entry: object, field: Field, key_path: str) -> FieldMapping:
    """Return how a field is made. Raises FileError, with the key that is wrong."""
    if isinstance(entry, str):
        return FieldMapping(sources=(JoinedColumns((entry,)),))
    if not isinstance(entry, Mapping):
        raise FileError(f'{key_path}: expected a column, or a table such as {{ join = ["Street", "Number"] }}')
    table = read_table(entry, FieldTable, key_path)
    _check_combination(entry, key_path)
    _check_values(table, field, key_path)
    return FieldMapping(
        sources=_sources(table, key_path),
        split=_split(table, key_path),
        default=_or(table.default, _or(table.constant, None)),
        values=_folded(_or(table.values, {}), key_path),
        other=_or(table.other, None),
        dates=None if isinstance(table.date, UnsetType) else parse_date_formats(table.date, f"{key_path}.date"),
        closing_date=table.closing_date,
        optional=table.optional,
    )


def _check_combination(entry: Mapping[str, object], key_path: str) -> None:
    """Check that the keys are used only with those that give them a meaning."""
    declared = [key for key in SOURCES if key in entry]
    closes = _CLOSING_DATE in entry
    if len(declared) > 1 or not (declared or closes):
        found = f", found {' and '.join(declared)}" if declared else ""
        raise FileError(f"{key_path}: expected one of {', '.join(SOURCES)}{found}")
    not_used = _NOT_WITH_A_CONSTANT + (() if closes else _OF_CLOSING_DATES)
    if "constant" in entry and (unused := [key for key in not_used if key in entry]):
        raise FileError(f"{key_path}.{unused[0]}: not used, because the field is a constant")
    if "separator" in entry and "join" not in entry:
        raise FileError(f"{key_path}.separator: not used, because there is no join")
    if ("split" in entry) != ("part" in entry):
        raise FileError(f'{key_path}: split and part need each other, as in split = ",", part = 1')


def _check_values(table: FieldTable, field: Field, key_path: str) -> None:
    """Check that the values of a flag are true or false, those of other fields texts; a required one is not empty."""
    is_flag = field.kind is FLAG
    expected, what = (bool, "true or false") if is_flag else (str, "a text in quotes")
    values = {f"values.{text}": value for text, value in _or(table.values, {}).items()}
    for key, value in {"constant": table.constant, "default": table.default, "other": table.other, **values}.items():
        if not isinstance(value, expected | UnsetType):
            expects = "empty: give it true or false" if is_flag and value == "" else f"expected {what}"
            raise FileError(f"{key_path}.{key}: {expects}")
        _check_length(value, f"{key_path}.{key}")
    if field.name == STORES.identifier and table.constant is not UNSET:
        how = f'name a column, as in {field.name} = "Number"'
        raise FileError(f"{key_path}.constant: every store would get the same id: {how}")
    for key, value in {"constant": table.constant, "default": table.default}.items():
        if field.required and isinstance(value, str) and not value.strip():
            raise FileError(f"{key_path}.{key}: empty, but the field is required: fill it in")
    if table.closing_date is not None and (not is_flag or field.attribute):
        raise FileError(f"{key_path}.{_CLOSING_DATE}: only is_open of stores has a closing date")
    if table.closing_date == "":
        raise FileError(f"{key_path}.{_CLOSING_DATE}: expected the name of a column")
    if table.date is not UNSET and field.kind not in (INSTANT, DATE) and table.closing_date is None:
        raise FileError(f"{key_path}.date: not used, because the field is not a date")


def _sources(table: FieldTable, key_path: str) -> tuple[JoinedColumns, ...]:
    if not isinstance(table.column, UnsetType):
        return (JoinedColumns((table.column,)),)
    if not isinstance(table.join, UnsetType):
        return (_joined(table.join, _or(table.separator, " "), f"{key_path}.join"),)
    first = _or(table.first, [])
    if not first and table.first is not UNSET:
        raise FileError(f"{key_path}.first: expected at least one column")
    return tuple(_source(each, join_keys(key_path, "first", f"[{index}]")) for index, each in enumerate(first))


def _source(each: object, key_path: str) -> JoinedColumns:
    if isinstance(each, str):
        return JoinedColumns((each,))
    table = read_table(each, JoinTable, key_path)
    return _joined(table.join, table.separator, f"{key_path}.join")


def _joined(columns: list[str], separator: str, key_path: str) -> JoinedColumns:
    if not columns:
        raise FileError(f"{key_path}: expected at least one column")
    if repeated := next((name for name, count in Counter(columns).items() if count > 1), None):
        raise FileError(f"{key_path}: {truncate(repeated)!r} is repeated")
    _check_length(separator, f"{key_path.removesuffix('join')}separator")
    return JoinedColumns(tuple(columns), separator)


def _split(table: FieldTable, key_path: str) -> SplitPart | None:
    if isinstance(table.split, UnsetType) or isinstance(table.part, UnsetType):
        return None
    if not table.split:
        raise FileError(f"{key_path}.split: expected the text between the two parts")
    _check_length(table.split, f"{key_path}.split")
    return SplitPart(table.split, table.part)


def _check_length(text: object, key_path: str) -> None:
    if isinstance(text, str) and len(text) > _MAX_TEXT:
        raise FileError(f"{key_path}: longer than {_MAX_TEXT} characters")


def _folded(values: Mapping[str, Constant], key_path: str) -> dict[str, Constant]:
    folded: dict[str, Constant] = {}
    for text, value in values.items():
        if folded.setdefault(text.strip().casefold(), value) != value:
            raise FileError(f"{key_path}.values.{text}: has another value in another case")
    return folded


def _or(value: _T | UnsetType, default: Any) -> Any:
    return default if isinstance(value, UnsetType) else value
