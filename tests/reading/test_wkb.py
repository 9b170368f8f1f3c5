"""The coordinates of geometries in well-known binary."""

import struct

import pytest

from service.reading.formats.geometry import locate

NAN = float("nan")


def shape(kind: int, *numbers: float, count: int | None = None, order: str = "<", srid: int | None = None) -> bytes:
    """Return a geometry: its type, its count if it has one, its coordinates."""
    header = struct.pack(f"{order}I", kind) + (b"" if srid is None else struct.pack(f"{order}I", srid))
    sized = b"" if count is None else struct.pack(f"{order}I", count)
    return bytes([order == "<"]) + header + sized + struct.pack(f"{order}{len(numbers)}d", *numbers)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (1, ()),
        (1001, (5.5,)),
        (2001, (5.5,)),
        (3001, (1, 2)),
        (0x80000001, (5,)),
        (0x40000001, (5,)),
        (0xC0000001, (5, 6)),
    ],
)
def test_a_point_is_where_its_doubles_say_in_both_byte_orders_and_with_more_dimensions(
    kind: int, more: tuple[float, ...], order: str
) -> None:
    assert locate(shape(kind, -79.4, 43.7, *more, order=order)) == ("43.7", "-79.4")
    assert locate(shape(kind, 0.1 + 0.2, -0.0, *more, order=order)) == ("-0.0", "0.30000000000000004")
    assert locate(shape(kind, NAN, NAN, *more, order=order)) is None


@pytest.mark.parametrize("srid", [0, 4326])
def test_a_point_may_name_its_reference_system(srid: int) -> None:
    assert locate(shape(0x20000001, 1, 2, srid=srid)) == ("2.0", "1.0")
    assert locate(shape(0xA0000001, 1, 2, 3, srid=srid)) == ("2.0", "1.0")


LINE = shape(2, 0, 0, 4, 2, count=2)
RINGS = shape(3, count=2) + struct.pack("<I4d", 2, 0, 0, 4, 2) + struct.pack("<I2d", 1, 1, 1)
POINTS = shape(4, count=2) + shape(1, 1, 2) + shape(1001, 3, 8, 1, order=">")


@pytest.mark.parametrize(
    ("wkb", "location"),
    [
        (LINE, ("1.0", "2.0")),
        (shape(2, count=0), None),
        (RINGS, ("1.0", "2.0")),
        (shape(3, count=0), None),
        (POINTS, ("5.0", "2.0")),
        (shape(4, count=2) + shape(1, NAN, NAN) + shape(1, 3, 4), ("4.0", "3.0")),
        (shape(5, count=1) + LINE, ("1.0", "2.0")),
        (shape(6, count=2) + RINGS + RINGS, ("1.0", "2.0")),
        (shape(7, count=2) + shape(7, count=0) + POINTS, ("5.0", "2.0")),
        (shape(7, count=1) * 100_000 + shape(7, count=0), None),
    ],
)
def test_another_geometry_is_at_the_centre_of_its_box(wkb: bytes, location: object) -> None:
    assert locate(wkb) == location


def test_a_truncated_geometry_or_one_with_more_bytes_is_refused() -> None:
    for whole in (shape(1, 1, 2), LINE, RINGS, POINTS, shape(0x20000001, 1, 2, srid=0)):
        for size in range(len(whole)):
            with pytest.raises(ValueError, match="truncated"):
                locate(whole[:size])
        with pytest.raises(ValueError, match="longer"):
            locate(whole + b"\0")


@pytest.mark.parametrize(
    "wkb",
    [
        shape(0, 1, 2),
        shape(8, 1, 2),
        shape(4001, 1, 2),
        shape(0x20000001, 1, 2, srid=3857),
        shape(2, 1, 2, count=0xFFFFFFFF),
        shape(3, count=0xFFFFFFFF),
        shape(7, count=0xFFFFFFFF),
        shape(2, 1, float("inf"), count=1),
        b"\x02" + shape(1, 1, 2)[1:],
        b"POINT (1 2)",
    ],
)
def test_what_is_no_geometry_is_refused(wkb: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        locate(wkb)
