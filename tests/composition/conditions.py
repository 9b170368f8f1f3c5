"""Preconditions (RFC 9110 section 13.2.2), judged by what was learned of tags."""

import re
from collections.abc import Set as AbstractSet
from email.utils import parsedate_to_datetime
from math import inf
from typing import Final, NamedTuple

from tests.composition.ledger import Ledger, Representation
from tests.composition.request import Request

_MEMBER: Final = re.compile(r'(W/)?("[^"]*")')


class Outcome(NamedTuple):
    """The status of an answer, and the representations of which its entity tag may be."""

    status: int
    tagged: AbstractSet[Representation] = frozenset()


def decide(
    request: Request,
    modified: int | None,
    sendable: AbstractSet[Representation],
    chosen: Representation,
    ledger: Ledger,
) -> Outcome:
    """Decide on the conditions of a request, for which one of several representations may be sent, best the chosen.

    `modified` is when the data was, in seconds; None where that is not known, and dates do not count.
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
    if modified is not None and modified <= _seconds(request.field("If-Modified-Since"), otherwise=-inf):
        return Outcome(304, {chosen})
    return Outcome(200, {chosen})


def _named(field: str, ledger: Ledger, *, weak: bool) -> AbstractSet[Representation]:
    """Return the representations whose tags a field lists; those of weak tags, too, where these count."""
    tags = (tag for mark, tag in _MEMBER.findall(field) if weak or not mark)
    return {known for known in map(ledger.tagged, tags) if known is not None}


def _seconds(date: str, *, otherwise: float) -> float:
    """Return a date in seconds; something else where it is none."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return otherwise
