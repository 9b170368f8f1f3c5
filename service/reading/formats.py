"""The formats of data files, by file name extension."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, Protocol

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.by_name import RecordsByName, has_required_columns
from service.reading.csv_reader import open_csv
from service.reading.decompression import decompress, plain_text
from service.reading.geojson import GeoJsonFile, GeoJsonLinesFile
from service.reading.json_file import JsonFile, JsonLinesFile
from service.reading.json_reader import read_json, read_json_lines
from service.reading.parquet.parquet_file import ParquetFile
from service.reading.record_file import RecordFile


class Opener(Protocol):
    """Opens a file as records by column. Raises FileError."""

    def __call__(
        self, content: bytes, *, delimiter: str | None = None, finds: Callable[[Sequence[str]], bool] | None = None
    ) -> RecordFile:
        """Return the file; the delimiter is declared, or else `finds` all wanted columns with the right one."""


class Format(msgspec.Struct, frozen=True):
    """A format.

    open       opens a file as records by column
    typed      yields records whose members are the fields, of types that its texts have themselves: it is faster
    line_ends  its line endings, if it consists of lines
    is_text    whether it is UTF-8, or in a declared encoding if it `has_encodings`
    rank       that of files with its extension: they are data files if none of a lower rank is beside them
    """

    open: Opener
    typed: Callable[[bytes, Resource], Iterator[Batch]] | None = None
    line_ends: tuple[bytes, ...] = ()
    is_text: bool = True
    has_encodings: bool = False
    rank: int = 0

    def content(self, stored: bytes, compression: str | None, encoding: str | None = None) -> bytes:
        """Return what a stored file holds, decompressed; a text is decoded to UTF-8. Raises FileError."""
        if not self.is_text:
            return decompress(stored, compression)
        return plain_text(stored, compression, encoding if self.has_encodings else None)

    def read(self, content: bytes, resource: Resource) -> Iterator[Batch]:
        """Yield the records of a file whose columns are named like the fields. Raises FileError."""
        if self.typed is not None:
            return self.typed(content, resource)
        return self.by_name(content, resource).batches()

    def by_name(self, content: bytes, resource: Resource) -> RecordsByName:
        """Return the records of a file whose columns are named like the fields. Raises FileError."""
        return RecordsByName(self.open(content, finds=partial(has_required_columns, resource=resource)), resource)

    def is_unterminated(self, text: bytes) -> bool:
        """Return whether the last line of a text has no line ending, as in a truncated file."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


def _without_delimiters(opened: Callable[[bytes], RecordFile]) -> Opener:
    def open_file(
        content: bytes,
        *,
        delimiter: str | None = None,  # noqa: ARG001
        finds: Callable[[Sequence[str]], bool] | None = None,  # noqa: ARG001
    ) -> RecordFile:
        return opened(content)

    return open_file


_FEED: Final = (b"\n",)
_CSV: Final = Format(open_csv, line_ends=(b"\n", b"\r"), has_encodings=True)
_TEXT: Final = msgspec.structs.replace(_CSV, rank=2)  # it may be anything
_JSON_LINES: Final = Format(_without_delimiters(JsonLinesFile), read_json_lines, _FEED)
_GEOJSON_LINES: Final = Format(_without_delimiters(GeoJsonLinesFile), line_ends=_FEED, rank=1)
_PARQUET: Final = Format(_without_delimiters(ParquetFile), is_text=False, rank=1)
FORMATS: Final = {
    "json": Format(_without_delimiters(JsonFile), read_json),
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": _CSV,
    "tsv": _TEXT,
    "tab": _TEXT,
    "txt": _TEXT,
    "geojson": Format(_without_delimiters(GeoJsonFile), rank=1),
    "geojsonl": _GEOJSON_LINES,
    "geojsons": _GEOJSON_LINES,
    "ndgeojson": _GEOJSON_LINES,
    "parquet": _PARQUET,
    "geoparquet": _PARQUET,
}
COMPRESSIONS: Final = ("gz", "zst")
