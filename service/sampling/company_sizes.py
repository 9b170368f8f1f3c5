"""Sizes: how the stores of a sample fall to its companies, by a power law."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

_MAJORS: Final = 20
_FIRMS_PER_MAJOR: Final = 5  # at least: in a small market fewer are large
_MAJORS_SHARE: Final = 9  # of twenty
_FLATNESS: Final = 16  # the largest holds about twice as much as the last of the majors
_UNIT: Final = 10**9


def majors_among(firms: int) -> int:
    """Return how many of some firms are large."""
    return min(_MAJORS, firms // _FIRMS_PER_MAJOR)


def sizes(*, stores: int, firms: int) -> Sequence[int]:
    """Return how many stores each firm has, the largest first.

    The majors share 45 % of the stores, each at least 1.5 % when there are 20 of them; the sizes of the others go down
    as one over their rank. Whole numbers only, so that the sum is exact and the same everywhere.
    """
    majors = majors_among(firms)
    large = [_UNIT // (_FLATNESS + rank) for rank in range(majors)]
    small = [_UNIT // (1 + rank) for rank in range(majors, firms)]
    weights = [weight * _MAJORS_SHARE * sum(small) for weight in large] if majors else []
    weights += [weight * (20 - _MAJORS_SHARE) * (sum(large) or 1) for weight in small]
    return _parts(stores, weights)


def _parts(whole: int, weights: Sequence[int]) -> Sequence[int]:
    sums = list(accumulate(weights))
    ends = [whole * partial // sums[-1] for partial in sums]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
