"""HTTP validators of an origin as fingerprints of its file (RFC 9110, section 8.8)."""

import re
from collections.abc import Mapping
from typing import Final

# An entity tag (RFC 9110, section 8.8.3), but ASCII only: not every library passes other bytes on unchanged. Bounded,
# as the name of the last good copy has the fingerprint.
_ENTITY_TAG: Final = re.compile(r'(W/)?"[!#-~]{0,100}"')
_LAST_MODIFIED: Final = "last-modified: "
_DATE: Final = re.compile(r"[ -~]{1,60}")


def fingerprint(headers: Mapping[str, str]) -> str:
    """Return the fingerprint in response headers: the entity tag, else Last-Modified, else ""."""
    tag, modified = headers.get("ETag", ""), headers.get("Last-Modified", "")
    if _ENTITY_TAG.fullmatch(tag):
        return tag
    return _LAST_MODIFIED + modified if _DATE.fullmatch(modified) else ""


def conditions(known: str) -> dict[str, str]:
    """Return the request headers for a file unless its fingerprint is `known` (RFC 9110, section 13.1), if any."""
    if _ENTITY_TAG.fullmatch(known):
        return {"If-None-Match": known}
    modified = known.removeprefix(_LAST_MODIFIED)
    return {"If-Modified-Since": modified} if modified != known and _DATE.fullmatch(modified) else {}
