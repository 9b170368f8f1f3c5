"""API keys: their format (`sd_`, 256 random bits and their checksum), and whom they authenticate.

Secret scanners can find such keys, and tell them from random text without a lookup. A public key, `sd_pub_`, is in the
pages of websites, and bound to their origins.
"""

import re
import string
from collections.abc import Iterable, Iterator
from hashlib import sha256
from math import inf
from secrets import randbits
from typing import Final
from zlib import crc32

import msgspec

from service.access.token_bucket import Rate

KEY_PREFIX: Final = "sd_"
PUBLIC_PREFIX: Final = f"{KEY_PREFIX}pub_"
_DIGITS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BITS, _RANDOM, _CHECKSUM = 256, 43, 6  # the base-62 digits that hold 256 bits, and the 32 of a CRC-32
_FORM: Final = re.compile(rf"{KEY_PREFIX}(?:pub_)?([0-9A-Za-z]{{{_RANDOM}}})([0-9A-Za-z]{{{_CHECKSUM}}})")
_LIKELY: Final = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z_-]{{8,}}")


def new_key(prefix: str = KEY_PREFIX) -> str:
    """Return a new random key."""
    random = _base62(randbits(_BITS), _RANDOM)
    return f"{prefix}{random}{_checksum(random)}"


def is_mistyped(key: str) -> bool:
    """Return whether a text has the prefix of a key but not its length, alphabet or checksum."""
    if not key.startswith(KEY_PREFIX):
        return False
    form = _FORM.fullmatch(key)
    return form is None or form[2] != _checksum(form[1])


def redacted(text: str) -> str:
    """Return a text with everything replaced that looks like a key, truncated or mistyped ones included."""
    return _LIKELY.sub(f"{KEY_PREFIX}[redacted]", text)


def digest(key: str) -> bytes:
    """Return the SHA-256 of a key. It needs no salt and no slow hash: 256 random bits cannot be guessed."""
    return sha256(key.encode("utf-8", "surrogateescape")).digest()


def credential(key: str) -> bytes:
    """Return what the principal of a key is found by: its digest, after the prefix of a public key.

    So a public key whose entry has lost its origins is not valid: it never becomes one that is valid everywhere.
    """
    return PUBLIC_PREFIX.encode() + digest(key) if key.startswith(PUBLIC_PREFIX) else digest(key)


def _checksum(random: str) -> str:
    return _base62(crc32(random.encode()), _CHECKSUM)


def _base62(number: int, length: int) -> str:
    """Return a number in base 62, with this many digits."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


# The host: labels of letters, digits, hyphens and underscores, none of which ends a directive of a policy, or IPv6.
_HOST: Final = r"(?P<any>\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]"
_ORIGIN: Final = re.compile(rf"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:{_HOST})(?::(?P<port>[1-9][0-9]{{0,4}}))?")
_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_HIGHEST_PORT: Final = 65535
# A name in DNS has at most 253 characters.
_MAX_ORIGIN: Final = 280


def origin_of(text: str, *schemes: str, many: bool = False) -> str | None:
    """Return an origin (RFC 6454 section 6.2) as browsers write it; None if it is none, or of another scheme.

    With `many` it may be all that `https://*.shop.example` stands for.
    """
    origin = text.lower()
    written = _ORIGIN.fullmatch(origin) if len(origin) <= _MAX_ORIGIN else None
    if written is None or int(written["port"] or 0) > _HIGHEST_PORT or (written["any"] and not many):
        return None
    if schemes and written["scheme"] not in schemes:
        return None
    return origin.removesuffix(f":{_DEFAULT_PORTS.get(written['scheme'], '')}")


def parse_website(text: str) -> str:
    """Return an origin of a website, or many, as browsers write it. Raises `ValueError`, which quotes nothing."""
    if (website := origin_of(text, "http", "https", many=True)) is None:
        raise ValueError("this is not the origin of a website: write https://shop.example or https://*.shop.example")
    return website


def listings(origin: str) -> Iterator[str]:
    """Yield what an origin may be listed as: itself, and with a `*` for one or more labels before the rest."""
    if "*" in origin:
        return
    yield origin
    if "[" not in origin and origin_of(origin) == origin:
        scheme, _, host = origin.partition("://")
        while (dot := host.find(".")) >= 0:
            host = host[dot + 1 :]
            yield f"{scheme}://*.{host}"


class Principal(msgspec.Struct, frozen=True):
    """An authenticated client.

    name        of its key
    rate        request rate limit, if any
    expires_at  when the key becomes invalid, in seconds since the epoch
    origins     of the websites that a public key is for, as they are listed; empty for any other key
    per_client  rate limit of each client address, if any
    """

    name: str
    rate: Rate | None = None
    expires_at: float = inf
    origins: frozenset[str] = frozenset()
    per_client: Rate | None = None


def static_principals(keys: Iterable[str]) -> dict[bytes, Principal]:
    """Return the principals of the keys given by `--api-key`, by credential: `key 1`, `key 2` and so on."""
    return {credential(key): Principal(f"key {number}") for number, key in enumerate(keys, start=1)}
