"""Authentication by the key in `x-api-key`."""

from collections.abc import Callable, Sequence
from typing import Final

from service.access.api_key import digest
from service.access.keyring import Keyring
from service.access.principal import Principal
from service.model.errors import Unauthorized

KEY_HEADER: Final = "x-api-key"

# Takes the values of `x-api-key` and returns the principal, or raises `Unauthorized`.
Authenticate = Callable[[Sequence[str]], Principal]


def api_key_authentication(ring: Keyring) -> Authenticate:
    """Return the authentication by the keys of a ring, found by their SHA-256: timing reveals nothing about a key."""

    def authenticate(keys: Sequence[str]) -> Principal:
        if not keys or keys == [""]:
            raise Unauthorized(f"The header {KEY_HEADER} is missing or empty")
        if len(keys) > 1:
            raise Unauthorized(f"The header {KEY_HEADER} is repeated")
        principal = ring.principals.get(digest(keys[0]))
        if principal is None:
            raise Unauthorized(f"The key in the header {KEY_HEADER} is not valid")
        return principal

    return authenticate


def no_authentication(_: Sequence[str]) -> Principal:
    """Accept every request."""
    return Principal("anonymous")
