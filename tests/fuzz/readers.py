"""The readers whose complexity is measured: every fuzz target, and requests on a connection."""

from collections.abc import Mapping
from typing import Final

from service.web.connections.limits import RECEIVE_BYTES
from tests.fuzz.complexity import Reader
from tests.fuzz.raw_connection import PIECES, REQUESTS, sending
from tests.fuzz.targets import TARGETS

_STEPS: Final = (1, 7, 64)  # bytes of a piece
READERS: Final[Mapping[str, Reader]] = {
    **{f"connection: {name}": Reader(sending(RECEIVE_BYTES), alphabet) for name, alphabet in REQUESTS.items()},
    **{f"connection, {step} bytes at a time": Reader(sending(step), PIECES) for step in _STEPS},
    **{name: Reader(target.unchecked or target.read, target.alphabet) for name, target in TARGETS.items()},
}
