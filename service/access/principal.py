"""The principal of a request: the authenticated client."""

from collections.abc import Iterable

import msgspec

from service.access.api_key import digest
from service.access.request_rate import Rate


class Principal(msgspec.Struct, frozen=True):
    """An authenticated client: the name of its key, and the request rate limit, if any."""

    name: str
    rate: Rate | None = None


def static_principals(keys: Iterable[str]) -> dict[bytes, Principal]:
    """Return the principals of the keys given by `--api-key`, by digest: `key 1`, `key 2` and so on."""
    return {digest(key): Principal(f"key {number}") for number, key in enumerate(keys, start=1)}
