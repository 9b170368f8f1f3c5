"""How many connections the system lets a process have."""

import resource
from typing import Final

from service.web.connections.limits import Limits

# Descriptors for all that is no public connection: files, data that is taken, the admin's connections.
_RESERVE: Final = 256


class TooFewDescriptors(Exception):
    """The system does not allow as many connections as are asked for; the message says how many it allows."""


def room_for(connections: int | None) -> int:
    """Let this process and its workers open what so many connections need, and return how many there may be.

    Where it is left open, they are as many as `Limits` has, or fewer where the system does not allow that. Raises
    `TooFewDescriptors`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = _descriptors(hard) - min(_RESERVE, _descriptors(hard) // 2)
    most = max(1, min(Limits().connections, room)) if connections is None else connections
    if connections is not None and connections > room:
        raise TooFewDescriptors(f"the system lets a process have {room:,} (ulimit -Hn allows {hard:,} descriptors)")
    needed = min(most + _RESERVE, _descriptors(hard))
    if _descriptors(soft) < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return most


def _descriptors(limit: int) -> int:
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
