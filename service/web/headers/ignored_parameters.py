"""X-Ignored-Parameters: the unknown parameters of a request, which have no effect."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from service.model.operation import IGNORED_HEADER, MAX_IGNORED
from service.web.headers.header_lines import HeaderLines, header_lines

MAX_BYTES: Final = 256
# The characters of a token (RFC 9110 section 5.6.2) that `quote` does not know, without the % of its escapes.
_TOKEN: Final = "!#$&'*+^`|"  # noqa: S105 - no secret
_SEPARATOR: Final = ", "


def ignored_parameter_lines(names: Iterable[str]) -> HeaderLines:
    """Return the field that lists these names, percent-encoded, without those that are empty or do not fit."""
    listed: list[str] = []
    room = MAX_BYTES
    for name in names:
        encoded = name if name.isidentifier() and name.isascii() else quote(name, safe=_TOKEN)
        if encoded and len(encoded) <= room:
            listed.append(encoded)
            room -= len(encoded) + len(_SEPARATOR)
            if len(listed) == MAX_IGNORED:
                break
    return header_lines({IGNORED_HEADER: _SEPARATOR.join(listed)}) if listed else ""
