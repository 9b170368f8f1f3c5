"""The formats of data files, by the ending of their names."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from service.loading.batch import Batch
from service.loading.csv_reader import read_csv
from service.loading.json_reader import read_json, read_json_lines
from service.model.records import Resource


class Format(msgspec.Struct, frozen=True):
    """A format: what reads its text, and what ends its last line where it is made of lines."""

    read: Callable[[bytes, Resource], Iterator[Batch]]
    line_ends: tuple[bytes, ...] = ()

    def lacks_end(self, text: bytes) -> bool:
        """Return whether the last line of a text has no end, as in a file that is cut."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


_JSON_LINES: Final = Format(read_json_lines, (b"\n",))
FORMATS: Final = {
    "json": Format(read_json),
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": Format(read_csv, (b"\n", b"\r")),
}
COMPRESSIONS: Final = ("gz", "zst")
