"""How the arrays of a baked file are declared; the declarations write, map and check them.

A length has a name: all arrays that are declared with it must have it, and the first of them says what it is.
"""

import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.baking.layout import Array, DamagedFile
from service.engine.columns.column import StringArray

T = TypeVar("T")
Arrays = dict[str, Array]
Lengths = dict[str, int]


class Numbers(msgspec.Struct, frozen=True):
    """An array of numbers.

    types   any of which it has
    length  how many it has; with `more` so many more, with `each` so many times that length
    below   the length, or number, that each is below; none is negative
    within  the largest number, and the smallest one negated
    rises   how each compares with the one before
    ends    the length that is the last number; the first is 0
    """

    types: tuple[type[np.number[Any]], ...]
    length: str
    more: int = 0
    each: str = ""
    below: str | int = ""
    within: int | None = None
    rises: Callable[[Array, Array], Any] | None = None
    ends: str = ""

    def take(self, name: str, arrays: Arrays, lengths: Lengths) -> Array:
        """Take the array out of those of a file. Raises `DamagedFile`, also for its type or length."""
        if name not in arrays:
            raise DamagedFile(f"the array {name} is missing")
        array = arrays.pop(name)
        if array.dtype.type not in self.types:
            raise DamagedFile(f"the array {name} has the wrong type")
        length, rest = divmod(len(array) - self.more, lengths[self.each] if self.each else 1)
        if rest or length < 0 or lengths.setdefault(self.length or name, length) != length:
            raise DamagedFile(f"the array {name} does not have the length of the others")
        return array

    def check(self, name: str, array: Array, lengths: Lengths) -> None:
        """Check the numbers. Raises `DamagedFile`."""
        if self.below:
            _check_range(name, array, 0, (lengths[self.below] if isinstance(self.below, str) else self.below) - 1)
        if self.within is not None:
            _check_range(name, array, -self.within, self.within)
        # Compared before they are subtracted or used as indices: a difference may overflow.
        if self.rises is not None and not self.rises(array[1:], array[:-1]).all():
            raise DamagedFile(f"the array {name} is not ascending")
        if self.ends and (array[0] != 0 or array[-1] != lengths[self.ends]):
            raise DamagedFile(f"the array {name} does not cover all {self.ends}")


def _check_range(name: str, array: Array, least: int, most: int) -> None:
    # Written so that NaN fails.
    if len(array) and not least <= array.min().item() <= array.max().item() <= most:
        raise DamagedFile(f"the array {name} is out of range")


class Structure(Generic[T]):
    """Parts that `make` takes by their names, and a rule that is checked after each of them by itself."""

    def __init__(
        self,
        make: Callable[..., T],
        rule: Callable[[str, T], None] = lambda _name, _value: None,
        /,
        **parts: "Numbers | Structure[Any]",
    ) -> None:
        self.parts, self._make, self._rule = parts, make, rule

    def arrays(self, name: str, value: T) -> Iterator[tuple[str, Array]]:
        """Yield the arrays of a value, with their names."""
        for part, declared in self.parts.items():
            array = getattr(value, part)
            if isinstance(declared, Structure):
                yield from declared.arrays(f"{name}/{part}", array)
            else:
                yield f"{name}/{part}", np.asarray(array)

    def take(self, name: str, arrays: Arrays, lengths: Lengths, **others: object) -> T:
        """Take the parts out of the arrays of a file, see `Numbers.take`; `make` a value of them and others."""
        parts = {part: declared.take(f"{name}/{part}", arrays, lengths) for part, declared in self.parts.items()}
        return self._make(**parts, **others)

    def check(self, name: str, value: T, lengths: Lengths) -> None:
        """Check each part, then the rule. Raises `DamagedFile`."""
        for part, declared in self.parts.items():
            declared.check(f"{name}/{part}", getattr(value, part), lengths)
        self._rule(name, value)


def strings(length: str, *rule: Callable[[str, StringArray], None]) -> Structure[StringArray]:
    """Declare strings."""
    return Structure(
        lambda data, offsets: StringArray(data.data, offsets),
        *rule,
        data=Numbers((np.uint8,), "bytes"),
        offsets=Numbers((np.uint32, np.int64), length, more=1, rises=operator.ge, ends="bytes"),
    )


def are_sorted(name: str, values: StringArray) -> None:
    """Check that strings are sorted and distinct. Raises `DamagedFile`."""
    if not is_sorted(values):
        raise DamagedFile(f"the strings of {name} are not sorted")


_WORD: Final = 8  # bytes compared at once
_CHUNK: Final = 1 << 13  # strings compared at once: they fit the processor's cache, which halves the time
# The mask of the first n bytes of a word, for n from 0 to 8.
_MASKS: Final = np.array([((1 << 8 * n) - 1) << 8 * (_WORD - n) for n in range(_WORD + 1)], np.uint64)


def is_sorted(strings: StringArray) -> bool:
    """Return whether the strings are sorted and distinct, by bytes."""
    chunks = range(0, len(strings) - 1, _CHUNK)
    offsets = strings.offsets
    return all(_is_sorted(strings.data, offsets[begin : begin + _CHUNK + 2].astype(np.int64)) for begin in chunks)


def _is_sorted(data: memoryview, offsets: NDArray[np.int64]) -> bool:
    """Return whether the strings between offsets are sorted and distinct.

    Neighbours are compared in words of 8 bytes, padded with NUL; pairs that are equal so far go on to the next word.
    """
    content = bytes(data[offsets[0] : offsets[-1]]) + bytes(_WORD)
    words = np.ndarray((len(content) - _WORD + 1,), ">u8", content, strides=(1,))
    start, length = offsets[:-1] - offsets[0], np.diff(offsets)
    pairs, at = np.arange(len(start) - 1), 0
    while len(pairs):
        shorter, longer = length.take(pairs), length.take(pairs + 1)
        one = words[start.take(pairs) + at] & _MASKS.take(shorter - at, mode="clip")
        other = words[start.take(pairs + 1) + at] & _MASKS.take(longer - at, mode="clip")
        if (one > other).any():
            return False
        is_same = one == other
        pairs, shorter, longer = pairs[is_same], shorter[is_same], longer[is_same]
        ended = np.minimum(shorter, longer) <= at + _WORD
        if not (shorter < longer)[ended].all():
            return False
        pairs, at = pairs[~ended], at + _WORD
    return True
