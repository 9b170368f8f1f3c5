"""Content codings (RFC 9110 section 8.4.1): negotiation and encoding."""

import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final, TypeAlias

import brotli
import msgspec

from service.web.http.header_fields import HeaderLines, header_lines, weights

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# A shorter body fits into one packet with its head; encoding would not save a packet.
MIN_BYTES: Final = 1024
# Encoding a longer body takes more than a third of a millisecond, too long for the event loop.
INLINE_BYTES: Final = 32 << 10

# For pages of JSON, higher levels cost more time than the bytes they save are worth.
_ZSTD_LEVEL: Final = 3
_BROTLI_QUALITY: Final = 4
_GZIP_LEVEL: Final = 4
_GZIP_FORMAT: Final = 31
_ZLIB_RELEASE: Final = zlib.ZLIB_RUNTIME_VERSION

_ANY: Final = "*"
_IDENTITY: Final = "identity"
_ALIASES: Final = {"x-gzip": "gzip"}
_CACHE_ENTRIES: Final = 1024


# What an encoder gets at once.
_PART_BYTES: Final = 64 << 10
# A piece of a body at most, which is held until all of it is encoded.
_PIECE_BYTES: Final = 256 << 10
# An encoder of parts is held as long as its client reads. With a window of 64 KiB, of gzip 16, it takes a fifth to half
# of the memory, and its output is 6 to 12 % longer.
_PART_WINDOW_BITS: Final = 16
_GZIP_PART_WINDOW: Final = 16 + 14  # in the format of gzip
_GZIP_PART_MEMORY: Final = 7
_ZSTD_PART_OPTIONS: Final[Mapping[int, int]] = {
    zstd.CompressionParameter.compression_level: 5,
    zstd.CompressionParameter.window_log: _PART_WINDOW_BITS,
    zstd.CompressionParameter.hash_log: 14,
    zstd.CompressionParameter.chain_log: 14,
}
_BROTLI_PART_QUALITY: Final = 3


# Encodes one body part by part: encodes a part, returns what makes the parts before it readable, returns the end.
PartEncoder: TypeAlias = tuple[Callable[[bytes | memoryview], bytes], Callable[[], bytes], Callable[[], bytes]]


class Coding(msgspec.Struct, frozen=True):
    """A content coding.

    encode              encodes a whole body
    parts               returns the encoder of a body in parts
    part_encoder_bytes  memory that this takes, with the piece that it encodes
    release             of the encoding library
    lines               its Content-Encoding field
    """

    token: str
    encode: Callable[[bytes], bytes]
    parts: Callable[[], PartEncoder]
    part_encoder_bytes: int
    release: str
    lines: HeaderLines

    def encode_pieces(self, pieces: Iterator[bytes | memoryview]) -> Iterator[bytes | memoryview]:
        """Yield the encoded pieces of a body, of which some are empty; each piece can be read before the next."""
        encode, flush, finish = self.parts()
        for piece in pieces:
            for start in range(0, len(piece), _PART_BYTES):
                yield encode(piece[start : start + _PART_BYTES])
            yield flush()
        yield finish()


def _gzip_parts() -> PartEncoder:
    encoder = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP_PART_WINDOW, memLevel=_GZIP_PART_MEMORY)
    return encoder.compress, lambda: encoder.flush(zlib.Z_SYNC_FLUSH), encoder.flush


def _zstd_parts() -> PartEncoder:
    encoder = zstd.ZstdCompressor(options=_ZSTD_PART_OPTIONS)
    return encoder.compress, lambda: encoder.flush(encoder.FLUSH_BLOCK), encoder.flush


def _brotli_parts() -> PartEncoder:
    encoder = brotli.Compressor(quality=_BROTLI_PART_QUALITY, lgwin=_PART_WINDOW_BITS)
    return lambda part: encoder.process(bytes(part)), encoder.flush, encoder.finish


IDENTITY: Final = Coding(_IDENTITY, lambda body: body, lambda: (bytes, bytes, bytes), 0, "", "")
# In the order of the server's preference, which decides between equal weights.
CODINGS: Final = tuple(
    Coding(token, encode, parts, (kibibytes << 10) + _PIECE_BYTES, release, header_lines({"Content-Encoding": token}))
    for token, encode, parts, kibibytes, release in (
        ("zstd", partial(zstd.compress, level=_ZSTD_LEVEL), _zstd_parts, 576, zstd.zstd_version),
        ("br", partial(brotli.compress, quality=_BROTLI_QUALITY), _brotli_parts, 720, brotli.__version__),
        ("gzip", partial(zlib.compress, level=_GZIP_LEVEL, wbits=_GZIP_FORMAT), _gzip_parts, 160, _ZLIB_RELEASE),
    )
)


@lru_cache(_CACHE_ENTRIES)
def acceptable(*fields: str) -> tuple[Coding, ...]:
    """Return the codings that Accept-Encoding fields accept, the best first; identity if they accept none."""
    named = {_ALIASES.get(name, name): weight for name, weight in weights(fields).items()}
    wildcard = named.get(_ANY)
    weighted = [(named.get(coding.token, wildcard or 0.0), coding) for coding in CODINGS]
    # Unless refused, identity is acceptable; if not named, it comes last (RFC 9110 section 12.5.3).
    plain = named.get(_IDENTITY, 0.0 if wildcard == 0.0 else None)
    if plain is None:
        return (*_ranked(weighted), IDENTITY)
    return _ranked([*weighted, (plain, IDENTITY)]) or (IDENTITY,)


def _ranked(weighted: Sequence[tuple[float, Coding]]) -> tuple[Coding, ...]:
    accepted = sorted(((weight, coding) for weight, coding in weighted if weight), key=lambda pair: -pair[0])
    return tuple(coding for _, coding in accepted)
