"""The Prefer header (RFC 7240)."""

import re
from collections.abc import Sequence
from typing import Final

from service.web.headers.header_lines import header_lines
from service.web.headers.list_fields import QUOTED, members

PREFER: Final = "Prefer"

STRICT_APPLIED: Final = header_lines({"Preference-Applied": "handling=strict"})
_HANDLING: Final = re.compile(rf"\s*+handling\s*+(?:=\s*+({QUOTED}|[^\s;\"]*+))?+\s*+(?:;.*)?", re.IGNORECASE)


def is_strict(headers: Sequence[str]) -> bool:
    """Return whether Prefer fields request `handling=strict`. If a preference is repeated, the first one wins.

    A server may ignore preferences (RFC 7240 section 2): those in longer fields than `members` reads are ignored.
    """
    if not headers:
        return False
    for preference in members(headers):
        handling = _HANDLING.fullmatch(preference)
        if handling is not None:
            return handling[1] in ("strict", '"strict"')
    return False
