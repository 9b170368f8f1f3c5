"""Who asks: the key in `x-api-key`."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from secrets import token_urlsafe
from typing import Final

from service.errors import Unauthorized
from service.keys.principal import Principal

KEY_HEADER: Final = "x-api-key"


# Gives the principal of the values of `x-api-key`, or raises `Unauthorized`.
Authenticate = Callable[[Sequence[str]], Principal]


def new_key() -> str:
    """Return a new key: 256 random bits."""
    return f"sd_{token_urlsafe(32)}"


def keyring(keys: Iterable[str]) -> Authenticate:
    """Return what recognises these keys. Only their SHA-256 is kept: finding a hash tells nothing by its timing."""
    principals = {_digest(key): Principal(f"key {number}") for number, key in enumerate(keys, start=1)}

    def authenticate(given: Sequence[str]) -> Principal:
        if not given or given == [""]:
            raise Unauthorized(f"A key is needed in the header {KEY_HEADER}")
        if len(given) > 1:
            raise Unauthorized(f"The header {KEY_HEADER} stands more than once")
        principal = principals.get(_digest(given[0]))
        if principal is None:
            raise Unauthorized(f"The key in the header {KEY_HEADER} is not valid")
        return principal

    return authenticate


def anybody(_: Sequence[str]) -> Principal:
    """Let anybody in."""
    return Principal("anonymous")


def _digest(key: str) -> bytes:
    return sha256(key.encode("utf-8", "surrogateescape")).digest()
