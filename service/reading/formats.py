"""The formats of data files, by file name extension."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from service.model.records import Resource
from service.reading.batch import Batch
from service.reading.csv_reader import Finds, finds_nothing, open_csv
from service.reading.decompression import decompress, plain_text
from service.reading.geojson import GeoJsonFile, GeoJsonLinesFile, begins_like_collection
from service.reading.json_file import JsonFile, JsonLinesFile
from service.reading.json_reader import has_array, read_json, read_json_lines
from service.reading.parquet.parquet_file import ParquetFile
from service.reading.record_file import RecordFile


class Format(msgspec.Struct, frozen=True):
    """A format.

    opener     opens a file as records by column; None for CSV, whose encoding and delimiter may be declared
    typed      yields records whose members are the fields, of types that its texts have themselves: it is faster
    line_ends  its line endings, if it consists of lines
    is_text    whether it is UTF-8, or in a declared encoding if it is CSV
    rank       that of files with its extension: they are data files if none of a lower rank is beside them
    """

    opener: Callable[[bytes], RecordFile] | None = None
    typed: Callable[[bytes, Resource], Iterator[Batch]] | None = None
    line_ends: tuple[bytes, ...] = ()
    is_text: bool = True
    rank: int = 0

    @property
    def is_csv(self) -> bool:
        """Whether it is CSV."""
        return self.opener is None

    def content(self, stored: bytes, compression: str | None, encoding: str | None = None) -> bytes:
        """Return what a stored file holds, decompressed; a text is decoded to UTF-8. Raises FileError."""
        if not self.is_text:
            return decompress(stored, compression)
        return plain_text(stored, compression, encoding if self.is_csv else None)

    def open(self, content: bytes, *, delimiter: str | None = None, finds: Finds = finds_nothing) -> RecordFile:
        """Return a file as records by column; for CSV, see `open_csv`. Raises FileError."""
        return self.opener(content) if self.opener else open_csv(content, delimiter=delimiter, finds=finds)

    def is_unterminated(self, text: bytes) -> bool:
        """Return whether the last line of a text has no line ending, as in a truncated file."""
        return bool(text and self.line_ends) and not text.endswith(self.line_ends)


TEXT_RANK: Final = 2  # the highest: a text may be anything
_FEED: Final = (b"\n",)
_CSV: Final = Format(line_ends=(b"\n", b"\r"))
_TEXT: Final = msgspec.structs.replace(_CSV, rank=TEXT_RANK)
_JSON: Final = Format(JsonFile, read_json)
_JSON_LINES: Final = Format(JsonLinesFile, read_json_lines, _FEED)
_GEOJSON: Final = Format(GeoJsonFile, rank=1)
_GEOJSON_LINES: Final = Format(GeoJsonLinesFile, line_ends=_FEED, rank=1)
_PARQUET: Final = Format(ParquetFile, is_text=False, rank=1)
FORMATS: Final = {
    "json": _JSON,
    "jsonl": _JSON_LINES,
    "ndjson": _JSON_LINES,
    "csv": _CSV,
    "tsv": _TEXT,
    "tab": _TEXT,
    "txt": _TEXT,
    "geojson": _GEOJSON,
    "geojsonl": _GEOJSON_LINES,
    "geojsons": _GEOJSON_LINES,
    "geojsonseq": _GEOJSON_LINES,
    "ndgeojson": _GEOJSON_LINES,
    "parquet": _PARQUET,
    "geoparquet": _PARQUET,
}
COMPRESSIONS: Final = ("gz", "zst")


def format_of(content: bytes, named: Format, resource: Resource) -> Format:
    """Return the format of a file with the extension of some format: JSON that is a GeoJSON collection is GeoJSON.

    An object with an array of the resource always was JSON.
    """
    is_geojson = named is _JSON and begins_like_collection(content) and not has_array(content, resource.name)
    return _GEOJSON if is_geojson else named
