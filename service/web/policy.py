"""On what terms answers are given: who may store them, who may read them from another origin, what is kept of them."""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from service.operation import VERSION_HEADER
from service.web.auth import KEY_HEADER
from service.web.forwarding import NOBODY, Forwarding

ANY_ORIGIN: Final = "*"
_HIGHEST_PORT: Final = 65535
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# A scheme, and a host with or without a port: an origin as browsers write it (RFC 6454 section 6.2).
_HOST: Final = r"[a-z0-9._~!$&'()+;=%-]+|\[[0-9a-f:.]+\]"
_ORIGIN: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://({_HOST})(:(?P<port>[0-9]{{1,5}}))?")


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of a service.

    cache_control  of answers from the data
    origins        whose pages may read the answers; `*` is everybody's
    needs_key      whether answers from the data depend on `x-api-key`
    encoded_bytes  how much is kept of compressed answers from the data; 0 is nothing
    server_timing  whether answers tell how long they took
    rates          whether a key may have a rate: those of a key file do
    rate_fields    whether they tell what is left of the rate of a key
    rate_store     the URL of the Redis that keeps rates; "" where each process does
    processes      how many do
    forwarding     which proxies are believed about who asks
    keys_sound     tells whether this process could read the key file; None where there is none
    """

    cache_control: str
    origins: frozenset[str]
    needs_key: bool
    encoded_bytes: int
    server_timing: bool = False
    rates: bool = True
    rate_fields: bool = False
    rate_store: str = ""
    processes: int = 1
    forwarding: Forwarding = NOBODY
    keys_sound: Callable[[], bool] | None = None

    def vary(self, *names: str, of_data: bool) -> str:
        """Return the value of Vary (RFC 9110 section 12.5.5) for what depends on some header fields."""
        common = ("Prefer", VERSION_HEADER, *([KEY_HEADER] if self.needs_key else ())) if of_data else ()
        return ", ".join((*names, *common))


def read_origin(text: str) -> str:
    """Return an origin as browsers write it, or `*`. Raises `ValueError`, which says why, where it is none."""
    origin = text.lower()
    if origin == ANY_ORIGIN:
        return origin
    written = _ORIGIN.fullmatch(origin)
    if written is None or int(written["port"] or 0) > _HIGHEST_PORT:
        raise ValueError(f"{text!r} is no origin: write it as https://shop.example, with no path, or *")
    default = _DEFAULT_PORTS.get(written["scheme"])
    return origin.removesuffix(f":{default}") if default and written["port"] else origin
