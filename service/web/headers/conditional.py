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
# HTTP-date (RFC 9110 section 5.6.7): the form of today, and the two obsolete ones that are still to be read.
_DATES: Final = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")

Headers = CIMultiDictProxy[str]


def is_conditional(headers: Headers) -> bool:
    """Return whether the header fields of a request set a condition."""
    return (
        hdrs.IF_NONE_MATCH in headers
        or hdrs.IF_MODIFIED_SINCE in headers
        or hdrs.IF_MATCH in headers
        or hdrs.IF_UNMODIFIED_SINCE in headers
    )


def unchanged(headers: Headers, tags: Sequence[str], modified: int | None) -> str | None:
    """Return the tag of the representation that the client has, the empty text where that is not told, or else None.

        tags      the opaque tag of each representation that the request accepts
        modified  when the resource was last modified, in whole seconds, if that is known

    Raises `PreconditionFailed`. The order is that of section 13.2.2.
    """
    if hdrs.IF_MATCH in headers:
        if _matched(headers.getall(hdrs.IF_MATCH), tags, weak=False) is None:
            raise PreconditionFailed("It is no longer what If-Match names")
    elif modified is not None and modified > _date(headers, hdrs.IF_UNMODIFIED_SINCE, otherwise=modified):
        raise PreconditionFailed("It was modified since then")
    if hdrs.IF_NONE_MATCH in headers:
        return _matched(headers.getall(hdrs.IF_NONE_MATCH), tags, weak=True)
    # For equality, as nginx compares them: a later date may be that of data which was withdrawn since.
    if modified is not None and modified == _date(headers, hdrs.IF_MODIFIED_SINCE, otherwise=modified - 1):
        return ""
    return None


def http_date(seconds: int) -> str:
    """Return a time in the form of HTTP."""
    return formatdate(seconds, usegmt=True)


def _matched(fields: Sequence[str], tags: Sequence[str], *, weak: bool) -> str | None:
    """Return the tag that stands in lists of entity tags: no tag holds a quote, so it stands in them as it is."""
    found = (tag for tag in tags for field in fields if _stands(f'"{tag}"', field, weak=weak))
    return next(found, "" if any(field.strip() == _ANY for field in fields) else None)


def _stands(tag: str, field: str, *, weak: bool) -> bool:
    return tag in (field if weak else field.replace(f"W/{tag}", " "))


def _date(headers: Headers, name: str, *, otherwise: int) -> int:
    """Return the date of a field in seconds; what is none, or two, counts as not given."""
    fields = headers.getall(name, ())
    return next(_seconds(fields[0]), otherwise) if len(fields) == 1 else otherwise


def _seconds(date: str) -> Iterator[int]:
    for form in _DATES:
        with suppress(ValueError):
            yield int(datetime.strptime(date, form).replace(tzinfo=UTC).timestamp())
