"""Conditional requests (RFC 9110 section 13)."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import formatdate
from typing import Final

from aiohttp import hdrs
from multidict import CIMultiDictProxy

from service.model.errors import PreconditionFailed

_ANY: Final = "*"
# HTTP-date (RFC 9110 section 5.6.7): the current form, and the two obsolete ones that servers must still accept.
_DATE_FORMATS: Final = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")

Headers = CIMultiDictProxy[str]


def evaluate_conditions(headers: Headers, tags: Sequence[str], modified: int | None) -> str | None:
    """Evaluate the conditions of a GET, in the order of section 13.2.2.

        tags      opaque tags of the representations that the request accepts
        modified  when the resource was last modified, in whole seconds since the epoch, or None if unknown

    Return None for a 200. For a 304 return the tag of the representation that the client has, or "" if the request
    does not name it. Raises `PreconditionFailed` for a 412.
    """
    if hdrs.IF_MATCH in headers:
        if _matching_tag(headers.getall(hdrs.IF_MATCH), tags, weak=False) is None:
            raise PreconditionFailed("The current entity tag is not in If-Match")
    elif modified is not None and modified > _date(headers, hdrs.IF_UNMODIFIED_SINCE, default=modified):
        raise PreconditionFailed("The resource was modified after If-Unmodified-Since")
    if hdrs.IF_NONE_MATCH in headers:
        return _matching_tag(headers.getall(hdrs.IF_NONE_MATCH), tags, weak=True)
    # Compared for equality, as in nginx: a later date may be that of newer data that was withdrawn.
    if modified is not None and modified == _date(headers, hdrs.IF_MODIFIED_SINCE, default=modified - 1):
        return ""
    return None


def http_date(seconds: int) -> str:
    """Format a time since the epoch as an HTTP-date."""
    return formatdate(seconds, usegmt=True)


def _matching_tag(fields: Sequence[str], tags: Sequence[str], *, weak: bool) -> str | None:
    """Return the first of the tags that a list of entity tags has, "" if the list is `*`, None if there is no match.

    No tag of ours has a quote in it, so a search for the quoted tag is exact.
    """
    listed = ",".join(fields)
    for tag in tags:
        quoted = f'"{tag}"'
        if quoted in listed and (weak or quoted in listed.replace(f"W/{quoted}", " ")):
            return tag
    return "" if any(field.strip() == _ANY for field in fields) else None


def _date(headers: Headers, name: str, *, default: int) -> int:
    """Return the date of a field in seconds since the epoch; the default if it is missing, invalid or repeated."""
    fields = headers.getall(name, ())
    return next(_parse_date(fields[0]), default) if len(fields) == 1 else default


def _parse_date(date: str) -> Iterator[int]:
    for date_format in _DATE_FORMATS:
        with suppress(ValueError):
            yield int(datetime.strptime(date, date_format).replace(tzinfo=UTC).timestamp())
