"""Who is let in now."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from math import inf
from operator import itemgetter
from time import time

import msgspec

from service.access.key_entries import KeyEntry
from service.access.principal import Principal


class ActiveKeys(msgspec.Struct, frozen=True):
    """The keys of a register that are let in.

    principals  who asks with which, by digest
    expiring    those that expire: when, in seconds since the epoch, and their digests; the next one last
    """

    principals: dict[bytes, Principal]
    expiring: list[tuple[float, bytes]]


def active_keys(entries: Iterable[KeyEntry]) -> ActiveKeys:
    """Return the keys that are let in."""
    now = datetime.now(UTC)
    valid = [entry for entry in entries if entry.state(now) == "valid"]
    ends = [(entry.expires_at.timestamp(), entry.digest) for entry in valid if entry.expires_at is not None]
    ends.sort(key=itemgetter(0), reverse=True)
    return ActiveKeys({entry.digest: entry.principal for entry in valid}, ends)


class Keyring:
    """The keys that are let in: those given to the run, which stay, and the living ones of a key file.

    principals  by digest; each request looks here, and finds it whole
    """

    def __init__(self, given: Mapping[bytes, Principal]) -> None:
        self._given = given
        self.principals = dict(given)
        self._expiring: list[tuple[float, bytes]] = []

    def turn(self, to: ActiveKeys) -> None:
        """Let in other keys of the file, from now on."""
        self.principals = {**to.principals, **self._given}
        self._expiring = list(to.expiring)

    def expire(self) -> float:
        """Let in no key of the file any more that has expired; return for how many seconds none of them will."""
        while self._expiring:
            moment, digest = self._expiring[-1]
            if moment > (now := time()):
                return moment - now
            self._expiring.pop()
            if digest not in self._given:
                del self.principals[digest]
        return inf
