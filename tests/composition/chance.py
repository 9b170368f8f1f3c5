"""Random draws that repeat for a seed on every Python version, whatever is drawn from."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

_Item = TypeVar("_Item")


class Chance:
    """Random draws, each of one number from `Random.random`, the one method whose sequence is promised."""

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
        place = self._random.random() * sum(items.values())
        for item, weight in items.items():
            place -= weight
            if place < 0:
                return item
        return item

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """Return the items in random order."""
        return [items[place] for _, place in sorted((self._random.random(), place) for place in range(len(items)))]
