"""The limit of open file descriptors, and with it of connections."""

import resource
from typing import Final

from service.web.connections.limits import Limits

# Descriptors for other uses than public connections: files, fetches, connections to the admin address.
_RESERVE: Final = 256


class TooFewDescriptors(Exception):
    """The limit is too low for the requested connections. The message has the highest possible number."""


def raise_descriptor_limit(connections: int | None) -> int:
    """Raise the soft limit of this process and its workers as far as needed; return the maximum of connections.

    The default is that of `Limits`, or less if the hard limit requires it. Raises `TooFewDescriptors`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = _descriptors(hard) - min(_RESERVE, _descriptors(hard) // 2)
    most = max(1, min(Limits().connections, room)) if connections is None else connections
    if connections is not None and connections > room:
        raise TooFewDescriptors(f"a process can have at most {room:,} (ulimit -Hn allows {hard:,} descriptors)")
    needed = min(most + _RESERVE, _descriptors(hard))
    if _descriptors(soft) < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return most


def _descriptors(limit: int) -> int:
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
