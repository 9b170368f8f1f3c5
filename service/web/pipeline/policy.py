"""The policy of a service: caching, CORS, rate limits, trusted proxies."""

from collections.abc import Callable

import msgspec

from service.model.operation import KEY_HEADER, VERSION_HEADER
from service.web.headers.forwarded import NO_PROXIES, TrustedProxies


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
    trusted_proxies  proxies whose X-Forwarded-For field is trusted; Forwarded is ignored
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
