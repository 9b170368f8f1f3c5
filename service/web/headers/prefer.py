"""The Prefer header (RFC 7240)."""

import re
from collections.abc import Sequence
from typing import Final

from service.model.operation import PREFERENCE_STATUSES
from service.web.answer import header_lines
from service.web.headers.list_fields import QUOTED, members

PREFER: Final = "Prefer"

_APPLIED: Final = header_lines({"Preference-Applied": "handling=strict"})
_HANDLING: Final = re.compile(rf"\s*+handling\s*+(?:=\s*+({QUOTED}|[^\s;\"]*+))?+\s*+(?:;.*)?", re.IGNORECASE)


def is_strict(headers: Sequence[str]) -> bool:
    """Tell whether Prefer headers ask for `handling=strict`; of a preference that stands twice the first counts.

    Preferences may be ignored (RFC 7240 section 2): those of longer headers than `members` reads are.
    """
    if not headers:
        return False
    for preference in members(headers):
        handling = _HANDLING.fullmatch(preference)
        if handling is not None:
            return handling[1] in ("strict", '"strict"')
    return False


def applied(headers: Sequence[str], status: int) -> str:
    """Return the header line that tells on an answer that `handling=strict` was heeded, the empty text on any other."""
    return _APPLIED if status in PREFERENCE_STATUSES and is_strict(headers) else ""
