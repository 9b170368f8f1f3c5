"""What can be wrong with a data set, and how it is told."""

import os
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

# What costs a record, but `file`, which costs the whole set; and what costs nothing.
FaultCode: TypeAlias = Literal["file", "missing", "type", "date", "text", "cells", "duplicate", "company"]
WarningCode: TypeAlias = Literal[
    "repeated", "range", "number", "placeholder", "formula", "parent", "unused", "unterminated"
]
Code: TypeAlias = FaultCode | WarningCode

_LONGEST_TEXT: Final = 200  # characters; enough to find a cell by, and a report stays readable


class Flaw(msgspec.Struct, frozen=True):
    """What is wrong with a cell or a record: its code and why, in one clause."""

    code: Code
    why: str


class Fault(msgspec.Struct, frozen=True):
    """A flaw and its place. `line` and `record` count from 1; null where there is none or it is unknown."""

    code: Code
    file: str
    line: int | None
    record: int | None
    field: str | None
    value: str | None
    why: str

    def __str__(self) -> str:
        """Return the error in one line, as compilers write: file:line: record: field: why: value.

        The record is named in a JSON array, which may be a single line.
        """
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        record = f"record {self.record}" if self.record is not None and _format(self.file) == "json" else None
        return ": ".join(part for part in (place, record, self._shown_field(), self.why, self._shown_value()) if part)

    def _shown_field(self) -> str | None:
        """Return the name of the field or column, in quotes if it is empty or cannot be printed."""
        return self.field if self.field is None or (self.field and self.field.isprintable()) else repr(self.field)

    def _shown_value(self) -> str | None:
        """Return the value in quotes; one of a wrong type as it is written in JSON, where 0 and "0" differ."""
        if self.value and self.code == "type" and "json" in _format(self.file):
            return printable(self.value)
        return self.value and repr(self.value)


def cut(text: str) -> str:
    """Return a text as a report has it: cut, with an ellipsis, if it is long."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def printable(text: str) -> str:
    """Return a text for a terminal: what cannot be printed, such as an escape sequence, is written as in Python."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


class Place(msgspec.Struct, frozen=True):
    """Where a record or one of its fields stands."""

    file: str
    line: int
    record: int
    field: str | None = None

    def fault(self, flaw: Flaw, value: str | None) -> Fault:
        """Return a flaw of what stands here, its value cut."""
        cut_value = None if value is None else cut(value)
        return Fault(flaw.code, self.file, self.line, self.record, self.field, cut_value, flaw.why)


class RefusedError(Exception):
    """A file cannot be used at all: why, and the line where that is known."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why, self.line = why, line

    def fault(self, file: str | Path) -> Fault:
        """Return this as the fault of a file. Of a path, whose name may be any bytes, what is not UTF-8 is U+FFFD."""
        name = os.fsencode(file).decode("utf-8", "replace")
        return Fault("file", name, self.line, None, None, None, self.why)


def _format(file: str) -> str:
    """Return the format of a data file, by the ending of its name: `json` is an array, `jsonl` and `ndjson` lines."""
    return file.partition(".")[2].partition(".")[0]
