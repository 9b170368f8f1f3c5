"""How many warnings a file has. A million of them must not fill the memory, nor a report."""

from collections import Counter
from typing import Final

from service.loading.faults import Code, Fault

MOST_LISTED: Final = 10_000  # warnings of one code in one field of a file; a few megabytes


class WarningCounts:
    """Counts the warnings of a file by code and field, and decides which are listed."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._counts: Counter[tuple[Code, str | None]] = Counter()

    def admits(self, code: Code, field: str | None) -> bool:
        """Count a warning; return whether it is listed."""
        self._counts[code, field] += 1
        return self._counts[code, field] <= MOST_LISTED

    @property
    def by_code(self) -> Counter[Code]:
        """How many warnings there are of each code."""
        totals: Counter[Code] = Counter()
        for (code, _), count in self._counts.items():
            totals[code] += count
        return totals

    def unlisted(self) -> list[Fault]:
        """Return a warning for each code and field of which more are counted than listed."""
        return [
            Fault(code, self._file, None, None, field, None, f"{count - MOST_LISTED:,} more warnings are not listed")
            for (code, field), count in self._counts.items()
            if count > MOST_LISTED
        ]
