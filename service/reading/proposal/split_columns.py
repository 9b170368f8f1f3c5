"""Find columns that have the values of two fields: both coordinates, or the postal code before the city."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from service.model.degrees import MAX_LATITUDE, MAX_LONGITUDE
from service.model.records import STORES
from service.reading.fields.field_names import suggest_field
from service.reading.proposal.first_records import ColumnSample

_Parts: TypeAlias = tuple[str, str, str]  # the value of the first field, the separator, that of the second
_LATITUDE_FIRST: Final = ("latitude", "longitude")
_LONGITUDE_FIRST: Final = ("longitude", "latitude")
_ADDRESS: Final = ("postal_code", "city")
_NUMBER: Final = r"[+-]?[0-9]{1,3}(?:\.[0-9]+)?"
_COMMA_NUMBER: Final = r"[+-]?[0-9]{1,3},[0-9]+"
_POINTS: Final = re.compile(rf"({_NUMBER})( *[,;/|] *| +)({_NUMBER})")
_COMMAS: Final = re.compile(rf"({_COMMA_NUMBER})( *[;/|] *|, +| +)({_COMMA_NUMBER})")
_PRECISE: Final = re.compile(r"[.,][0-9]{4}")  # numbers with fewer decimals may be prices or sizes
# 10119 Berlin, D-10119 Berlin, 1012AB Amsterdam; not 1012 AB Amsterdam, which a space splits in the postal code.
_POSTAL_CODE_AND_CITY: Final = re.compile(
    r"((?:[A-Z]{1,3}-)?[0-9][0-9-]{2,7}(?:[A-Z]{2})?)(,? +)(?![A-Z]{2} )([^\W\d_].*)"
)
_ABOUT_COORDINATES: Final = re.compile("[ck]oord|gps|geo|lat|lon|lng|loc|pos|standort|point|punt|ubica", re.IGNORECASE)
_NAMES_LATITUDE_FIRST: Final = re.compile("(?:lat|breit).*(?:lon|lng|läng)", re.IGNORECASE)
_NAMES_LONGITUDE_FIRST: Final = re.compile("(?:lon|lng|läng).*(?:lat|breit)", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]+")
_NEARLY_ALL: Final = 0.9  # of the texts of a column; `check` reports the others
_SWAP: Final = "if the longitude comes first, swap the parts"


class SplitColumn(msgspec.Struct, frozen=True):
    """A column with the values of two fields.

    fields     those of the text before the first separator, and of the text after it
    separator  the text between them
    comment    what to check
    """

    name: str
    fields: tuple[str, str]
    separator: str
    comment: str = ""


def find_split_columns(columns: Sequence[ColumnSample], chosen: Mapping[str, str]) -> Iterator[SplitColumn]:
    """Yield the columns with the values of two fields for which no other column was chosen."""
    taken = dict(chosen)
    for column in columns:
        field_of_column = {name: field for field, name in taken.items()}.get(column.name)
        for found in filter(None, (_coordinates(column), _postal_code_and_city(column, field_of_column))):
            others = taken.keys() - {field_of_column}
            if field_of_column in (None, *found.fields) and others.isdisjoint(found.fields):
                taken |= dict.fromkeys(found.fields, column.name)
                yield found


def _coordinates(column: ColumnSample) -> SplitColumn | None:
    """Return a column with both coordinates: a latitude is up to 90 degrees, and comes first unless it cannot."""
    is_named = _ABOUT_COORDINATES.search(column.name) is not None
    pairs = [pair for text in column.texts if (pair := _pair(text)) is not None]
    if not is_named and 2 * sum(_is_precise(pair) for pair in pairs) < len(pairs):
        return None
    if (separator := _separator(pairs, column)) is None:
        return None
    first, second = (max(_degrees(pair[index]) for pair in pairs) for index in (0, 2))
    if min(first, second) > MAX_LATITUDE or max(first, second) > MAX_LONGITUDE:
        return None
    is_proven = max(first, second) > MAX_LATITUDE
    longitude_first = first > MAX_LATITUDE if is_proven else _NAMES_LONGITUDE_FIRST.search(column.name) is not None
    is_proven |= longitude_first or _NAMES_LATITUDE_FIRST.search(column.name) is not None
    comment = "; ".join(["found by its values"] * (not is_named) + [_SWAP] * (not is_proven))
    return SplitColumn(column.name, _LONGITUDE_FIRST if longitude_first else _LATITUDE_FIRST, separator, comment)


def _pair(text: str) -> _Parts | None:
    found = _COMMAS.fullmatch(text) or ("." in text and _POINTS.fullmatch(text)) or None
    if found is None:
        return None
    separator = found[2].strip() or " "
    # A comma alone would split the first number.
    return found[1], ", " if separator == "," and "," in found[1] else separator, found[3]


def _is_precise(pair: _Parts) -> bool:
    return all(_PRECISE.search(pair[index]) for index in (0, 2))


def _degrees(number: str) -> float:
    return abs(float(number.replace(",", ".")))


def _postal_code_and_city(column: ColumnSample, field: str | None) -> SplitColumn | None:
    """Return a column of one of these fields, or with a name of both, that has both."""
    if field not in _ADDRESS and not {suggest_field(word, STORES) for word in _WORD.findall(column.name)} >= set(
        _ADDRESS
    ):
        return None
    found = filter(None, map(_POSTAL_CODE_AND_CITY.fullmatch, column.texts))
    separator = _separator([(each[1], each[2].strip() or " ", each[3]) for each in found], column)
    return SplitColumn(column.name, _ADDRESS, separator) if separator else None


def _separator(parts: Sequence[_Parts], column: ColumnSample) -> str | None:
    """Return the most frequent separator, None if not nearly all texts of the column have it."""
    counted = Counter(separator for _, separator, _ in parts).most_common(1)
    return next((each for each, count in counted if count >= _NEARLY_ALL * len(column.texts)), None)
