"""Preconditions (RFC 9110 section 13.2.2), judged by what was learned of tags."""

import re
from collections.abc import Set as AbstractSet
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

from tests.composition.ledger import Ledger, Representation
from tests.composition.request import Request

_MEMBER: Final = re.compile(r'(W/)?("[^"]*")')


class Outcome(NamedTuple):
    """The status of an answer, and the representations of which its entity tag may be."""

    status: int
    tagged: AbstractSet[Representation] = frozenset()


def judge(
    request: Request,
    modified: int | None,
    acceptable: AbstractSet[Representation],
    chosen: Representation,
    ledger: Ledger,
) -> Outcome:
    """Judge the conditions of a request, of which one of the acceptable representations would be sent, the chosen."""
    match, none_match = request.field("If-Match"), request.field("If-None-Match")
    unmodified_since, modified_since = (_seconds(request, f"If-{name}-Since") for name in ("Unmodified", "Modified"))
    if match:
        if match != "*" and not _named(match, ledger, weak=False) & acceptable:
            return Outcome(412)
    elif None not in (modified, unmodified_since) and modified > unmodified_since:
        return Outcome(412)
    if none_match == "*":
        return Outcome(304, {chosen})
    if none_match:
        found = _named(none_match, ledger, weak=True) & acceptable
        return Outcome(304, found) if found else Outcome(200, {chosen})
    if modified is not None and modified_since is not None and modified <= modified_since:
        return Outcome(304, {chosen})
    return Outcome(200, {chosen})


def _named(field: str, ledger: Ledger, *, weak: bool) -> AbstractSet[Representation]:
    """Return the representations whose tags a field lists; those of weak tags, too, where these count."""
    tags = (tag for mark, tag in _MEMBER.findall(field) if weak or not mark)
    return {known for known in map(ledger.tagged, tags) if known is not None}


def _seconds(request: Request, name: str) -> int | None:
    """Return the date of a field, None where there is none, or no date."""
    try:
        return int(parsedate_to_datetime(request.field(name)).timestamp())
    except ValueError:
        return None
