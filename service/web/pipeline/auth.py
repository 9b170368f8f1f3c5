"""Authentication by the key in `x-api-key`."""

from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Final

from service.access.keyring import Keyring
from service.access.principal import Principal
from service.model.errors import Unauthorized
from service.model.operation import KEY_HEADER

if TYPE_CHECKING:
    from service.web.requests.request_fields import RequestFields

# Returns the principal of a request, or raises `Unauthorized`.
Authenticate = Callable[["RequestFields"], Principal]

_ANYONE: Final = Principal("anonymous")


def api_key_authentication(ring: Keyring, clock: Callable[[], float] = time) -> Authenticate:
    """Return the authentication by the keys of a ring, found by their SHA-256: timing reveals nothing about a key.

    `clock` returns the seconds since the epoch.
    """

    def authenticate(fields: "RequestFields") -> Principal:
        principal = ring.principals.get(fields.key_digest)
        if principal is None or principal.expires_at <= clock():
            raise Unauthorized(f"The key in the header {KEY_HEADER} is not valid")
        return principal

    return authenticate


def no_authentication(_: "RequestFields") -> Principal:
    """Accept every request."""
    return _ANYONE
