"""Geometries of a GeoPackage (OGC 12-128), as far as Natural Earth has them: multipolygons, little-endian."""

import struct
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

# Longitude, latitude, longitude, …
Ring: TypeAlias = Sequence[float]

_POINT_BYTES: Final = 16
_ENVELOPE_BYTES: Final = (0, 32, 48, 48, 64)  # by bits 1 to 3 of the flags
_COUNT: Final = struct.Struct("<I")


def polygons(geometry: bytes) -> Iterator[Sequence[Ring]]:
    """Yield the rings of each polygon of a multipolygon, the outer one first."""
    at = 8 + _ENVELOPE_BYTES[geometry[3] >> 1 & 7]
    (count,) = _COUNT.unpack_from(geometry, at + 5)
    at += 9
    for _ in range(count):
        rings: list[Ring] = []
        (ring_count,) = _COUNT.unpack_from(geometry, at + 5)
        at += 9
        for _ in range(ring_count):
            (points,) = _COUNT.unpack_from(geometry, at)
            rings.append(struct.unpack_from(f"<{2 * points}d", geometry, at + 4))
            at += 4 + points * _POINT_BYTES
        yield rings
