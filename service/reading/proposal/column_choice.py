"""Choose the columns that a mapping is proposed for: by their names, or by the values that they have."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE
from service.reading.columns.dates import RFC_3339, possible_formats
from service.reading.columns.field_names import COORDINATES, columns_by_nearest_name, end_of_path
from service.reading.columns.flags import IS_OPEN, flag_of, has_status_word, is_closed_name, mentions_status
from service.reading.mapping.points import are_degrees, degrees, have_hemispheres
from service.reading.mapping.toml import quoted
from service.reading.proposal.first_records import MAX_COLUMNS, ColumnSample, FirstRecords

_TIME: Final = re.compile(",? h.*")  # the part of a format from its time on
_ENOUGH: Final = 3  # fields, with which names are those of a file of stores
_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,3}(?:[.,][0-9]+)?")
_PROOF: Final = 10  # one latitude in so many is beyond 90 degrees if it is a longitude: fewer are misspelt


def prove_formats(texts: Sequence[str], first: FirstRecords) -> tuple[list[tuple[str, ...]], str]:
    """Return the formats that dates may have, a single one if a column proves it, and which; "" without a proof.

    A column with only one possible format does, if the dates are written like it, and no other contradicts it.
    """
    possible = possible_formats(texts)
    if len(possible) > 1:
        proven: dict[str, str] = {}  # without times
        for column in first.columns.values():  # most of which have no dates
            own = possible_formats(column.texts) if possible_formats(column.texts[:1]) else []
            proven |= {_TIME.sub("", each): column.name for each in own[0]} if len(own) == 1 else {}
        dates = {found: [_TIME.sub("", each) for each in found if each != RFC_3339] for found in possible}
        fitting = [found for found, declared in dates.items() if all(each in proven for each in declared)]
        if len(fitting) == 1:
            return fitting, f"as {quoted(proven[dates[fitting[0]][0]])} proves"
    return possible, ""


def recognizes(names: Sequence[str]) -> bool:
    """Return whether some names are like those of the columns of stores."""
    return len(columns_by_nearest_name(list(islice(names, MAX_COLUMNS)), paths=False)) >= _ENOUGH


def are_exchanged(columns: Mapping[str, ColumnSample], chosen: Mapping[str, str]) -> bool:
    """Return whether the column chosen for latitudes has longitudes, and the other one latitudes."""
    if not chosen.keys() >= set(COORDINATES):
        return False
    latitudes, longitudes = ([*_all_degrees(columns[chosen[field]])] for field in COORDINATES)
    beyond = sum(each > MAX_LATITUDE for each in latitudes)
    fit = max(latitudes, default=0) <= MAX_LONGITUDE and max(longitudes, default=MAX_LONGITUDE) <= MAX_LATITUDE
    return fit and _PROOF * beyond > len(latitudes)


def columns_by_values(columns: Sequence[ColumnSample], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the columns, of those that are not chosen, whose values are coordinates, or say what is open.

    The latter replaces a column that is chosen by its name alone, such as `Open` with opening hours.
    """
    others = [column for column in columns if column.name not in chosen.values() and column.texts]
    missing = [field for field in COORDINATES if field not in chosen]
    found = {field: each.name for field in missing for each in others if have_hemispheres(each.texts, field)}
    found = found or _coordinates([column for column in others if are_degrees(column.texts)], missing)
    named = next((column for column in columns if column.name == chosen.get(IS_OPEN.name)), None)
    if named is not None and not (named.texts and _count_unknown(named) == len(named.texts)):
        return found
    flags = find_flags(others)
    return found | ({IS_OPEN.name: flags.name} if flags else {})


def find_flags(columns: Iterable[ColumnSample]) -> ColumnSample | None:
    """Return the column that says what is open, if there is one: the one with the fewest unknown words."""
    return min(filter(_says_what_is_open, columns), key=_count_unknown, default=None)


def _says_what_is_open(column: ColumnSample) -> bool:
    """Return whether a column has words for open and closed, or is one of states with words for yes and no."""
    has_states = bool(column.texts) and has_status_word(column.name) and not _count_unknown(column)
    return not is_closed_name(column.name) and (has_states or mentions_status(end_of_path(column.name), column.values))


def _count_unknown(column: ColumnSample) -> int:
    return sum(flag_of(text) is None for text in column.texts)


def _coordinates(columns: Sequence[ColumnSample], missing: Sequence[str]) -> dict[str, str]:
    """Return the columns of missing coordinates among columns of degrees: latitudes come first, unless they cannot."""
    for fitting in (columns[: len(missing)], columns[: len(missing)][::-1]):
        found = dict(zip(missing, fitting, strict=False))
        latitudes = _all_degrees(found[COORDINATES[0]]) if COORDINATES[0] in found else ()
        if len(found) == len(missing) and max(latitudes, default=0) <= MAX_LATITUDE:
            return {field: column.name for field, column in found.items()}
    return {}


def _all_degrees(column: ColumnSample) -> Iterator[float]:
    return (degrees(text) for text in column.texts if _NUMBER.fullmatch(text))
