"""Check the parents of companies, once all companies are known."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Final

import msgspec

from service.loading.checks import UNKNOWN_PARENT
from service.reading.batches.diagnostics import Diagnostic, Issue, Location

_CYCLE: Final = Issue("parent", "the company is its own ancestor")


class ParentReference(msgspec.Struct, frozen=True):
    """The parent of a company record; `company` is its identifier, None if the record is not served."""

    company: str | None
    parent: str
    location: Location


def parent_warnings(references: Sequence[ParentReference], companies: AbstractSet[str]) -> list[Diagnostic]:
    """Return a warning for each parent that is not a company, and for each company in a cycle of parents."""
    cyclic = _cyclic({each.company: each.parent for each in references if each.company is not None})
    unknown = [
        each.location.diagnostic(UNKNOWN_PARENT, each.parent) for each in references if each.parent not in companies
    ]
    return unknown + [each.location.diagnostic(_CYCLE, each.parent) for each in references if each.company in cyclic]


def _cyclic(parents: Mapping[str, str]) -> set[str]:
    """Return the companies that are their own ancestors."""
    cyclic: set[str] = set()
    visited_from: dict[str, str] = {}  # company -> the start of the walk that visited it first
    for start in parents:
        company = start
        while company in parents and company not in visited_from:
            visited_from[company] = start
            company = parents[company]
        while visited_from.get(company) == start and company not in cyclic:
            cyclic.add(company)
            company = parents[company]
    return cyclic
