"""What a key looks like: `sd_`, 256 random bits and their checksum.

The form is one that programs which look for secrets can find and tell from chance, without asking anybody.
"""

import re
import string
from hashlib import sha256
from secrets import randbits
from typing import Final
from zlib import crc32

KEY_PREFIX: Final = "sd_"
_DIGITS: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_BITS, _RANDOM, _CHECKSUM = 256, 43, 6  # so many digits hold 256 bits, and the 32 of a CRC-32
_FORM: Final = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z]{{{_RANDOM + _CHECKSUM}}}")
_LIKELY: Final = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z_-]{{8,}}")
_REDACTED: Final = f"{KEY_PREFIX}[redacted]"


def new_key() -> str:
    """Return a new key."""
    random = _spelled(randbits(_BITS), _RANDOM)
    return f"{KEY_PREFIX}{random}{_checksum(random)}"


def is_mistyped(key: str) -> bool:
    """Return whether a text that seems to be such a key is none."""
    if not key.startswith(KEY_PREFIX):
        return False
    random, checksum = key[len(KEY_PREFIX) : -_CHECKSUM], key[-_CHECKSUM:]
    return _FORM.fullmatch(key) is None or checksum != _checksum(random)


def masked(text: str) -> str:
    """Return a text with nothing in it of what seems to be such a key, cut or mistyped as it may be."""
    return _LIKELY.sub(_REDACTED, text)


def digest(key: str) -> bytes:
    """Return the SHA-256 by which a key is known. It needs no salt and no slowness: nobody guesses 256 random bits."""
    return sha256(key.encode("utf-8", "surrogateescape")).digest()


def _checksum(random: str) -> str:
    return _spelled(crc32(random.encode()), _CHECKSUM)


def _spelled(number: int, length: int) -> str:
    """Return a number in base 62, so many digits of it."""
    digits = []
    for _ in range(length):
        number, digit = divmod(number, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))
