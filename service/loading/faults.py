"""What can be wrong with a data set, and how it is told."""

import os
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

# What costs a record, but `file`, which costs the whole set; and what costs nothing.
FaultCode: TypeAlias = Literal["file", "missing", "type", "date", "text", "cells", "duplicate", "company"]
WarningCode: TypeAlias = Literal["repeated", "range", "parent", "unterminated"]
Code: TypeAlias = FaultCode | WarningCode

_LONGEST_VALUE: Final = 200  # characters; enough to find a cell by, and a report stays readable


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
        """Return the fault in one line, as compilers write: file:line: field: why: value."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (place, self.field, self.why, self.value and repr(self.value)) if part)


class Place(msgspec.Struct, frozen=True):
    """Where a record or one of its fields stands."""

    file: str
    line: int
    record: int
    field: str | None = None

    def fault(self, flaw: Flaw, value: str | None) -> Fault:
        """Return a flaw of what stands here. A value is cut, with an ellipsis, where it is long."""
        if value is not None and len(value) > _LONGEST_VALUE:
            value = value[:_LONGEST_VALUE] + "…"
        return Fault(flaw.code, self.file, self.line, self.record, self.field, value, flaw.why)


class RefusedError(Exception):
    """A file cannot be used at all: why, and the line where that is known."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why, self.line = why, line

    def fault(self, file: str | Path) -> Fault:
        """Return this as the fault of a file. Of a path, whose name may be any bytes, what is not UTF-8 is U+FFFD."""
        name = os.fsencode(file).decode("utf-8", "replace")
        return Fault("file", name, self.line, None, None, None, self.why)
