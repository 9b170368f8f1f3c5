"""Counters of requests by API key."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

# The first 511 keys are counted by name, all others together.
_MAX_KEYS: Final = 511
_OTHERS: Final = "(others)"
_ITEM_BYTES: Final = 8
_NAME_ITEMS: Final = 16
_NAME_BYTES: Final = _NAME_ITEMS * _ITEM_BYTES
_RESULTS: Final = ("answered", "limited")
_WIDTH: Final = _NAME_ITEMS + len(_RESULTS)


class KeyCounters(Collector):
    """Counts requests by the name of their key.

    An array of int64 has an entry for each key: its name, NUL-padded UTF-8, then its counts. A worker that takes over
    the slot of another goes on with the entries it finds there.
    """

    def __init__(self, counts: memoryview, all_counts: Callable[[], Iterable[memoryview]]) -> None:
        """Count in `counts`; `all_counts` returns those of all workers. All are int64."""
        self._counts, self._all_counts = counts, all_counts
        self._offsets = {name: offset for offset, name in _entries(counts) if name != _OTHERS}
        self._others = _MAX_KEYS * _WIDTH
        self._write_name(self._others, _OTHERS)

    def count(self, name: str, *, limited: bool) -> None:
        """Count a request with the key of this name; `limited` if its rate limit refused it."""
        offset = self._offsets.get(name)
        if offset is None:
            offset = self._add(name)
        self._counts[offset + _NAME_ITEMS + limited] += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the sums of all workers."""
        total: Counter[tuple[str, str]] = Counter()
        for counts in self._all_counts():
            for offset, name in _entries(counts):
                numbers = counts[offset + _NAME_ITEMS : offset + _WIDTH].tolist()
                total.update({(name, result): number for result, number in zip(_RESULTS, numbers, strict=True)})
        family = CounterMetricFamily(
            "store_directory_key_requests", "Requests by API key and result.", labels=["key", "result"]
        )
        for labels, number in sorted(total.items()):
            if number:
                family.add_metric(labels, number)
        yield family

    def _add(self, name: str) -> int:
        """Add an entry, and return its offset; that of the others if all entries are taken."""
        offset = len(self._offsets) * _WIDTH
        if offset >= self._others:
            return self._others
        self._write_name(offset, name)
        self._offsets[name] = offset
        return offset

    def _write_name(self, offset: int, name: str) -> None:
        """Write a name, truncated between two characters if it is too long."""
        truncated = name.encode()[:_NAME_BYTES].decode("utf-8", "ignore").encode()
        self._counts[offset : offset + _NAME_ITEMS] = memoryview(truncated.ljust(_NAME_BYTES, b"\0")).cast("q")


def _entries(counts: memoryview) -> Iterator[tuple[int, str]]:
    """Yield the offset and the name of each entry."""
    for offset in range(0, (_MAX_KEYS + 1) * _WIDTH, _WIDTH):
        if counts[offset]:
            yield offset, counts[offset : offset + _NAME_ITEMS].tobytes().rstrip(b"\0").decode("utf-8", "replace")
