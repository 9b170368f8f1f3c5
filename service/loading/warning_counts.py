"""The number of warnings of a file. Files with millions of them must not exhaust memory or flood a report."""

from collections import Counter
from typing import Final

from service.loading.diagnostics import Code, Diagnostic

MAX_LISTED: Final = 10_000  # warnings of one code in one field of a file; a few megabytes


class WarningCounts:
    """Counts the warnings of a file by code and field, and limits how many are listed."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._counts: Counter[tuple[Code, str | None]] = Counter()

    def count(self, code: Code, field: str | None) -> bool:
        """Count a warning; return whether to list it."""
        self._counts[code, field] += 1
        return self._counts[code, field] <= MAX_LISTED

    @property
    def by_code(self) -> Counter[Code]:
        """The number of warnings of each code."""
        totals: Counter[Code] = Counter()
        for (code, _), count in self._counts.items():
            totals[code] += count
        return totals

    def unlisted(self) -> list[Diagnostic]:
        """Return one warning for each code and field with more than `MAX_LISTED` warnings."""
        return [
            Diagnostic(
                code, self._file, None, None, field, None, f"{count - MAX_LISTED:,} more warnings are not listed"
            )
            for (code, field), count in self._counts.items()
            if count > MAX_LISTED
        ]
