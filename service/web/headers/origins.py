"""Origins of pages, as settings name them."""

import re
from typing import Final

ANY_ORIGIN: Final = "*"
_HIGHEST_PORT: Final = 65535
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# An origin as browsers write it: a scheme, a host and an optional port (RFC 6454 section 6.2).
_HOST: Final = r"[a-z0-9._~!$&'()+;=%-]+|\[[0-9a-f:.]+\]"
_ORIGIN: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://({_HOST})(:(?P<port>[0-9]{{1,5}}))?")
# In the path of a tile. The host has no character that ends a directive of Content-Security-Policy.
_OF_A_TILE: Final = ("{z}", "{x}", "{y}")
_TILES: Final = re.compile(r"(?P<origin>https?://[A-Za-z0-9.:\[\]-]+)(?P<path>/.*)")


def tiles_origin(url: str) -> str:
    """Return the origin of a URL of map tiles. Raises `ValueError` with the reason."""
    written = _TILES.fullmatch(url)
    if written is None or not all(part in written["path"] for part in _OF_A_TILE):
        raise ValueError(f"{url!r} is not a URL of tiles: write https://host/{{z}}/{{x}}/{{y}}.png")
    return parse_origin(written["origin"])


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
