"""Coordinates in texts: WKT, GeoJSON, brackets, names, hemispheres, degrees with minutes and seconds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from service.model.kinds import MAX_LATITUDE, MAX_LONGITUDE
from service.model.records import STORES
from service.reading.columns.field_names import COORDINATES, end_of_path, suggest_field

# What a mapping declares -> the order of the coordinates in a text. One of them alone has no order.
POINTS: Final[Mapping[str, Sequence[str]]] = {"lat lon": COORDINATES, "lon lat": COORDINATES[::-1], "degrees": ()}
_NUMBER: Final = r"[0-9]{1,2}(?:\.[0-9]{1,20})?"
_COORDINATE: Final = re.compile(
    r"(?:(?<![A-Za-z])(?P<before>[NSEW]|(?i:lat(?:itude)?|lon(?:gitude)?|lng))[\"']?\s?[:=]?)?\s?"
    r"(?P<degrees>[+\u2212-]?(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,20})?)(?![0-9.])"
    rf"(?:\s?[\xb0\xba\u02da](?:\s?(?P<minutes>{_NUMBER})\s?['\xb4\u2032\u2019]"
    rf"(?:\s?(?P<seconds>{_NUMBER})\s?(?:[\"\u2033\u201d]|['\xb4\u2032\u2019]{{2}}))?)?)?"
    r"(?(before)|(?:\s?(?P<after>[NSEW])(?![A-Za-z]))?)"
)
# What a point has beside its coordinates; a text with anything else is none.
_AROUND: Final = re.compile(
    r"[\s,;:/|()\[\]{}\"']+|\b(?:(?:MULTI)?POINT(?: ?(?:ZM?|M))?|type|coordinates|geo)\b", re.IGNORECASE
)
# A reference system; lines of an address above a point in parentheses.
_BEFORE: Final = re.compile(r"\A(?:SRID=[0-9]+;|(?s:.*)\n(?=\([^()\n]*\)\s*\Z))")
_EMPTY: Final = re.compile(r".*POINT[ ZM]* EMPTY", re.IGNORECASE)
_DECIMAL_COMMA: Final = re.compile("(?<=[0-9]),(?=[0-9])")
_NOTATIONS: Final = ("lat lon", "lon lat")
_PARTS: Final = 2
_STEP: Final = Decimal("0.0000001")  # a centimetre
_STANDARD: Final = re.compile(r'.*(?:POINT\b|"coordinates")', re.IGNORECASE)  # WKT and GeoJSON: longitudes come first
_ABOUT: Final = re.compile("[ck]oord|gps|geo|lat|lon|lng|loc|pos|standort|point|punt|ubica", re.IGNORECASE)
_LATITUDE_FIRST: Final = re.compile("(?:lat|breit).*(?:lon|lng|läng)", re.IGNORECASE)
_LONGITUDE_FIRST: Final = re.compile("(?:lon|lng|läng).*(?:lat|breit)", re.IGNORECASE)
_PRECISE: Final = 4  # decimals: numbers with fewer may be prices or sizes, or have separated thousands
_DEGREES: Final = re.compile(r"([+-]?[0-9]{1,3}[.,]([0-9]+))")
_FEW: Final = 20
_NEARLY_ALL: Final = 0.9  # of the texts of a column; `check` reports the others


def coordinate(text: str, order: Sequence[str], name: str) -> str | None:
    """Return the latitude or longitude in a text, None if it has none. Letters of hemispheres say which it is."""
    found = _coordinates(text)
    if not 0 < len(found) <= _PARTS + bool(order):  # a point may have a height
        return None
    named = {axis: each for each in found if (axis := _axis(each))}
    if named:
        return _decimal(named[name]) if name in named else None
    if not order:
        return _decimal(found[0]) if len(found) == 1 else None
    return _decimal(found[order.index(name)]) if len(found) >= _PARTS else None


def is_empty(text: str) -> bool:
    """Return whether a text is a point without coordinates."""
    return _EMPTY.fullmatch(text) is not None


def have_hemispheres(texts: Sequence[str], name: str) -> bool:
    """Return whether letters say of each text that it is a latitude, or longitude."""
    return all([*map(_axis, _coordinates(with_decimal_points(text)))] == [name] for text in texts)


def are_degrees(texts: Iterable[str]) -> bool:
    """Return whether all texts are decimals that may be longitudes, most of them precise ones."""
    decimals = list(map(_DEGREES.fullmatch, texts))
    precise = sum(each is not None and len(each[2]) >= _PRECISE for each in decimals)
    return 2 * precise >= len(decimals) and all(each and degrees(each[1]) <= MAX_LONGITUDE for each in decimals)


def degrees(number: str) -> float:
    """Return the size of a number, which may have a decimal comma."""
    return abs(float(number.replace(",", ".", 1)))


def located_columns(columns: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the names of the columns that seem to be points, or of two that seem to be coordinates; none of others."""
    filled = {name: texts for name, texts in columns.items() if texts}
    if points := [name for name, texts in filled.items() if propose_notation(name, texts)]:
        return points
    fields = {name: suggest_field(end_of_path(name), STORES) or "" for name in filled}
    named = [
        name
        for name, field in fields.items()
        if field in COORDINATES and all(coordinate(with_decimal_points(text), (), field) for text in filled[name])
    ]
    found = named if len(named) > 1 else [name for name, texts in filled.items() if are_degrees(texts)]
    return found[:_PARTS] if len(found) > 1 else ()


def with_decimal_points(text: str) -> str:
    """Return a text with points instead of commas between digits."""
    return _DECIMAL_COMMA.sub(".", text)


def _coordinates(text: str) -> Sequence[re.Match[str]]:
    plain = _BEFORE.sub("", text)
    return () if _AROUND.sub("", _COORDINATE.sub(" ", plain)) else list(_COORDINATE.finditer(plain))


def _axis(match: re.Match[str]) -> str:
    """Return which coordinate a letter or a name says that it is; "" if there is neither."""
    said = (match["after"] or match["before"] or "").casefold()
    return COORDINATES[not said.startswith(("n", "s", "la"))] if said else ""


def _decimal(match: re.Match[str]) -> str:
    degrees = match["degrees"]
    is_negative = degrees.startswith(("-", "\u2212")) or (match["after"] or match["before"]) in ("S", "W")
    value = degrees.lstrip("+-\u2212")
    if match["minutes"]:
        parts = Decimal(value) + Decimal(match["minutes"]) / 60 + Decimal(match["seconds"] or 0) / 3600
        value = f"{parts.quantize(_STEP).normalize():f}"
    return f"-{value}" if is_negative else value


def _points(texts: Sequence[str]) -> list[Sequence[re.Match[str]]]:
    """Return both coordinates of those texts that have them. Commas are decimal if most texts have no point."""
    have_points = 2 * sum("." in text for text in texts) >= len(texts)
    found = (_coordinates(text if have_points else with_decimal_points(text)) for text in texts)
    return [each[:_PARTS] for each in found if len(each) in (_PARTS, _PARTS + 1)]


def propose_notation(name: str, texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the notation of a column with both coordinates in nearly all texts, and what to check; None for others.

    Latitudes are up to 90 degrees, and come first unless they cannot, or the notation or the name says otherwise.
    """
    texts = [text for text in texts if not is_empty(text)]
    points = _points(texts if _points(texts[:_FEW]) else ())
    if not points or len(points) < _NEARLY_ALL * len(texts):
        return None
    numbers = [[_decimal(each) for each in point] for point in points]
    most = [max(abs(float(point[index])) for point in numbers) for index in range(_PARTS)]
    if all({*map(_axis, point)} == {*COORDINATES} for point in points):
        return "lat lon", ""
    is_standard, is_about = all(map(_STANDARD.match, texts)), _ABOUT.search(name) is not None
    least = 0 if is_standard else 1 if is_about else _PRECISE
    precise = sum(all(len(each.partition(".")[2]) >= least for each in point) for point in numbers)
    if 2 * precise < len(points) or min(most) > MAX_LATITUDE or max(most) > MAX_LONGITUDE:
        return None
    is_longitude_first, is_certain = _order(name, texts, most, is_standard=is_standard)
    notation, other = sorted(_NOTATIONS, reverse=is_longitude_first)
    by_values = ["found by its values"] * (least == _PRECISE)
    return notation, "; ".join(by_values + [f"if the order is the other one, {other!r}"] * (not is_certain))


def _order(name: str, texts: Sequence[str], most: Sequence[float], *, is_standard: bool) -> tuple[bool, bool]:
    """Return whether longitudes come first, and whether that is certain, of texts whose largest numbers are `most`."""
    if max(most) > MAX_LATITUDE:
        return most[0] > MAX_LATITUDE, True
    if is_standard or _LATITUDE_FIRST.search(name) or _LONGITUDE_FIRST.search(name):
        return is_standard or _LATITUDE_FIRST.search(name) is None, True
    return all(text.startswith("[") for text in texts), False
