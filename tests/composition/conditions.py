"""Preconditions (RFC 9110 section 13.2.2), evaluated by the tags that replies have shown."""

import re
from collections.abc import Set as AbstractSet
from email.utils import parsedate_to_datetime
from math import inf
from typing import Final, NamedTuple

from tests.composition.ledger import Ledger, Variant
from tests.composition.request import Request

_MEMBER: Final = re.compile(r'(W/)?("[^"]*")')


class Outcome(NamedTuple):
    """The status of a reply, and the variants one of which its entity tag must identify."""

    status: int
    tagged: AbstractSet[Variant] = frozenset()


def decide(
    request: Request, modified: int | None, sendable: AbstractSet[Variant], chosen: Variant, ledger: Ledger
) -> Outcome:
    """Evaluate the conditions of a request.

    sendable  the variants that it accepts, in any coding; `chosen` is the one that would be sent
    modified  the time in Last-Modified, in seconds; without one, dates do not count
    """
    match, none_match = request.field("If-Match"), request.field("If-None-Match")
    if match:
        if match != "*" and not _named(match, ledger, weak=False) & sendable:
            return Outcome(412)
    elif modified is not None and modified > _seconds(request.field("If-Unmodified-Since"), otherwise=inf):
        return Outcome(412)
    if none_match == "*":
        return Outcome(304, {chosen})
    if none_match:
        found = _named(none_match, ledger, weak=True) & sendable
        return Outcome(304, found) if found else Outcome(200, {chosen})
    if modified is not None and modified == _seconds(request.field("If-Modified-Since"), otherwise=-inf):
        return Outcome(304, {chosen})
    return Outcome(200, {chosen})


def _named(field: str, ledger: Ledger, *, weak: bool) -> AbstractSet[Variant]:
    """Return the variants whose tags a field lists, with or without those of weak tags."""
    tags = (tag for mark, tag in _MEMBER.findall(field) if weak or not mark)
    return {known for known in map(ledger.tagged, tags) if known is not None}


def _seconds(date: str, *, otherwise: float) -> float:
    """Return a date in seconds, or `otherwise` if it is not a date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return otherwise
