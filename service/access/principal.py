"""Who asks."""

from collections.abc import Iterable

import msgspec

from service.access.api_key import digest
from service.access.request_rate import Rate


class Principal(msgspec.Struct, frozen=True):
    """Who asks, by the name of the key; how much it may ask, if that is limited."""

    name: str
    rate: Rate | None = None


def given_principals(keys: Iterable[str]) -> dict[bytes, Principal]:
    """Return who asks with which of the keys given to a run, by digest."""
    return {digest(key): Principal(f"key {number}") for number, key in enumerate(keys, start=1)}
