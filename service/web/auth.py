"""Who asks: the key in `x-api-key`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from service.access.api_key import digest
from service.access.keyring import Keyring
from service.access.principal import Principal, static_principals
from service.model.errors import Unauthorized

KEY_HEADER: Final = "x-api-key"


# Gives the principal of the values of `x-api-key`, or raises `Unauthorized`.
Authenticate = Callable[[Sequence[str]], Principal]


def keyring(keys: Iterable[str]) -> Authenticate:
    """Return what recognises these keys."""
    return api_key_authentication(Keyring(static_principals(keys)))


def api_key_authentication(ring: Keyring) -> Authenticate:
    """Return what recognises the keys of a ring. It has their SHA-256: to find one tells nothing by its timing."""

    def authenticate(given: Sequence[str]) -> Principal:
        if not given or given == [""]:
            raise Unauthorized(f"A key is needed in the header {KEY_HEADER}")
        if len(given) > 1:
            raise Unauthorized(f"The header {KEY_HEADER} stands more than once")
        principal = ring.principals.get(digest(given[0]))
        if principal is None:
            raise Unauthorized(f"The key in the header {KEY_HEADER} is not valid")
        return principal

    return authenticate


def no_authentication(_: Sequence[str]) -> Principal:
    """Let anybody in."""
    return Principal("anonymous")
