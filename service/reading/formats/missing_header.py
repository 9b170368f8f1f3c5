"""Recognize a table without a header: its first row has values like those of the rows below it."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from service.model.records import STORES
from service.reading.columns.field_names import suggest_field
from service.reading.diagnostics import FileError
from service.reading.formats.table_file import Row, Rows
from service.texts import truncate

_MAX_COLUMNS: Final = 100  # that are compared
# Forms of values that no name has, together with other values of its form below it.
_FORMS: Final = tuple(
    map(
        re.compile,
        (
            r"[+-]?[0-9]{1,3}[.,][0-9]{3,}",  # degrees
            r"[0-9]{1,4}([./-]) ?[0-9]{1,2}\1 ?[0-9]{1,4}(?:[T ,].*)?",  # dates
            r"[0-9]+[a-z]? [^\W\d].*",  # 1 Elm St
            r"[^@\s]+@[^@\s]+|https?://\S+",
            *(rf"[0-9]{{{digits}}}" for digits in range(5, 10)),  # postal codes; years are names of columns, too
        ),
    )
)
_FORM: Final = 2  # points of a cell that is certainly a value
_REPEATED: Final = 1  # of a cell that is a value in another row of its column
_NUMBERED: Final = 1  # of all cells with numbers together: columns may be numbered
_ENOUGH: Final = 2
_INSERT_HEADER: Final = (
    "insert a header line above it, with the names of the columns, or declare columns in mapping.toml"
)


class MissingHeader(FileError):
    """The first row of a table has data instead of names.

    row  its cells
    """

    def __init__(self, row: Row, value: str, line: int) -> None:
        """Take the row, one of its values, and its line."""
        super().__init__(f"the first line looks like data ({truncate(value)!r}): {_INSERT_HEADER}", line)
        self.row = row


def check_names(rows: Rows) -> None:
    """Raise FileError if the first row with a value has data instead of names."""
    first = next((index for index, row in enumerate(rows.rows) if any(row)), None)
    if first is not None and (value := find_data(rows.rows[first], rows.rows[first + 1 :])) is not None:
        raise MissingHeader(rows.rows[first], value, rows.lines[first])


def find_data(first: Row, others: Sequence[Row]) -> str | None:
    """Return a cell of the first row of a table that is a value, no name of a column; None if there is none.

    There are more signs of that than names of fields: some of these are values, too, such as `open`.
    """
    columns = [
        (cell, [row[index].strip() for row in others if index < len(row)])
        for index, cell in enumerate(map(str.strip, islice(first, _MAX_COLUMNS)))
        if cell
    ]
    if any(all(cell in texts[index : index + 1] for cell, texts in columns) for index in range(len(others))):
        return None  # the header is repeated
    points = {cell: _points(cell, texts) for cell, texts in columns}
    numbered = any(cell.isdecimal() and all(map(str.isdecimal, texts)) for cell, texts in columns)
    total = sum(points.values()) + _NUMBERED * numbered
    known = sum(suggest_field(cell, STORES) is not None for cell in points)
    return max(points, key=points.__getitem__) if total >= _ENOUGH and total > known else None


def _points(cell: str, texts: Sequence[str]) -> int:
    """Return how much a cell is like the others in its column."""
    values = set(filter(None, texts))
    for form in _FORMS:
        if form.fullmatch(cell):
            return _FORM if 2 * sum(form.fullmatch(value) is not None for value in values) >= len(values) else 0
    # A column of check marks has its name in some rows, and nothing in the others.
    is_repeated = cell in values and (len(values) > 1 or "" not in texts)
    return _REPEATED if is_repeated and not cell.isdecimal() else 0
