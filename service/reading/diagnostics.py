"""Errors and warnings about a data set: what is wrong, where, and how it is displayed."""

import os
import re
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from service.texts import printable, truncate

# `file` refuses the whole data set; a record with any other error is not served. Warnings have no effect.
ErrorCode: TypeAlias = Literal[
    "file", "missing", "type", "date", "text", "cells", "duplicate", "company", "length", "hours", "places"
]
WorkbookWarning: TypeAlias = Literal["sheet", "merged", "format", "link"]
FileWarning: TypeAlias = Literal["header", "unused", "closed", "unterminated", "timezone", "holidays", "locations"]
RecordWarning: TypeAlias = Literal[
    "repeated", "parent", "range", "number", "placeholder", "formula", "spreadsheet", "exponent"
]
CharacterWarning: TypeAlias = Literal["invisible", "damaged", "entity", "zeros"]  # about what programs left in texts
StoresWarning: TypeAlias = Literal["unlocated", "location", "outside", "postal", "spelling"]  # about all stores
WarningCode: TypeAlias = Literal[WorkbookWarning, FileWarning, RecordWarning, CharacterWarning, StoresWarning]
DiagnosticCode: TypeAlias = ErrorCode | WarningCode

_NUMBERED: Final = ("json", "geojson", "parquet", "geoparquet")  # formats that are not one record per line
_PLAIN: Final = ("csv", "tsv", "tab", "txt", "xlsx", "xlsm", "ods")  # formats of which all cells are texts
# The format and the compression at the end of the name of a data file: `json` is an array, `jsonl` JSON Lines.
_EXTENSIONS: Final = re.compile(r"\.([a-z]+)(?:\.(?:gz|zst))?(?::[^:]*)?\Z", re.IGNORECASE)
_MAX_WHY: Final = 2_000  # characters of the reason why a file cannot be used


class Issue(msgspec.Struct, frozen=True):
    """A problem of a cell or a record, without its location: a code and the reason, in one clause."""

    code: DiagnosticCode
    why: str


class Diagnostic(msgspec.Struct, frozen=True):
    """An error or warning with its location. `line` and `record` count from 1; null if unknown or not applicable."""

    code: DiagnosticCode
    file: str
    line: int | None
    record: int | None
    field: str | None
    value: str | None
    why: str

    def __str__(self) -> str:
        """Return one line, in the style of compilers: `file:line: record: field: why: value`.

        The record is named in formats whose records may be on a single line, or on none.
        """
        file, field, value, found = printable(self.file), self.field, self.value, _EXTENSIONS.search(self.file)
        form = found[1].lower() if found else ""
        location = file if self.line is None else f"{file}:{self.line}"
        record = f"record {self.record}" if self.record is not None and form in _NUMBERED else None
        if field is not None and not (field and field.isprintable()):
            field = repr(field)
        if value:  # one of the wrong JSON type as written, where 0 and "0" differ
            value = printable(value) if self.code == "type" and form not in _PLAIN else repr(value)
        return ": ".join(part for part in (location, record, field, self.why, value) if part)


class Location(msgspec.Struct, frozen=True):
    """The location of a record or of one of its fields."""

    file: str
    line: int | None
    record: int
    field: str | None = None

    def diagnostic(self, issue: Issue, value: str | None) -> Diagnostic:
        """Return an issue at this location, its value truncated."""
        short_value = None if value is None else truncate(value)
        return Diagnostic(issue.code, self.file, self.line, self.record, self.field, short_value, issue.why)


class FileError(Exception):
    """A file cannot be used at all: the reason, and the line if it is known."""

    def __init__(self, why: str, line: int | None = None) -> None:
        """Take a reason that may quote names and texts of the file: it becomes printable, and is shortened."""
        self.why, self.line = printable(why if len(why) <= _MAX_WHY else f"{why[:_MAX_WHY]}…"), line
        super().__init__(self.why)

    def diagnostic(self, file: str | Path) -> Diagnostic:
        """Return this as the error of a file. In a path, bytes that are not UTF-8 become U+FFFD."""
        name = os.fsencode(file).decode("utf-8", "replace")
        return Diagnostic("file", name, self.line, None, None, None, self.why)
