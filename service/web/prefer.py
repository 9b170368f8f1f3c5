"""The Prefer header (RFC 7240)."""

import re
from collections.abc import Sequence
from typing import Final

from service.web.answer import header_lines

MAX_CHARACTERS: Final = 1024
APPLIED: Final = header_lines({"Preference-Applied": "handling=strict"})

_QUOTED: Final = r'"(?:[^"\\]|\\.)*"'
_PREFERENCES: Final = re.compile(rf'(?:{_QUOTED}|[^",])+')
_HANDLING: Final = re.compile(rf"\s*handling\s*(?:=\s*({_QUOTED}|[^\s;\"]*))?\s*(?:;.*)?", re.IGNORECASE)


def is_strict(headers: Sequence[str]) -> bool:
    """Tell whether Prefer headers ask for `handling=strict`; of a preference that stands twice the first counts.

    Preferences may be ignored (RFC 7240 section 2): those of headers of more than `MAX_CHARACTERS` in all are.
    """
    if not headers or sum(map(len, headers)) > MAX_CHARACTERS:
        return False
    for header in headers:
        for preference in _PREFERENCES.findall(header):
            handling = _HANDLING.fullmatch(preference)
            if handling is not None:
                return handling[1] in ("strict", '"strict"')
    return False
