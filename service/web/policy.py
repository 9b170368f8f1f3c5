"""The policy of a service: caching, CORS, rate limits, trusted proxies."""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from service.model.operation import KEY_HEADER, VERSION_HEADER
from service.web.headers.forwarded import NO_PROXIES, TrustedProxies

ANY_ORIGIN: Final = "*"
_HIGHEST_PORT: Final = 65535
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# An origin as browsers write it: a scheme, a host and an optional port (RFC 6454 section 6.2).
_HOST: Final = r"[a-z0-9._~!$&'()+;=%-]+|\[[0-9a-f:.]+\]"
_ORIGIN: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://({_HOST})(:(?P<port>[0-9]{{1,5}}))?")


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """How a service caches, limits and exposes its responses.

    cache_control    value of Cache-Control on responses with data
    origins          origins whose pages may read responses (CORS); `*` is any
    needs_key        whether responses with data depend on `x-api-key`
    encoded_bytes    size of the cache of encoded bodies of data; 0 turns it off
    server_timing    whether responses have a Server-Timing field
    rate_fields      whether responses have the RateLimit fields
    rate_store       URL of the Redis with the rate limits; "" if each process has its own
    processes        number of processes that share the rate limits
    trusted_proxies  proxies whose Forwarded and X-Forwarded-For fields are trusted
    key_file_ok      returns whether this process could read the key file; None without a key file
    """

    cache_control: str
    origins: frozenset[str]
    needs_key: bool
    encoded_bytes: int
    server_timing: bool = False
    rate_fields: bool = False
    rate_store: str = ""
    processes: int = 1
    trusted_proxies: TrustedProxies = NO_PROXIES
    key_file_ok: Callable[[], bool] | None = None

    def vary(self, *names: str, of_data: bool) -> str:
        """Return the value of Vary (RFC 9110 section 12.5.5): these fields, and `of_data` those of any data."""
        common = ("Prefer", VERSION_HEADER, *([KEY_HEADER] if self.needs_key else ())) if of_data else ()
        return ", ".join((*names, *common))


def parse_origin(text: str) -> str:
    """Parse an origin, and return it as browsers write it, or `*`. Raises `ValueError` with the reason."""
    origin = text.lower()
    if origin == ANY_ORIGIN:
        return origin
    written = _ORIGIN.fullmatch(origin)
    if written is None or int(written["port"] or 0) > _HIGHEST_PORT:
        raise ValueError(f"{text!r} is not an origin: write https://shop.example, without a path, or *")
    default = _DEFAULT_PORTS.get(written["scheme"])
    return origin.removesuffix(f":{default}") if default and written["port"] else origin
