"""Decide between the formats of dates by other columns: 31.05.2024 in one proves what 05.06.2024 in another means."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from service.reading.proposal.first_records import ColumnSample
from service.reading.values.date_formats import RFC_3339
from service.reading.values.possible_dates import possible_formats

_TIME: Final = re.compile(",? h.*")


class Proof(msgspec.Struct, frozen=True):
    """Formats of dates, and the name of the column that proves them."""

    formats: tuple[str, ...]
    column: str


def find_proof(possible: Sequence[tuple[str, ...]], columns: Iterable[ColumnSample]) -> Proof | None:
    """Return the possible formats whose dates are written like those of a column with only one possible format.

    None if there is no such column, or if columns contradict each other.
    """
    proven = {_date(each): column.name for column in columns for each in _proven_formats(column)}
    fitting = [formats for formats in possible if all(_date(each) in proven for each in formats if each != RFC_3339)]
    return Proof(fitting[0], proven[_date(fitting[0][0])]) if len(fitting) == 1 else None


def _proven_formats(column: ColumnSample) -> Sequence[str]:
    texts = column.texts
    possible = possible_formats(texts) if possible_formats(texts[:1]) else []  # most columns have no dates
    return possible[0] if len(possible) == 1 else ()


def _date(declared: str) -> str:
    """Return the part of a format before the time."""
    return _TIME.sub("", declared)
