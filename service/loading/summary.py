"""Errors and warnings of a data set, grouped by code."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

import msgspec

from service.loading.acceptance import check_command
from service.loading.dataset import Loaded
from service.reading.batches.diagnostics import Diagnostic, DiagnosticCode
from service.texts import counted

_CODE: Final = attrgetter("code")


class Group(msgspec.Struct, frozen=True):
    """The errors or the warnings (`kind`) of one code: their number, and those in the report, at least one."""

    kind: str
    code: DiagnosticCode
    count: int
    listed: Sequence[Diagnostic]

    def __str__(self) -> str:
        """Return the code and the number: `range: 3 warnings`."""
        return f"{self.code}: {counted(self.count, self.kind)}"


def groups(loaded: Loaded) -> Iterator[Group]:
    """Yield the errors, then the warnings, by code."""
    report, counts = loaded.report, {**loaded.error_counts, **loaded.warning_counts}
    for kind, diagnostics in (("error", report.errors), ("warning", report.warnings)):
        for code, group in groupby(sorted(diagnostics, key=_CODE), key=_CODE):
            listed = list(group)
            yield Group(kind, code, counts.get(code, len(listed)), listed)


def notes(loaded: Loaded) -> Iterator[str]:
    """Yield the lines to log: skipped records, one line for each code, and the command that lists everything."""
    if loaded.report.totals.skipped:
        yield f"skipped {counted(loaded.report.totals.skipped, 'invalid record')}"
    found = list(groups(loaded))
    yield from (f"{group}, the first: {group.listed[0]}" for group in found)
    if found:
        yield f"{check_command(loaded)} reports every error and warning"
