"""The formats of data files, by file name extension. `reading/files/records.py` opens them."""

from typing import Final

import msgspec

_FEED: Final = (b"\n",)
TEXT_RANK: Final = 2  # a text may be anything
COMPRESSIONS: Final = ("gz", "zst")


class FileFormat(msgspec.Struct, frozen=True):
    """A format.

    name       how it is opened
    line_ends  its line endings, if it consists of lines
    is_text    whether it is UTF-8, or in a declared encoding if it is CSV
    rank       that of files with its extension: they are data files if none of a lower rank is beside them
    """

    name: str
    line_ends: tuple[bytes, ...] = ()
    is_text: bool = True
    rank: int = 0

    @property
    def is_csv(self) -> bool:
        """Whether it is CSV."""
        return self.name == CSV.name


CSV: Final = FileFormat("csv", line_ends=(b"\n", b"\r"))
JSON: Final = FileFormat("json")
JSON_LINES: Final = FileFormat("jsonl", _FEED)
GEOJSON: Final = FileFormat("geojson", rank=1)
OVERPASS: Final = FileFormat("overpass")
GEOJSON_LINES: Final = FileFormat("geojsonl", _FEED, rank=1)
PARQUET: Final = FileFormat("parquet", is_text=False, rank=1)
WORKBOOK: Final = FileFormat("workbook", is_text=False, rank=3)
_TEXT: Final = msgspec.structs.replace(CSV, rank=TEXT_RANK)
FORMATS: Final = {
    "json": JSON,
    "jsonl": JSON_LINES,
    "ndjson": JSON_LINES,
    "csv": CSV,
    "tsv": _TEXT,
    "tab": _TEXT,
    "txt": _TEXT,
    "geojson": GEOJSON,
    "geojsonl": GEOJSON_LINES,
    "geojsons": GEOJSON_LINES,
    "geojsonseq": GEOJSON_LINES,
    "ndgeojson": GEOJSON_LINES,
    "parquet": PARQUET,
    "geoparquet": PARQUET,
    "xlsx": WORKBOOK,
    "xlsm": WORKBOOK,
    "ods": WORKBOOK,
}
