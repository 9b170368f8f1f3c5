"""Coordinates in texts: WKT, GeoJSON, brackets, hemispheres, degrees with minutes and seconds."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

# What a mapping declares -> the order of the coordinates in a text. One of them alone has no order.
POINTS: Final[Mapping[str, Sequence[str]]] = {
    "lat lon": ("latitude", "longitude"),
    "lon lat": ("longitude", "latitude"),
    "degrees": (),
}
_REFERENCE_SYSTEM: Final = re.compile(r"SRID=[0-9]+;")
_COORDINATE: Final = re.compile(
    r"(?P<before>(?<![A-Za-z])[NSEW])?\s?(?P<degrees>[+-]?(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,20})?)(?![0-9.])"
    r"(?:\s?[\xb0\xba](?:\s?(?P<minutes>[0-9]{1,2}(?:\.[0-9]{1,20})?)\s?['\u2032\u2019]"
    r"(?:\s?(?P<seconds>[0-9]{1,2}(?:\.[0-9]{1,20})?)\s?(?:[\"\u2033\u201d]|''))?)?)?"
    r"(?:\s?(?P<after>[NSEW])(?![A-Za-z]))?"
)
_AXES: Final = {"N": "latitude", "S": "latitude", "E": "longitude", "W": "longitude"}
_PARTS: Final = 2
_STEP: Final = Decimal("0.0000001")  # a centimetre


def coordinate(text: str, order: Sequence[str], name: str) -> str | None:
    """Return the latitude or longitude in a text, None if it has none. Letters of hemispheres say which it is."""
    found = list(_COORDINATE.finditer(_REFERENCE_SYSTEM.sub("", text)))
    if not 0 < len(found) <= _PARTS + bool(order):  # a point may have a height
        return None
    named = {_AXES[letter]: each for each in found if (letter := each["after"] or each["before"])}
    if named:
        return _decimal(named[name]) if name in named else None
    if not order:
        return _decimal(found[0]) if len(found) == 1 else None
    return _decimal(found[order.index(name)]) if len(found) >= _PARTS else None


def _decimal(match: re.Match[str]) -> str:
    """Return a coordinate as a decimal, with the digits of the text if it is one."""
    degrees = match["degrees"]
    is_negative = degrees.startswith("-") or (match["after"] or match["before"] or "") in ("S", "W")
    value = degrees.lstrip("+-")
    if match["minutes"]:
        parts = Decimal(value) + Decimal(match["minutes"]) / 60 + Decimal(match["seconds"] or 0) / 3600
        value = f"{parts.quantize(_STEP).normalize():f}"
    return f"-{value}" if is_negative else value
