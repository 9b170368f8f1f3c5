"""Draws of a seed, which are the same whatever was answered: each takes one number of the sequence."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

_Item = TypeVar("_Item")


class Chance:
    """Draws from the sequence of a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def happens(self, share: float) -> bool:
        """Return true in this share of all cases."""
        return self._random.random() < share

    def below(self, count: int) -> int:
        """Return one of the integers from 0 to `count` - 1."""
        return int(self._random.random() * count)

    def one(self, items: Sequence[_Item]) -> _Item:
        """Return one of some items."""
        return items[self.below(len(items))]

    def weighed(self, items: Mapping[_Item, float]) -> _Item:
        """Return one of some items, each as often as its weight says."""
        place = self._random.random() * sum(items.values())
        for item, weight in items.items():
            place -= weight
            if place < 0:
                return item
        return item

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        """Return the items in another order."""
        return [items[place] for _, place in sorted((self._random.random(), place) for place in range(len(items)))]
