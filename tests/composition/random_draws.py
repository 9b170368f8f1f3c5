"""Random draws that are reproducible: a seed gives the same draws on every Python version."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

_Item = TypeVar("_Item")


class RandomDraws:
    """Random draws, each of one number from `Random.random`, the only method whose sequence Python guarantees."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def happens(self, share: float) -> bool:
        """Return true with this probability."""
        return self._random.random() < share

    def below(self, count: int) -> int:
        """Return one of the integers from 0 to `count` - 1."""
        return int(self._random.random() * count)

    def one(self, items: Sequence[_Item]) -> _Item:
        """Return one of some items."""
        return items[self.below(len(items))]

    def weighted(self, items: Mapping[_Item, float]) -> _Item:
        """Return one of some items by weight."""
        remaining = self._random.random() * sum(items.values())
        for item, weight in items.items():
            remaining -= weight
            if remaining < 0:
                return item
        return item

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """Return the items in random order."""
        return [items[index] for _, index in sorted((self._random.random(), index) for index in range(len(items)))]
