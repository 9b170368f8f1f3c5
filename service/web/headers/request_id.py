"""What tells one request from another in logs: its identifier, and the trace that it is part of."""

import re
from itertools import count
from secrets import token_hex
from typing import Final

from multidict import istr

from service.access.api_key import redacted
from service.model.operation import REQUEST_ID_HEADER
from service.web.headers.list_fields import MAX_CHARACTERS

REQUEST_ID: Final = istr(REQUEST_ID_HEADER)
TRACE_PARENT: Final = istr("traceparent")

# What proxies and clients make: UUIDs, ULIDs, base64. Nothing of it needs to be quoted in a header or a log.
_SANE: Final = re.compile(r"[A-Za-z0-9._~+/=:@-]{1,128}")
# Version, trace, parent and flags; versions after 00 may have more behind them (W3C Trace Context, section 3.2).
_PARENT: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}(?P<more>-.*)?"
)


class RequestIds:
    """Gives each request an identifier: what it brings where that is sane, else one that no other has."""

    def __init__(self) -> None:
        self._run, self._numbers = token_hex(8), count(1)

    def of(self, brought: str | None) -> str:
        """Return the identifier of a request that brought one, or none."""
        if brought is not None and is_sane(brought):
            return brought
        return f"{self._run}-{next(self._numbers):x}"


def is_sane(brought: str) -> bool:
    """Return whether an identifier that a request brought can stand in a header and a log: it holds no key."""
    return _SANE.fullmatch(brought) is not None and redacted(brought) == brought


def trace_id(parent: str | None) -> str | None:
    """Return the identifier of the trace that `traceparent` names; None where there is none, or none in order."""
    read = _PARENT.fullmatch(parent) if parent is not None and len(parent) <= MAX_CHARACTERS else None
    if read is None or read["version"] == "ff" or (read["version"] == "00" and read["more"]):
        return None
    return read["trace"] if read["trace"].strip("0") and read["parent"].strip("0") else None
