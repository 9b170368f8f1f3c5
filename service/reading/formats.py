"""The formats of data files, by file name extension."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.csv_reader import read_csv
from service.reading.json_reader import read_json, read_json_lines


class Format(msgspec.Struct, frozen=True):
    """A format: its reader, and its line endings if it consists of lines."""

    read: Callable[[bytes, Resource], Iterator[Batch]]
    line_ends: tuple[bytes, ...] = ()

    def is_unterminated(self, text: bytes) -> bool:
        """Return whether the last line of a text has no line ending, as in a truncated file."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


_JSON_LINES: Final = Format(read_json_lines, (b"\n",))
FORMATS: Final = {
    "json": Format(read_json),
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": Format(read_csv, (b"\n", b"\r")),
}
COMPRESSIONS: Final = ("gz", "zst")
