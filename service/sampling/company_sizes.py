"""Company sizes: how the stores of a sample are divided among its companies, by a power law."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

_MAJORS: Final = 20
_FIRMS_PER_MAJOR: Final = 5  # at least: a small market has fewer majors
_MAJORS_SHARE: Final = 9  # of twenty
_FLATNESS: Final = 16  # the largest has about twice as many stores as the last of the majors
_UNIT: Final = 10**9


def majors_among(firms: int) -> int:
    """Return how many of a number of firms are majors."""
    return min(_MAJORS, firms // _FIRMS_PER_MAJOR)


def sizes(*, stores: int, firms: int) -> Sequence[int]:
    """Return the number of stores of each firm, in descending order.

    The majors share 45 % of the stores, each at least 1.5 % if there are 20 of them. The sizes of the others are
    proportional to 1 / rank. The arithmetic is in integers, so that the sum is exact and the same on every machine.
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
