"""Shapes of input that cost a reader most: repeated tokens of its syntax."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

import msgspec

# Replaced by a number, another one in each repetition.
SERIAL: Final = b"<serial>"
_SERIAL_DIGITS: Final = 7


class Shape(msgspec.Struct, frozen=True):
    """Input of any size: a start, runs of a repeated fragment each, an end."""

    start: bytes
    runs: tuple[bytes, ...]
    end: bytes

    def sample(self, size: int) -> bytes:
        """Return input whose runs take about `size` bytes together, and at least one repetition each."""
        return b"".join((self.start, *(_repeat(run, size // len(self.runs)) for run in self.runs), self.end))

    def __str__(self) -> str:
        """Return the shape as an expression in `n`."""
        runs = [f"{run!r} * n" for run in self.runs]
        return " + ".join([*([repr(self.start)] if self.start else []), *runs, *([repr(self.end)] if self.end else [])])


class Alphabet(msgspec.Struct, frozen=True):
    """The tokens of a reader's syntax.

    fragments  characters and short texts; `SERIAL` in one is a number
    starts     texts before them, for example an open quote
    ends       texts after them, for example one that makes a match fail
    limit      bytes of fragments, beyond which the reader rejects the input; 0 for none
    paired     whether pairs of them are tried
    """

    fragments: Sequence[bytes]
    starts: Sequence[bytes] = (b"",)
    ends: Sequence[bytes] = (b"",)
    limit: int = 0
    paired: bool = True

    def shapes(self) -> Iterator[Shape]:
        """Yield every fragment repeated, every two of them in turn, and a run of one before a run of another."""
        pairs = list(combinations(self.fragments, 2)) if self.paired else []
        units = (*self.fragments, *map(b"".join, pairs))
        yield from (Shape(start, (unit,), end) for start, unit, end in product(self.starts, units, self.ends))
        for one, other in pairs:
            yield from (Shape(self.starts[0], runs, self.ends[0]) for runs in ((one, other), (other, one)))


def characters(text: bytes) -> tuple[bytes, ...]:
    """Return each character of an ASCII text."""
    return tuple(text[place : place + 1] for place in range(len(text)))


def _repeat(fragment: bytes, size: int) -> bytes:
    if SERIAL not in fragment:
        return fragment * max(1, size // len(fragment))
    count = max(1, size // (len(fragment) - len(SERIAL) + _SERIAL_DIGITS))
    return b"".join(fragment.replace(SERIAL, b"%0*d" % (_SERIAL_DIGITS, number)) for number in range(count))
