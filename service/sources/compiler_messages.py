"""The messages of the compiler process to its parent, as lines of JSON."""

from typing import TypeAlias

import msgspec

from service.data_set import Rejection, Summary


class Step(msgspec.Struct, frozen=True, tag=True):
    """The progress of one step."""

    name: str
    done: int
    total: int


class Compiled(msgspec.Struct, frozen=True, tag=True):
    """The file is written. What was assumed, and the notes, are lines about the data for the log."""

    summary: Summary
    assumed: tuple[str, ...]
    notes: tuple[str, ...]


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The file could not be written."""

    why: str


Outcome: TypeAlias = Compiled | Rejection | Failed
Message: TypeAlias = Step | Outcome
