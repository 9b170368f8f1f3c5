"""The numbers of the normalized keys of many decimals at once: those of `key_number`."""

from typing import Final

import numpy as np

from service.engine.sphere import Floats
from service.engine.string_array import StringArray
from service.model.kinds import COMPLEMENT, POINT_SCALE, key_number

_BEFORE_DIGITS: Final = 2  # characters: sign and scale
_NEGATIVE, _ZERO = b"00"
_COMPLEMENT: Final = np.frombuffer(COMPLEMENT, np.uint8)
# A float has each whole number of so many digits, and each of these powers of ten: a quotient or product of the two is
# rounded once, as IEEE 754 requires, to the number nearest to the decimal.
_MOST_DIGITS: Final = 15
_POWERS: Final = np.array([10**exponent for exponent in range(23)], float)


def decimal_numbers(keys: StringArray) -> Floats:
    """Return the number nearest to the decimal of each key."""
    characters, offsets = np.frombuffer(keys.data, np.uint8), keys.offsets.astype(np.int64)
    starts, last = offsets[:-1], len(characters) - 1
    negative = characters[starts] == _NEGATIVE
    counts = np.diff(offsets) - _BEFORE_DIGITS - negative
    scales = characters[np.minimum(starts + 1, last)]
    exponents = np.where(negative, _COMPLEMENT[scales], scales).astype(np.int64) - POINT_SCALE - counts
    whole = np.zeros(len(keys), np.int64)
    for place in range(min(counts.max(initial=0), _MOST_DIGITS)):
        digits = characters[np.minimum(starts + _BEFORE_DIGITS + place, last)]
        digits = np.where(negative, _COMPLEMENT[digits], digits) - _ZERO
        whole = np.where(place < counts, whole * 10 + digits, whole)
    divisors, factors = (_POWERS.take(np.maximum(each, 0), mode="clip") for each in (-exponents, exponents))
    numbers: Floats = np.where(negative, -whole, whole) / divisors * factors
    others = (counts < 1) | (counts > _MOST_DIGITS) | (abs(exponents) >= len(_POWERS))
    numbers[others] = [key_number(keys[index]) for index in others.nonzero()[0].tolist()]
    return numbers
