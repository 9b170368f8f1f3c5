"""What a mapping declares about a table of texts: where it begins, what its columns are called."""

from typing import Final

import msgspec

from service.reading.text.cleaning import Cleaning


class TableOptions(msgspec.Struct, frozen=True):
    """How a table is read.

    delimiter   of the cells of CSV; None if the file decides
    quotes      whether double quotes enclose cells of CSV
    skip_lines  the lines above the table, of a sheet its rows
    columns     the names of the columns of a table without a header; none if it has one
    sheet       that of a workbook; None for the first one
    cleaning    how cells are cleaned: those of other formats, too
    """

    delimiter: str | None = None
    quotes: bool = True
    skip_lines: int = 0
    columns: tuple[str, ...] = ()
    sheet: str | None = None
    cleaning: Cleaning = Cleaning()

    @property
    def keys(self) -> list[str]:
        """The declared keys of a mapping that mean something only for tables."""
        return [key for name, key in _KEYS.items() if getattr(self, name) != getattr(NO_OPTIONS, name)]


NO_OPTIONS: Final = TableOptions()
_KEYS: Final = {each: each for each in ("delimiter", "skip_lines", "columns", "sheet")} | {"quotes": "quote"}
