"""One JSON object with the stores and the companies."""

import msgspec
from msgspec import DecodeError, Raw


def has_array(text: bytes, name: str) -> bool:
    """Return whether a JSON text is an object with an array under a name."""
    if name.encode() not in text:
        return False
    try:
        value = msgspec.json.decode(text, type=dict[str, Raw]).get(name)
    except (DecodeError, RecursionError):  # its reader reports it
        return False
    return value is not None and bytes(memoryview(value)[:1]) == b"["
