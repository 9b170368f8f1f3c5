"""The formats of data files, by file name extension."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.csv_reader import read_csv
from service.reading.decompression import decompress, plain_text
from service.reading.exact_names import by_name
from service.reading.geojson import GeoJsonFile, GeoJsonLinesFile
from service.reading.json_file import JsonFile, JsonLinesFile
from service.reading.json_reader import read_json, read_json_lines
from service.reading.parquet.parquet_file import ParquetFile
from service.reading.record_file import RecordFile


class Format(msgspec.Struct, frozen=True):
    """A format.

    read       yields the records of a resource, by field
    open       opens a file as records by column
    line_ends  its line endings, if it consists of lines
    is_text    whether it must be UTF-8
    """

    read: Callable[[bytes, Resource], Iterator[Batch]]
    open: Callable[[bytes], RecordFile] | None = None
    line_ends: tuple[bytes, ...] = ()
    is_text: bool = True

    def content(self, stored: bytes, compression: str | None) -> bytes:
        """Return what a stored file holds, decompressed; a text is checked to be UTF-8. Raises FileError."""
        return plain_text(stored, compression) if self.is_text else decompress(stored, compression)

    def is_unterminated(self, text: bytes) -> bool:
        """Return whether the last line of a text has no line ending, as in a truncated file."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


_JSON_LINES: Final = Format(read_json_lines, JsonLinesFile, (b"\n",))
_GEOJSON_LINES: Final = Format(by_name(GeoJsonLinesFile), GeoJsonLinesFile, (b"\n",))
_PARQUET: Final = Format(by_name(ParquetFile), ParquetFile, is_text=False)
FORMATS: Final = {
    "json": Format(read_json, JsonFile),
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": Format(read_csv, None, (b"\n", b"\r")),
    "geojson": Format(by_name(GeoJsonFile), GeoJsonFile),
    "geojsonl": _GEOJSON_LINES,
    "geojsons": _GEOJSON_LINES,
    "ndgeojson": _GEOJSON_LINES,
    "parquet": _PARQUET,
    "geoparquet": _PARQUET,
}
COMPRESSIONS: Final = ("gz", "zst")
