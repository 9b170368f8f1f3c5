"""Content codings (RFC 9110 section 8.4.1): which one is answered in, and how bodies are written in it."""

import sys
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import brotli
import msgspec

from service.web.answer import header_lines
from service.web.headers.list_fields import weights

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A shorter body fits into one packet with its head, and grows by what a coding adds.
MIN_BYTES: Final = 1024
# A longer one takes more than a third of a millisecond, in which nobody else would be answered.
INLINE_BYTES: Final = 32 << 10

# Where a higher level costs more time than it saves bytes, for pages of JSON.
_ZSTD_LEVEL: Final = 3
_BROTLI_QUALITY: Final = 4
_GZIP_LEVEL: Final = 4
_GZIP_FORMAT: Final = 31

_ANY: Final = "*"
_IDENTITY: Final = "identity"
_ALIASES: Final = {"x-gzip": "gzip"}
_REMEMBERED: Final = 1024


class Coding(msgspec.Struct, frozen=True):
    """A content coding: its token, what encodes a body, the release of that, and the header line."""

    token: str
    encode: Callable[[bytes], bytes]
    release: str
    line: str


def _gzip(body: bytes) -> bytes:
    return zlib.compress(body, _GZIP_LEVEL, _GZIP_FORMAT)


def _zstd(body: bytes) -> bytes:
    return zstd.compress(body, _ZSTD_LEVEL)


def _brotli(body: bytes) -> bytes:
    encoded: bytes = brotli.compress(body, quality=_BROTLI_QUALITY)
    return encoded


def _coding(token: str, encode: Callable[[bytes], bytes], release: str) -> Coding:
    return Coding(token, encode, release, line=header_lines({"Content-Encoding": token}))


IDENTITY: Final = Coding(_IDENTITY, lambda body: body, release="", line="")
# By preference, where a client has none.
CODINGS: Final = (
    _coding("zstd", _zstd, zstd.zstd_version),
    _coding("br", _brotli, brotli.__version__),
    _coding("gzip", _gzip, zlib.ZLIB_RUNTIME_VERSION),
)


@lru_cache(_REMEMBERED)
def acceptable(*fields: str) -> tuple[Coding, ...]:
    """Return the codings that Accept-Encoding fields take, the best first; at least one, which is then identity."""
    given = {_ALIASES.get(name, name): weight for name, weight in weights(fields).items()}
    others = given.get(_ANY)
    found = [(given.get(coding.token, others or 0.0), coding) for coding in CODINGS]
    # Identity is taken unless it is refused, but nobody asked for it who did not name it (RFC 9110 section 12.5.3).
    plain = given.get(_IDENTITY, 0.0 if others == 0.0 else None)
    if plain is None:
        return (*_ranked(found), IDENTITY)
    return _ranked([*found, (plain, IDENTITY)]) or (IDENTITY,)


def _ranked(found: Sequence[tuple[float, Coding]]) -> tuple[Coding, ...]:
    taken = sorted(((weight, coding) for weight, coding in found if weight), key=lambda pair: -pair[0])
    return tuple(coding for _, coding in taken)
