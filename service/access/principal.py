"""The principal of a request: the authenticated client."""

from collections.abc import Iterable
from math import inf

import msgspec

from service.access.api_key import digest
from service.access.request_rate import Rate


class Principal(msgspec.Struct, frozen=True):
    """An authenticated client.

    name        of its key
    rate        request rate limit, if any
    expires_at  when the key becomes invalid, in seconds since the epoch
    """

    name: str
    rate: Rate | None = None
    expires_at: float = inf


def static_principals(keys: Iterable[str]) -> dict[bytes, Principal]:
    """Return the principals of the keys given by `--api-key`, by digest: `key 1`, `key 2` and so on."""
    return {digest(key): Principal(f"key {number}") for number, key in enumerate(keys, start=1)}
