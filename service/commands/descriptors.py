"""How many connections the system lets a process have."""

import resource
from typing import Final

from service.web.limits import Limits

# Descriptors for all that is no public connection: files, data that is taken, the admin's connections.
RESERVE: Final = 256


class TooFewDescriptors(Exception):
    """The system does not allow as many connections as are asked for; the message says how many it allows."""


def room_for(connections: int | None) -> int:
    """Let this process and its workers open what so many connections need, and return how many there may be.

    Where it is left open, they are as many as `Limits` has, or fewer where the system does not allow that. Raises
    `TooFewDescriptors`.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    room = _descriptors(hard) - RESERVE
    most = max(1, min(Limits().connections, room)) if connections is None else connections
    if connections is not None and connections > room:
        raise TooFewDescriptors(f"the system lets a process have {max(0, room):,} (ulimit -Hn, less {RESERVE})")
    if _descriptors(soft) < most + RESERVE:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most + RESERVE, _descriptors(hard)), hard))
    return most


def _descriptors(limit: int) -> int:
    return 1 << 30 if limit == resource.RLIM_INFINITY else limit
