"""Check the cells of a field: each becomes a value and its normalized key, or an issue."""

import re
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from functools import partial
from typing import Any, Final

import msgspec

from service.engine.columns.column import KEY_END, NULL_KEY, join_keys, list_key
from service.loading.fast_path import read_plain_column
from service.model.kinds import (
    DECIMAL_KEYS,
    FLAG,
    HOURS,
    IDENTIFIER,
    INSTANT,
    MAX_LATITUDE,
    MAX_LONGITUDE,
    NUMBER,
    NUMBER_PATTERN,
    POSTAL,
    Kind,
    fold,
    format_instant,
    number_key,
    parse_flag,
    parse_instant,
)
from service.model.records import Field
from service.reading.batch import Cell, Invalid, TextCells, Value, WrongType
from service.reading.characters import check_characters, may_have_wrong_characters
from service.reading.diagnostics import Issue
from service.reading.mapping.conversions import control_issue

# What programs and people write for no value; compared after folding.
PLACEHOLDERS: Final = frozenset(
    {"null", "(null)", r"\n", "nan", "n/a", "#n/a", "na", "none", "undefined", "-", "--", "–", "—", "() -"}  # noqa: RUF001 - dashes
)
# Placeholders that may be real values: any word may be a name, None is a town in Italy, Nan a town and a province in
# Thailand, NA the code of the province of Naples and of Namibia.
REAL_VALUES: Final = {
    "name": {"na", "nan", "none"},
    "city": {"nan", "none"},
    "province": {"na", "nan"},
    "country": {"na"},
}
# The values of formulas that fail, folded, in English, German, French, Spanish, Italian and Dutch. #N/A is above.
_ERRORS: Final = (
    "#ref! #name? #value! #div/0! #num! #null! #spill! #calc! #bezug! #wert! #zahl! #nv #valeur! #nom? #nombre! #¡ref! "
    "#¿nombre? #¡valor! #¡div/0! #¡num! #rif! #valore! #nome? #verw! #naam? #waarde! #deel/0! #getal!"
)
SPREADSHEET_ERRORS: Final = frozenset(_ERRORS.split())
_FORMULA: Final = re.compile(r'="[^"]*"')
_EXPONENT: Final = re.compile(r"\s*[0-9](?:[.,][0-9]+)?[eE]\+[0-9]{2,3}\s*")

_PLACEHOLDER_TEXT: Final = Issue(
    "placeholder", "looks like a placeholder, but is served as text; leave the value empty"
)
_FORMULA_TEXT: Final = Issue("formula", "spreadsheet formula, served as written; write only the text")
_SPREADSHEET_ERROR: Final = Issue("spreadsheet", "error value of a spreadsheet, served as text; correct its formula")
_ROUNDED: Final = Issue(
    "exponent", "a spreadsheet seems to have rounded this number; export the column as text from the original"
)

_JSON: Final = ("number", "hours")  # attributes whose values are JSON

# The normalized keys of placeholders and errors, and how that of a formula begins; keys of postal codes have no spaces,
# and those of identifiers have capitals.
_WORDS: Final = {key for text in PLACEHOLDERS for key in (text, text.replace(" ", ""))} | SPREADSHEET_ERRORS
_KEYS: Final = {key.encode() + KEY_END for text in _WORDS for key in (text, text.upper())} | {b'="'}
_FIRST_BYTES: Final = b"".join(sorted({re.escape(key[:1]) for key in _KEYS}))  # testing these first is faster
_SUSPICIOUS: Final = re.compile(KEY_END + b"(?=[%b])(?:%b)" % (_FIRST_BYTES, b"|".join(map(re.escape, sorted(_KEYS)))))


def check_text(field: Field, text: str) -> Issue | None:
    """Return the issue of a suspicious text of a field, None if it is not suspicious."""
    if _FORMULA.fullmatch(text):
        return _FORMULA_TEXT
    if _may_be_rounded(field) and _EXPONENT.fullmatch(text):
        return _ROUNDED
    word = fold(text)
    if word in SPREADSHEET_ERRORS:
        return _SPREADSHEET_ERROR
    if field.kind is IDENTIFIER:  # identifiers are case-sensitive, and references are looked up anyway
        return None
    return _PLACEHOLDER_TEXT if word in PLACEHOLDERS and word not in REAL_VALUES.get(field.name, ()) else None


def check_texts(field: Field, cells: Sequence[Cell], keys: bytes, *, is_printable: bool = False) -> dict[Cell, Issue]:
    """Return the suspicious cells of a text field; `keys` are their normalized keys, in the format of `join_keys`.

    `is_printable`: whether all of them are known to be printable.
    """
    is_code = _may_be_rounded(field) or bool(field.attribute)
    checks = list[Callable[[str], Issue | None]]()
    may_be_suspicious = field.kind is not IDENTIFIER or b"=" in keys or b"#" in keys
    if (may_be_suspicious and _SUSPICIOUS.search(KEY_END + keys)) or (
        _may_be_rounded(field) and b"+" in keys and b"e+" in keys.lower()
    ):
        checks.append(partial(check_text, field))
    texts = cells if isinstance(cells, TextCells) else TextCells([cell for cell in cells if isinstance(cell, str)])
    if may_have_wrong_characters(texts.lines, is_code=is_code, is_printable=is_printable):
        checks.append(partial(check_characters, is_identifier=field.kind is IDENTIFIER, is_code=is_code))
    distinct = set(texts) if checks else ()
    found = ((text, next(filter(None, (check(text) for check in checks)), None)) for text in distinct)
    return {text: issue for text, issue in found if issue is not None}


def _may_be_rounded(field: Field) -> bool:
    """Return whether a field has texts that a spreadsheet takes for numbers."""
    return field.kind in (IDENTIFIER, POSTAL) or field.name == "phone_number"


PARENT: Final = "parent_company_id"
UNKNOWN_PARENT: Final = Issue("parent", "no company has this identifier")
_BOUNDS: Final = {"latitude": MAX_LATITUDE, "longitude": MAX_LONGITUDE}  # degrees
_RANGES: Final = {name: (number_key(f"-{bound}"), number_key(f"{bound}")) for name, bound in _BOUNDS.items()}
_OUT_OF_RANGE: Final = {
    name: Issue("range", f"expected a number from -{bound} to {bound}") for name, bound in _BOUNDS.items()
}

_MISSING: Final = Issue("missing", "a value is required")
_NOT_AN_INSTANT: Final = Issue("date", "expected a date or date-time such as 2024-05-31T10:00:00Z")
_NOT_A_FLAG: Final = Issue("type", "expected true or false")
_NOT_A_STRING: Final = Issue("type", "expected a string")
_WRONG_TYPES: Final = {FLAG.name: _NOT_A_FLAG, NUMBER.name: Issue("type", "expected a string or a number")}
_NOT_A_DECIMAL: Final = Issue(
    "number", 'expected a decimal such as 43.7, or 43,7 with decimal = "," in mapping.toml; the value is served as text'
)
_UNKNOWN_COMPANY: Final = Issue("company", "no served company has this identifier")


class CheckedColumn(msgspec.Struct, frozen=True, eq=False):
    """The cells of one field, checked.

    values    the value of each cell, None if it is invalid
    keys      the normalized keys of all values, in the format of `join_keys`
    errors    cell -> its error; the record is not served
    warnings  cell -> its warning; the record is served
    """

    field: Field
    cells: Sequence[Cell]
    values: Sequence[Value]
    keys: bytes
    errors: Mapping[Cell, Issue]
    warnings: Mapping[Cell, Issue]


def check_column(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn:
    """Return the cells of a field, checked.

    `companies` are the identifiers that the field may refer to; None skips that check.
    """
    if field.attribute:
        return _check_attribute(field, cells)
    cells = (None if field.kind is FLAG else TextCells.of(cells)) or cells
    plain = _check_plain_column(field, cells, companies)
    column = plain or _check_cells(field, cells, companies)
    if field.kind in (FLAG, INSTANT, NUMBER):
        return column
    suspicious = check_texts(field, cells, column.keys, is_printable=plain is not None)
    return msgspec.structs.replace(column, warnings={**column.warnings, **suspicious}) if suspicious else column


def _check_attribute(field: Field, cells: Sequence[Cell]) -> CheckedColumn:
    """Return the cells of an attribute, which were read as their kind: some are errors, or null by declaration."""
    errors, warnings = dict[Cell, Issue](), dict[Cell, Issue]()
    for cell in [cell for cell in cells if isinstance(cell, Invalid)]:
        (warnings if cell.is_null else errors)[cell] = cell.issue
    values: Sequence[Value]
    valid: Sequence[Any] = (
        [cell.value if isinstance(cell, Invalid) else cell for cell in cells] if errors or warnings else cells
    )
    texts = None if field.is_list or field.kind is HOURS else TextCells.of(valid)
    plain = None if texts is None else read_plain_column(field.kind, texts)
    if plain is None:
        values = [None if isinstance(cell, str) and not cell.strip() else cell for cell in valid]
        keys_by_value = {
            value: list_key(map(fold, value)) if isinstance(value, tuple) else _key(field.kind, value)
            for value in set(values)
        }
        keys = join_keys(list(map(keys_by_value.__getitem__, values)))
    else:
        values, keys = plain.values, plain.keys
    if field.attribute in _JSON:
        values = [msgspec.Raw(value.encode()) if isinstance(value, str) else None for value in values]
    is_text, is_printable = field.attribute == "text", plain is not None
    suspicious = check_texts(field, cells, keys, is_printable=is_printable) if is_text else {}
    return CheckedColumn(field, cells, values, keys, errors, warnings | suspicious)


def _check_plain_column(
    field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None
) -> CheckedColumn | None:
    """Return the cells, checked all at once; None unless all of them are certainly valid."""
    if not isinstance(cells, TextCells):
        return None
    plain = read_plain_column(field.kind, cells, _RANGES.get(field.name, DECIMAL_KEYS))
    if plain is None or (field.required and NULL_KEY in plain.keys):
        return None
    if companies is not None and not companies >= set(cells) - {""}:
        return None
    return CheckedColumn(field, cells, plain.values, plain.keys, {}, {})


def _check_cells(field: Field, cells: Sequence[Cell], companies: AbstractSet[str] | None) -> CheckedColumn:
    """Return the cells, each distinct one checked by itself."""
    values: dict[Cell, Value] = {}
    errors: dict[Cell, Issue] = {}
    for cell in dict.fromkeys(cells):
        result = _read(field, cell)
        if isinstance(result, Issue):
            errors[cell] = result
        else:
            values[cell] = result
    keys = {cell: _key(field.kind, value) for cell, value in values.items()}
    warnings = dict[Cell, Issue]()
    if field.kind is NUMBER:
        least, most = _RANGES.get(field.name, DECIMAL_KEYS)
        for cell, text in [(cell, str(cell)) for cell, key in keys.items() if key and not least <= key <= most]:
            is_decimal = NUMBER_PATTERN.fullmatch(text.strip()) is not None
            warnings[cell] = _OUT_OF_RANGE[field.name] if is_decimal else check_text(field, text) or _NOT_A_DECIMAL
    if companies is not None:
        unknown = [cell for cell, value in values.items() if value is not None and value not in companies]
        if field.name == PARENT:
            warnings = dict.fromkeys(unknown, UNKNOWN_PARENT)
        else:
            errors |= dict.fromkeys(unknown, _UNKNOWN_COMPANY)
    all_keys = join_keys(list(map(keys.get, cells)))
    return CheckedColumn(field, cells, list(map(values.get, cells)), all_keys, errors, warnings)


def _key(kind: Kind, value: Value) -> str | None:
    """Return the normalized key of a value, None for no value."""
    return kind.normalize(str(value)) if isinstance(value, str | bool) else None


def _read(field: Field, cell: Cell) -> Value | Issue:
    kind = field.kind
    if isinstance(cell, Invalid | WrongType):
        return cell.issue if isinstance(cell, Invalid) else _WRONG_TYPES.get(kind.name, _NOT_A_STRING)
    if isinstance(cell, bool | tuple):
        return cell
    if cell is None or not cell.strip():
        return _MISSING if field.required else field.default
    if kind is FLAG:
        flag = parse_flag(cell)
        return _NOT_A_FLAG if flag is None else flag
    if kind is INSTANT:
        instant = parse_instant(cell)
        return _NOT_AN_INSTANT if instant is None else format_instant(instant)
    return control_issue(cell) or cell
