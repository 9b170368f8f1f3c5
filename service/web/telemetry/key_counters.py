"""What each key was answered, in numbers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

# So many keys are counted by name, the first that come; those beyond them together.
_KEYS: Final = 511
_OTHERS: Final = "(others)"
_ITEM_BYTES: Final = 8
_NAME_ITEMS: Final = 16
_NAME_BYTES: Final = _NAME_ITEMS * _ITEM_BYTES
_RESULTS: Final = ("answered", "limited")
_WIDTH: Final = _NAME_ITEMS + len(_RESULTS)


class KeyCounters(Collector):
    """Counts answers by the name of the key.

    A row of int64 holds an entry for each key: its name, NUL-padded UTF-8, then its numbers. A worker that takes the
    place of another finds the entries of that one there, and goes on with them.
    """

    def __init__(self, counts: memoryview, everyone: Callable[[], Iterable[memoryview]]) -> None:
        """Count in `counts`; `everyone` gives the counts of all workers. Both are int64."""
        self._counts, self._everyone = counts, everyone
        self._places = {name: place for place, name in _entries(counts) if name != _OTHERS}
        self._others = _KEYS * _WIDTH
        self._enter(self._others, _OTHERS)

    def count(self, name: str, *, limited: bool) -> None:
        """Count an answer to the key of a name; `limited` is one that refused it for its rate."""
        place = self._places.get(name)
        if place is None:
            place = self._new_place(name)
        self._counts[place + _NAME_ITEMS + limited] += 1

    def collect(self) -> Iterator[Metric]:
        """Tell what all workers counted."""
        total: Counter[tuple[str, str]] = Counter()
        for counts in self._everyone():
            for place, name in _entries(counts):
                numbers = counts[place + _NAME_ITEMS : place + _WIDTH].tolist()
                total.update({(name, result): number for result, number in zip(_RESULTS, numbers, strict=True)})
        family = CounterMetricFamily("store_directory_key_requests", "Requests of a key.", labels=["key", "result"])
        for labels, number in sorted(total.items()):
            if number:
                family.add_metric(labels, number)
        yield family

    def _new_place(self, name: str) -> int:
        place = len(self._places) * _WIDTH
        if place >= self._others:
            return self._others
        self._enter(place, name)
        self._places[name] = place
        return place

    def _enter(self, place: int, name: str) -> None:
        """Write a name, cut between two characters where it is too long."""
        cut = name.encode()[:_NAME_BYTES].decode("utf-8", "ignore").encode()
        self._counts[place : place + _NAME_ITEMS] = memoryview(cut.ljust(_NAME_BYTES, b"\0")).cast("q")


def _entries(counts: memoryview) -> Iterator[tuple[int, str]]:
    """Yield the place and the name of each entry."""
    for place in range(0, (_KEYS + 1) * _WIDTH, _WIDTH):
        if counts[place]:
            yield place, counts[place : place + _NAME_ITEMS].tobytes().rstrip(b"\0").decode("utf-8", "replace")
