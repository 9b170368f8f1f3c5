"""Validators of HTTP: what tells one state of a file from another (RFC 9110, section 8.8)."""

import re
from collections.abc import Mapping
from typing import Final

# An entity tag (RFC 9110, section 8.8.3), of ASCII alone: other bytes do not come through every library unchanged.
_ENTITY_TAG: Final = re.compile(r'(W/)?"[!#-~]*"')
_LAST_MODIFIED: Final = "last-modified: "
_DATE: Final = re.compile(r"[ -~]+")


def fingerprint(headers: Mapping[str, str]) -> str:
    """Return what an origin tells a file by: its entity tag, else when it was changed, else nothing, ""."""
    tag, changed = headers.get("ETag", ""), headers.get("Last-Modified", "")
    if _ENTITY_TAG.fullmatch(tag):
        return tag
    return _LAST_MODIFIED + changed if _DATE.fullmatch(changed) else ""


def is_strong(seen: str) -> bool:
    """Say whether a fingerprint promises the same bytes, so that parts may be put together (RFC 9110, 8.8.1)."""
    return seen.startswith('"')


def conditions(seen: str) -> dict[str, str]:
    """Return the headers that ask for a file unless it is as it was seen (RFC 9110, section 13.1), if any do."""
    if _ENTITY_TAG.fullmatch(seen):
        return {"If-None-Match": seen}
    changed = seen.removeprefix(_LAST_MODIFIED)
    return {"If-Modified-Since": changed} if changed != seen and _DATE.fullmatch(changed) else {}
