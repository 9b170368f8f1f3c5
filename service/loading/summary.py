"""What was found in a data set, by code."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Final

import msgspec

from service.loading.dataset import Loaded
from service.loading.faults import Code, Fault

_BY_CODE: Final = attrgetter("code")


class Group(msgspec.Struct, frozen=True):
    """The faults or the warnings (`kind`) of one code: how many there are, and those in the report, at least one."""

    kind: str
    code: Code
    count: int
    listed: Sequence[Fault]

    def __str__(self) -> str:
        """Return the code and the count: `range: 3 warnings`."""
        return f"{self.code}: {self.count:,} {self.kind}{'' if self.count == 1 else 's'}"


def groups(loaded: Loaded) -> Iterator[Group]:
    """Yield what was found: faults, then warnings, each by code."""
    for kind, found in (("fault", loaded.report.faults), ("warning", loaded.report.warnings)):
        for code, group in groupby(sorted(found, key=_BY_CODE), key=_BY_CODE):
            listed = list(group)
            yield Group(kind, code, loaded.warned.get(code, len(listed)), listed)


def notes(loaded: Loaded, folder: Path) -> Iterator[str]:
    """Yield what a log says of it: a line for each code, however much is found, and what lists all."""
    if loaded.report.totals.skipped:
        yield f"left out {loaded.report.totals.skipped:,} records at fault"
    found = list(groups(loaded))
    yield from (f"{group}, the first: {group.listed[0]}" for group in found)
    if found:
        yield f"`store-directory check {shlex.quote(str(folder))}` reports every error and warning"
