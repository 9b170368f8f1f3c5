"""The parameters that a response names as ignored, from the description of X-Ignored-Parameters alone."""

from collections.abc import Container, Iterable
from string import ascii_letters, digits
from typing import Final

_UNESCAPED: Final = f"{ascii_letters}{digits}!#$&'*+-.^_`|~"


def ignored(names: Iterable[str], known: Container[str]) -> str:
    """Return the value of the field of a request with some names of parameters, the empty text if it has none."""
    listed = ""
    for name in dict.fromkeys(names):
        escaped = "".join(chr(byte) if chr(byte) in _UNESCAPED else f"%{byte:02X}" for byte in name.encode())
        longer = f"{listed}, {escaped}" if listed else escaped
        if escaped and name not in known and len(longer) <= 256 and longer.count(",") < 8:
            listed = longer
    return listed
