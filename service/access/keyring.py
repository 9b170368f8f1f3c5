"""The keys that are valid now."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import inf
from operator import itemgetter
from time import time

import msgspec

from service.access.key_entries import KeyEntry
from service.access.principal import Principal


class ActiveKeys(msgspec.Struct, frozen=True):
    """The valid keys of a key file.

    principals  by digest of the key
    expiring    expiry (seconds since the epoch) and digest of the keys that expire, the next to expire last
    """

    principals: dict[bytes, Principal]
    expiring: list[tuple[float, bytes]]


def active_keys(entries: Iterable[KeyEntry]) -> ActiveKeys:
    """Return the keys that are valid now."""
    now = datetime.now(UTC)
    valid = [entry for entry in entries if entry.state(now) == "valid"]
    expiring = [(entry.expires_at.timestamp(), entry.digest) for entry in valid if entry.expires_at is not None]
    expiring.sort(key=itemgetter(0), reverse=True)
    return ActiveKeys({entry.digest: entry.principal for entry in valid}, expiring)


class Keyring:
    """The accepted keys: the static ones of `--api-key`, and the valid ones of a key file.

    principals  by digest; replaced as a whole, so that each request sees one state
    """

    def __init__(self, static: Mapping[bytes, Principal]) -> None:
        self._static = static
        self.principals = dict(static)
        self._expiring: list[tuple[float, bytes]] = []

    def replace(self, keys: ActiveKeys) -> None:
        """Replace the keys of the key file."""
        self.principals = {**keys.principals, **self._static}
        self._expiring = list(keys.expiring)

    def expire(self) -> float:
        """Remove the expired keys of the key file; return the seconds until the next one expires."""
        while self._expiring:
            expires_at, digest = self._expiring[-1]
            if expires_at > (now := time()):
                return expires_at - now
            self._expiring.pop()
            if digest not in self._static:
                del self.principals[digest]
        return inf
