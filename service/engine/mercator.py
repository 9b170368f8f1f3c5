"""The Web-Mercator grid: cells of its finest zoom, and their Morton codes, of which a cell of any zoom is a run."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from service.engine.sphere import Floats, polynomial, sine_cosine
from service.model.coordinates import MAX_ZOOM

CellNumbers = NDArray[np.uint64]
MortonCodes = NDArray[np.uint64]

# The number of cells an axis at zoom 0 is 4, at the finest 2 ** 24.
AXIS_BITS: Final = MAX_ZOOM + 2
AXIS: Final = 1 << AXIS_BITS
_CIRCLE: Final = 360  # degrees
_MAX_LATITUDE: Final = 85.0511
_LOGARITHM: Final = [2 / (2 * term + 1) for term in range(11, -1, -1)]
_LN_2: Final = math.log(2)
_ROOT: Final = 0.7071067811865476  # of 1 / 2
# Each step moves half of the bits that are still next to each other apart.
_STEPS: Final = tuple(
    (np.uint64(distance), np.uint64(mask))
    for distance, mask in (
        (16, 0x0000_FFFF_0000_FFFF),
        (8, 0x00FF_00FF_00FF_00FF),
        (4, 0x0F0F_0F0F_0F0F_0F0F),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    )
)
_CHUNK: Final = 1 << 14  # points computed at once: they fit the processor's cache
_ONE: Final = np.uint64(1)


def columns(longitudes: Floats) -> CellNumbers:
    """Return the columns of longitudes in the finest grid, from west to east; 180 is in the last.

    Borders are doubles. The first sum may be rounded up to one, never down from one.
    """
    found = np.minimum(np.floor((longitudes + _CIRCLE / 2) / _CIRCLE * AXIS), AXIS - 1)
    found -= longitudes < found * _CIRCLE / AXIS - _CIRCLE / 2
    return found.astype(np.uint64)


def lines(latitudes: Floats) -> CellNumbers:
    """Return the rows of latitudes in the finest grid, from north to south.

    Of arithmetic alone, like sine and cosine: near a border, the logarithms of libraries differ between processors.
    """
    clamped = np.minimum(abs(latitudes), _MAX_LATITUDE)
    sine, cosine = sine_cosine(clamped)
    heights = np.copysign(_logarithm((1 + sine) / cosine), latitudes)
    return ((0.5 - heights / math.tau) * AXIS).astype(np.uint64)


def morton_codes(latitudes: Floats, longitudes: Floats) -> MortonCodes:
    """Return the Morton codes of points: those of their cells in the finest grid."""
    codes = np.empty(len(latitudes), np.uint64)
    for begin in range(0, len(codes), _CHUNK):
        chunk = slice(begin, begin + _CHUNK)
        codes[chunk] = interleave(columns(longitudes[chunk]), lines(latitudes[chunk]))
    return codes


def interleave(x: CellNumbers, y: CellNumbers) -> MortonCodes:
    """Return the Morton codes of cells: the bits of both numbers in turn."""
    return _spread(x) | _spread(y) << _ONE


def separate(codes: MortonCodes) -> tuple[CellNumbers, CellNumbers]:
    """Return the column and the row of the cells of Morton codes."""
    return _gather(codes), _gather(codes >> _ONE)


def _logarithm(numbers: Floats) -> Floats:
    """Return natural logarithms."""
    mantissas, exponents = np.frexp(numbers)
    small = mantissas < _ROOT
    mantissas, exponents = np.where(small, 2 * mantissas, mantissas), exponents - small
    ratio = (mantissas - 1) / (mantissas + 1)
    logarithms: Floats = ratio * polynomial(_LOGARITHM, ratio * ratio) + exponents * _LN_2
    return logarithms


def _spread(numbers: CellNumbers) -> MortonCodes:
    """Put a zero bit above each bit."""
    for distance, mask in _STEPS:
        numbers = (numbers | numbers << distance) & mask
    return numbers


def _gather(codes: MortonCodes) -> CellNumbers:
    """Take out every second bit."""
    codes = codes & _STEPS[-1][1]
    masks = [mask for _, mask in _STEPS[-2::-1]] + [np.uint64(AXIS - 1)]
    for (distance, _), mask in zip(reversed(_STEPS), masks, strict=True):
        codes = (codes | codes >> distance) & mask
    return codes
