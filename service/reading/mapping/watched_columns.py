"""Find the columns that no field is made of, and that speak of open and closed."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from service.reading.batches.diagnostics import FileError
from service.reading.batches.record_file import RecordFile
from service.reading.fields.field_names import MAX_UNUSED, end_of_path
from service.reading.values.closed_cells import speaks, speaks_by_name

_MAX_NAMES: Final = 1_000  # a header may have millions
_MAX_WATCHED: Final = 20


def watched_columns(file: RecordFile, used: Sequence[str]) -> Sequence[str]:
    """Return the unused columns of a file that speak of open and closed: by their names, or in its first records."""
    known = set(used)
    unused = list(islice((name for name in file.names if name not in known), _MAX_NAMES))
    ends = {name: name if file.is_table else end_of_path(name) for name in unused}
    found = [name for name in unused if speaks_by_name(ends[name])]
    with suppress(FileError):  # reported when the records are read
        cells = file.first_cells(unused[:MAX_UNUSED]) if unused else {}
        found += [name for name, each in cells.items() if name not in found and speaks(ends[name], each)]
    return found[:_MAX_WATCHED]
