"""API keys: their format (`sd_`, 256 random bits and their checksum), and whom they authenticate.

Secret scanners can find such keys, and tell them from random text without a lookup.
"""

import re
import string
from collections.abc import Iterable
from hashlib import sha256
from math import inf
from secrets import randbits
from typing import Final
from zlib import crc32

import msgspec

from service.access.token_bucket import Rate

KEY_PREFIX: Final = "sd_"
_DIGITS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BITS, _RANDOM, _CHECKSUM = 256, 43, 6  # the base-62 digits that hold 256 bits, and the 32 of a CRC-32
_FORM: Final = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z]{{{_RANDOM + _CHECKSUM}}}")
_LIKELY: Final = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z_-]{{8,}}")
_REDACTED: Final = f"{KEY_PREFIX}[redacted]"


def new_key() -> str:
    """Return a new random key."""
    random = _base62(randbits(_BITS), _RANDOM)
    return f"{KEY_PREFIX}{random}{_checksum(random)}"


def is_mistyped(key: str) -> bool:
    """Return whether a text has the prefix of a key but not its length, alphabet or checksum."""
    if not key.startswith(KEY_PREFIX):
        return False
    random, checksum = key[len(KEY_PREFIX) : -_CHECKSUM], key[-_CHECKSUM:]
    return _FORM.fullmatch(key) is None or checksum != _checksum(random)


def redacted(text: str) -> str:
    """Return a text with everything replaced that looks like a key, truncated or mistyped ones included."""
    return _LIKELY.sub(_REDACTED, text)


def digest(key: str) -> bytes:
    """Return the SHA-256 of a key. It needs no salt and no slow hash: 256 random bits cannot be guessed."""
    return sha256(key.encode("utf-8", "surrogateescape")).digest()


def _checksum(random: str) -> str:
    return _base62(crc32(random.encode()), _CHECKSUM)


def _base62(number: int, length: int) -> str:
    """Return a number in base 62, with this many digits."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


class Principal(msgspec.Struct, frozen=True):
    """An authenticated client.

    name        of its key
    rate        request rate limit, if any
    expires_at  when the key becomes invalid, in seconds since the epoch
    """

    name: str
    rate: Rate | None = None
    expires_at: float = inf


def static_principals(keys: Iterable[str]) -> dict[bytes, Principal]:
    """Return the principals of the keys given by `--api-key`, by digest: `key 1`, `key 2` and so on."""
    return {digest(key): Principal(f"key {number}") for number, key in enumerate(keys, start=1)}
