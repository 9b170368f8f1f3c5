"""Suspicious texts: placeholders for no value, such as `NULL`, and what spreadsheets make of texts."""

import re
from collections.abc import Sequence
from typing import Final

from service.engine.column import KEY_END
from service.model.kinds import IDENTIFIER, POSTAL, fold
from service.model.records import Field
from service.reading.batches.batch import Cell
from service.reading.batches.diagnostics import Issue

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


def check_texts(field: Field, cells: Sequence[Cell], keys: bytes) -> dict[Cell, Issue]:
    """Return the suspicious cells of a text field; `keys` are their normalized keys, in the format of `join_keys`."""
    if not (_may_be_suspicious(field, keys) or (_may_be_rounded(field) and (b"e+" in keys or b"E+" in keys))):
        return {}
    issues = {cell: check_text(field, cell) for cell in set(cells) if isinstance(cell, str)}
    return {cell: issue for cell, issue in issues.items() if issue is not None}


def _may_be_suspicious(field: Field, keys: bytes) -> bool:
    if field.kind is IDENTIFIER and b"=" not in keys and b"#" not in keys:
        return False
    return _SUSPICIOUS.search(KEY_END + keys) is not None


def _may_be_rounded(field: Field) -> bool:
    """Return whether a field has texts that a spreadsheet takes for numbers."""
    return field.kind in (IDENTIFIER, POSTAL) or field.name == "phone_number"
