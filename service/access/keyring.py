"""The keys that are accepted."""

from collections.abc import Iterable, Mapping

from service.access.key_entries import KeyEntry
from service.access.principal import Principal


def unrevoked(entries: Iterable[KeyEntry]) -> dict[bytes, Principal]:
    """Return the principals of the keys that are not revoked, by digest. Each use of one checks whether it expired."""
    return {entry.digest: entry.principal for entry in entries if entry.revoked_at is None}


def valid_count(principals: Mapping[bytes, Principal], now: float) -> int:
    """Return how many keys are valid at a time, in seconds since the epoch."""
    return sum(each.expires_at > now for each in principals.values())


class Keyring:
    """The accepted keys: the static ones of `--api-key`, and those of a key file.

    principals  by digest; replaced as a whole, so that each request sees one state
    """

    def __init__(self, static: Mapping[bytes, Principal]) -> None:
        self._static = static
        self.principals = dict(static)

    def replace(self, principals: Mapping[bytes, Principal]) -> None:
        """Replace the keys of the key file."""
        self.principals = {**principals, **self._static}
