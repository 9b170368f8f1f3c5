"""Find the kind of attribute that a column would be, from its first values."""

import re
from collections.abc import Sequence
from typing import Final

from service.model.attributes import SEPARATOR, AttributeKind
from service.reading.batches.batch import Invalid
from service.reading.mapping.attribute_values import AttributeReader
from service.reading.mapping.declaration import AttributeOptions
from service.reading.mapping.toml_text import array, inline_table, quoted
from service.reading.proposal.first_records import ColumnSample, FirstRecords
from service.reading.proposal.neighbouring_dates import find_proof
from service.reading.values.flag_words import flag_of
from service.reading.values.possible_dates import possible_formats

_MAX_BYTES: Final = 1024  # more than the texts of a sample have
# Digits with zeros in front, or a plus sign, are those of codes and telephone numbers.
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:[.,][0-9]+)?")
_THOUSANDS: Final = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})?")
_TIME: Final = re.compile("[0-9]:[0-9]{2}")
_BITS: Final = {"0", "1"}


def kind_keys(column: ColumnSample, first: FirstRecords, *, decimal: str) -> dict[str, str]:
    """Return the keys that say which kind the values of a column have, in TOML; none for texts.

    `decimal` is the decimal separator of the stores.
    """
    if _is_flag(column):
        return of_kind("flag")
    if not any(isinstance(cell, bool) for cell in column.cells):
        if (formats := _date_formats(column, first)) is not None:
            return of_kind("date") | ({"date": _one_or_array(formats)} if formats else {})
        if all(map(_NUMBER.fullmatch, column.texts)):
            return _number(column, decimal)
        flags = {quoted(text): flag_of(text) for text in column.texts}
        if None not in flags.values() and True in flags.values():  # Sundays are closed, but have hours elsewhere
            values = {text: "true" if flag else "false" for text, flag in flags.items()}
            return of_kind("flag") | {"values": inline_table(values)}
    if _fits(column, "url"):
        return of_kind("url")
    return of_kind("list") if _is_list(column) else {}


def _is_flag(column: ColumnSample) -> bool:
    """Return whether all values are flags; of digits only if there are both."""
    texts = set(column.texts)
    return _fits(column, "flag") and (not texts <= _BITS or texts in (_BITS, set()))


def _number(column: ColumnSample, decimal: str) -> dict[str, str]:
    """Return the keys of numbers, none if they may have separated thousands."""
    if _fits(column, "number", decimal=decimal):
        return of_kind("number")
    if decimal == "," or all(map(_THOUSANDS.fullmatch, column.texts)) or not _fits(column, "number", decimal=","):
        return {}
    return of_kind("number") | {"decimal": quoted(",")}


def _date_formats(column: ColumnSample, first: FirstRecords) -> Sequence[str] | None:
    """Return the formats of dates, none if they are RFC 3339; None for other texts, or if nothing proves a format."""
    if _fits(column, "date"):
        return ()
    possible = possible_formats(column.texts)
    if len(possible) > 1:
        proof = find_proof(possible, first.columns.values())
        return None if proof is None else proof.formats
    return possible[0] if possible else None


def _is_list(column: ColumnSample) -> bool:
    """Return whether most texts have separators. Those between opening hours do not count."""
    texts = [cell for cell in column.cells if isinstance(cell, str)]
    return 2 * sum(SEPARATOR in text and not _TIME.search(text) for text in texts) > len(texts)


def _fits(column: ColumnSample, kind: AttributeKind, *, decimal: str = ".") -> bool:
    options = AttributeOptions(
        kind=kind, separator=SEPARATOR, decimal=decimal, max_length=_MAX_BYTES, is_null_if_invalid=True
    )
    return not any(isinstance(cell, Invalid) for cell in AttributeReader(options).column(column.cells))


def of_kind(kind: AttributeKind) -> dict[str, str]:
    """Return the key of a kind."""
    return {"kind": quoted(kind)}


def _one_or_array(formats: Sequence[str]) -> str:
    return quoted(formats[0]) if len(formats) == 1 else array(formats)
