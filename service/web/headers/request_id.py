"""Identifiers that correlate log lines: of the request, and of the trace that it is part of."""

import re
from typing import Final

from multidict import istr

from service.access.api_key import redacted
from service.model.operation import REQUEST_ID_HEADER
from service.web.headers.list_fields import MAX_CHARACTERS

REQUEST_ID: Final = istr(REQUEST_ID_HEADER)
TRACE_PARENT: Final = istr("traceparent")

# The identifiers of proxies and clients: UUIDs, ULIDs, base64. None of these characters needs quoting anywhere.
_SAFE: Final = re.compile(r"[A-Za-z0-9._~+/=:@-]{1,128}")
# Version, trace, parent and flags; versions after 00 may have further parts (W3C Trace Context, section 3.2).
_PARENT: Final = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}(?P<more>-.*)?"
)


def safe_id(received: str | None) -> str | None:
    """Return an identifier that may be echoed in a header and logged: it has no special character and no key."""
    if received is None or _SAFE.fullmatch(received) is None or redacted(received) != received:
        return None
    return received


def trace_id(parent: str | None) -> str | None:
    """Return the trace identifier in a `traceparent` field; None if the field is missing or invalid."""
    parsed = _PARENT.fullmatch(parent) if parent is not None and len(parent) <= MAX_CHARACTERS else None
    if parsed is None or parsed["version"] == "ff" or (parsed["version"] == "00" and parsed["more"]):
        return None
    return parsed["trace"] if parsed["trace"].strip("0") and parsed["parent"].strip("0") else None
