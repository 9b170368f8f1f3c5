"""Suspicious texts: placeholders for no value, such as `NULL`, and spreadsheet formulas."""

import re
from collections.abc import Sequence
from typing import Final

from service.engine.column import KEY_END
from service.model.kinds import IDENTIFIER, fold
from service.model.records import Field
from service.reading.batch import Cell
from service.reading.diagnostics import Issue

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
_FORMULA: Final = re.compile(r'="[^"]*"')

_PLACEHOLDER_TEXT: Final = Issue(
    "placeholder", "looks like a placeholder, but is served as text; leave the value empty"
)
_FORMULA_TEXT: Final = Issue("formula", "spreadsheet formula, served as written; write only the text")

# The normalized keys of placeholders, and how that of a formula begins; keys of postal codes have no spaces.
_KEYS: Final = {key.encode() + KEY_END for text in PLACEHOLDERS for key in (text, text.replace(" ", ""))} | {b'="'}
_FIRST_BYTES: Final = b"".join(sorted({re.escape(key[:1]) for key in _KEYS}))  # testing these first is faster
_SUSPICIOUS: Final = re.compile(KEY_END + b"(?=[%b])(?:%b)" % (_FIRST_BYTES, b"|".join(map(re.escape, sorted(_KEYS)))))


def check_text(field: Field, text: str) -> Issue | None:
    """Return the issue of a suspicious text of a field, None if it is not suspicious."""
    if _FORMULA.fullmatch(text):
        return _FORMULA_TEXT
    if field.kind is IDENTIFIER:  # identifiers are case-sensitive, and references are looked up anyway
        return None
    word = fold(text)
    return _PLACEHOLDER_TEXT if word in PLACEHOLDERS and word not in REAL_VALUES.get(field.name, ()) else None


def check_texts(field: Field, cells: Sequence[Cell], keys: bytes) -> dict[Cell, Issue]:
    """Return the suspicious cells of a text field; `keys` are their normalized keys, in the format of `join_keys`."""
    if (field.kind is IDENTIFIER and b"=" not in keys) or not _SUSPICIOUS.search(KEY_END + keys):
        return {}
    issues = {cell: check_text(field, cell) for cell in set(cells) if isinstance(cell, str)}
    return {cell: issue for cell, issue in issues.items() if issue is not None}
