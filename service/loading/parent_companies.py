"""The parents that companies claim, looked at when all companies are known."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Final

import msgspec

from service.loading.checks import UNKNOWN_PARENT
from service.loading.faults import Fault, Flaw, Place

_CIRCLE: Final = Flaw("parent", "the company's parents lead back to itself")


class ParentReference(msgspec.Struct, frozen=True):
    """The parent that a company record claims; `company` is its identifier, None where the record is not served."""

    company: str | None
    parent: str
    place: Place


def parent_warnings(claims: Sequence[ParentReference], companies: AbstractSet[str]) -> list[Fault]:
    """Return the warnings of parents that no company has, and of the companies whose parents form a circle."""
    ringed = _ringed({claim.company: claim.parent for claim in claims if claim.company is not None})
    unknown = [claim.place.fault(UNKNOWN_PARENT, claim.parent) for claim in claims if claim.parent not in companies]
    return unknown + [claim.place.fault(_CIRCLE, claim.parent) for claim in claims if claim.company in ringed]


def _ringed(parents: Mapping[str, str]) -> set[str]:
    """Return the companies that come back to themselves from parent to parent."""
    ringed: set[str] = set()
    walks: dict[str, str] = {}  # company -> where the walk began that met it first
    for start in parents:
        company = start
        while company in parents and company not in walks:
            walks[company] = start
            company = parents[company]
        while walks.get(company) == start and company not in ringed:
            ringed.add(company)
            company = parents[company]
    return ringed
