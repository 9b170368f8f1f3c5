"""The formats of data files, by file name extension."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.csv_reader import read_csv
from service.reading.json_reader import read_json, read_json_lines
from service.reading.record_file import RecordFile


class Format(msgspec.Struct, frozen=True):
    """A format.

    read       yields the records whose fields have their own names
    line_ends  if it consists of lines
    open       for mappings; None if they are not supported
    encoded    whether the text may be in another encoding than UTF-8, which is declared
    """

    read: Callable[[bytes, Resource], Iterator[Batch]]
    line_ends: tuple[bytes, ...] = ()
    open: Callable[[bytes], RecordFile] | None = None
    encoded: bool = False

    def is_unterminated(self, text: bytes) -> bool:
        """Return whether the last line of a text has no line ending, as in a truncated file."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


_JSON_LINES: Final = Format(read_json_lines, (b"\n",))
FORMATS: Final = {
    "json": Format(read_json),
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": Format(read_csv, (b"\n", b"\r"), encoded=True),
}
COMPRESSIONS: Final = ("gz", "zst")
