"""Chance: every choice of a sample is made with the next number of one stream."""

import random
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Final, Generic, TypeVar

import msgspec

Item = TypeVar("Item")

# Gives the next number of the stream, in [0, 1).
Draw = Callable[[], float]

# Letters that Britain, Canada and the Netherlands all use at the end of their postal codes.
_LETTERS: Final = "ABEGHJLNPRTWXYZ"
_SYMBOLS: Final = {"#": "0123456789", "*": "23456789", "@": _LETTERS}


def stream(seed: int) -> Draw:
    """Return the stream of a seed, 0 or more.

    Of the whole `random` module only `random()` is promised to repeat across Python versions, so nothing else is used.
    """
    return random.Random(seed).random


def pick(items: Sequence[Item], draw: Draw) -> Item:
    """Return one of the items, all equally likely."""
    return items[int(draw() * len(items))]


def shuffled(items: Iterable[Item], draw: Draw) -> list[Item]:
    """Return the items in any order."""
    return [item for _, _, item in sorted((draw(), place, item) for place, item in enumerate(items))]


class Weighted(msgspec.Struct, Generic[Item], frozen=True):
    """Items, and the running sums of their weights: whole numbers, below 2^53 in all, so that no sum is rounded."""

    items: tuple[Item, ...]
    sums: tuple[int, ...]

    @classmethod
    def of(cls, weights: Iterable[tuple[Item, int]]) -> "Weighted[Item]":
        """Take items with their weights."""
        items, numbers = zip(*weights, strict=True)
        return cls(items, tuple(accumulate(numbers)))

    def pick(self, draw: Draw) -> Item:
        """Return one of the items, the likelier the greater its weight."""
        return self.items[bisect(self.sums, draw() * self.sums[-1])]


class Pattern(msgspec.Struct, frozen=True):
    """A text with open places, each with the characters that may stand there."""

    text: str
    places: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "Pattern":
        """Read a pattern: `#` is any digit, `*` a digit from 2 to 9, `@` a letter, all else stands for itself."""
        places = tuple(_SYMBOLS[character] for character in text if character in _SYMBOLS)
        return cls(re.sub("[#*@]", "%s", text), places)

    def fill(self, draw: Draw) -> str:
        """Return the text with every place filled."""
        return self.text % tuple([place[int(draw() * len(place))] for place in self.places])


def patterns(texts: Iterable[str]) -> tuple[Pattern, ...]:
    """Read several patterns."""
    return tuple(map(Pattern.of, texts))
