"""The formats of data files, by file name extension."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.csv_reader import read_csv
from service.reading.json_reader import read_json, read_json_lines


class Format(msgspec.Struct, frozen=True):
    """A format: its reader, and its line endings if it consists of lines.

    usual  whether files with its extension are data files; others are, if there is no such file beside them
    """

    read: Callable[[bytes, Resource], Iterator[Batch]]
    line_ends: tuple[bytes, ...] = ()
    usual: bool = True

    def is_unterminated(self, text: bytes) -> bool:
        """Return whether the last line of a text has no line ending, as in a truncated file."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


_JSON_LINES: Final = Format(read_json_lines, (b"\n",))
_CSV_LINE_ENDS: Final = (b"\n", b"\r")
_TEXT: Final = Format(read_csv, _CSV_LINE_ENDS, usual=False)
FORMATS: Final = {
    "json": Format(read_json),
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": Format(read_csv, _CSV_LINE_ENDS),
    "tsv": _TEXT,
    "tab": _TEXT,
    "txt": _TEXT,
}
COMPRESSIONS: Final = ("gz", "zst")
