"""Repeatable random choices: every choice of a sample uses the next number of one stream."""

import random
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import accumulate
from typing import Final, Generic, TypeVar

import msgspec

Item = TypeVar("Item")

# Returns the next number of the stream, in [0, 1).
Draw = Callable[[], float]

# Letters that Britain, Canada and the Netherlands all use at the end of their postal codes.
_LETTERS: Final = "ABEGHJLNPRTWXYZ"
_SYMBOLS: Final = {"#": "0123456789", "*": "23456789", "@": _LETTERS}


def stream(seed: int) -> Draw:
    """Return the stream of a seed, 0 or more.

    Of the `random` module only `random()` is guaranteed to repeat across Python versions, so nothing else is used.
    """
    return random.Random(seed).random


def pick(items: Sequence[Item], draw: Draw) -> Item:
    """Return one of the items, all equally likely."""
    return items[int(draw() * len(items))]


def shuffled(items: Iterable[Item], draw: Draw) -> list[Item]:
    """Return the items in random order."""
    return [item for _, _, item in sorted((draw(), index, item) for index, item in enumerate(items))]


def fill(pattern: str, draw: Draw) -> str:
    """Return a pattern filled in: `#` is any digit, `*` a digit from 2 to 9, `@` a letter, all else is literal."""
    template, alphabets = _parse_pattern(pattern)
    return template % tuple([alphabet[int(draw() * len(alphabet))] for alphabet in alphabets])


@cache
def _parse_pattern(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Return a template for `%`, and the alphabet of each placeholder in it."""
    return re.sub("[#*@]", "%s", pattern), tuple(_SYMBOLS[symbol] for symbol in pattern if symbol in _SYMBOLS)


class Weighted(msgspec.Struct, Generic[Item], frozen=True):
    """Items, and the running sums of their weights: integers, below 2^53 in all, so that no sum is rounded."""

    items: tuple[Item, ...]
    sums: tuple[int, ...]

    @classmethod
    def of(cls, weights: Iterable[tuple[Item, int]]) -> "Weighted[Item]":
        """Return items with their weights."""
        items, numbers = zip(*weights, strict=True)
        return cls(items, tuple(accumulate(numbers)))

    def pick(self, draw: Draw) -> Item:
        """Return one of the items, with a probability proportional to its weight."""
        return self.items[bisect(self.sums, draw() * self.sums[-1])]
