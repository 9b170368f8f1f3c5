"""What the programs of the upper bounds send: random bytes, with the sizes of the service's own responses."""

import os
import sys
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Final

import msgspec

_BUFFER_BYTES: Final = 50_000_000
_PLACES: Final = 100_000


class Plan(msgspec.Struct, frozen=True):
    """The responses: their route, status, header fields, and sizes of bodies."""

    route: str
    status: int
    fields: dict[str, str]
    sizes: list[int]

    def places(self) -> Iterator[slice]:
        """Return endless random places of bodies in `random_bytes`, drawn in advance: a request only takes the next."""
        random = Random(1)
        starts = [(random.randrange(_BUFFER_BYTES - size), size) for size in random.choices(self.sizes, k=_PLACES)]
        return cycle([slice(start, start + size) for start, size in starts])


def random_bytes() -> bytes:
    """Return a buffer larger than the processor's cache."""
    return os.urandom(_BUFFER_BYTES)


def read_arguments() -> tuple[int, Plan]:
    """Return the port and the plan of a program: its arguments are PORT and PLAN, a JSON file."""
    port, file = sys.argv[1:]
    return int(port), msgspec.json.decode(Path(file).read_bytes(), type=Plan)
