"""Texts that are probably not meant as they are written: `NULL` and its like, and formulas of spreadsheets."""

import re
from collections.abc import Sequence
from typing import Final

from service.engine.column import KEY_END
from service.loading.batch import Cell
from service.loading.faults import Flaw
from service.model.kinds import IDENTIFIER, fold
from service.model.records import Field

# What programs and people write where there is no value; compared as words are.
PLACEHOLDERS: Final = frozenset(
    {"null", "(null)", r"\n", "nan", "n/a", "#n/a", "na", "none", "undefined", "-", "--", "–", "—", "() -"}  # noqa: RUF001 - dashes
)
# Those that may be a value: any word may be a name, None is a town in Italy, Nan a town and a province in Thailand, NA
# the code of the province of Naples and that of Namibia.
REAL_VALUES: Final = {
    "name": {"na", "nan", "none"},
    "city": {"nan", "none"},
    "province": {"na", "nan"},
    "country": {"na"},
}
_FORMULA: Final = re.compile(r'="[^"]*"')

_PLACEHOLDER: Final = Flaw("placeholder", "this looks like no value, but is served as text; leave it empty")
_SPREADSHEET: Final = Flaw("formula", "a formula of a spreadsheet, served as it is written; write the text alone")

# What both look like as matched forms, one behind the other; those of postal codes have no spaces.
_FORMS: Final = {form.encode() + KEY_END for text in PLACEHOLDERS for form in (text, text.replace(" ", ""))} | {b'="'}
_FIRST_BYTES: Final = b"".join(sorted({re.escape(form[:1]) for form in _FORMS}))  # to try these first is quicker
_ODD: Final = re.compile(KEY_END + b"(?=[%b])(?:%b)" % (_FIRST_BYTES, b"|".join(map(re.escape, sorted(_FORMS)))))


def check_text(field: Field, text: str) -> Flaw | None:
    """Return what is odd about one text of a field, None where nothing is."""
    if _FORMULA.fullmatch(text):
        return _SPREADSHEET
    if field.kind is IDENTIFIER:  # matched to the character, and a reference is checked by looking it up
        return None
    word = fold(text)
    return _PLACEHOLDER if word in PLACEHOLDERS and word not in REAL_VALUES.get(field.name, ()) else None


def check_texts(field: Field, cells: Sequence[Cell], keys: bytes) -> dict[Cell, Flaw]:
    """Return the cells of a field of texts that are odd, given their matched forms, as `join_keys` has them."""
    if (field.kind is IDENTIFIER and b"=" not in keys) or not _ODD.search(KEY_END + keys):
        return {}
    found = {cell: check_text(field, cell) for cell in set(cells) if isinstance(cell, str)}
    return {cell: flaw for cell, flaw in found.items() if flaw is not None}
