"""The oracle of places: a naive derivation and scan, written from the interface alone."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.engine.great_circle import distance
from tests.engine.oracle import Pairs, Record, located, postal, words
from tests.engine.search_oracle import matches, tokens

_SHOWN = ("name", "kind", "city", "province", "country", "latitude", "longitude", "stores")
_EDGE = 1e-9
Vector = tuple[float, ...]


class Listed(NamedTuple):
    """A row of a list of places."""

    kind: str
    name: str
    country: str
    latitude: float
    longitude: float
    city: str | None = None
    province: str | None = None


class Place(NamedTuple):
    """A place without its point rounded; `vector` is that of the mean."""

    name: str
    kind: str
    city: str | None
    province: str | None
    country: str | None
    stores: int
    vector: Vector

    @property
    def point(self) -> tuple[float, float]:
        """The latitude and longitude."""
        x, y, z = self.vector
        flat = math.hypot(x, y)
        return math.degrees(math.atan2(z, flat)), math.degrees(math.atan2(y, x)) if flat > _EDGE else 0.0

    @property
    def shown(self) -> dict[str, Any]:
        """The place as in a response."""
        latitude, longitude = (round(each, 5) + 0.0 for each in self.point)
        longitude = 180.0 if longitude == -180 else longitude
        return dict(
            zip(
                _SHOWN,
                (self.name, self.kind, self.city, self.province, self.country, latitude, longitude, self.stores),
                strict=True,
            )
        )


def same(text: str | None) -> Any:
    return None if text is None else words(text)


def mean(vectors: Sequence[Vector]) -> Vector | None:
    """Return the direction of the mean of unit vectors, if it has one."""
    if not vectors:
        return None
    found = [math.fsum(axis) / len(vectors) for axis in zip(*vectors, strict=True)]
    length = math.hypot(*found)
    return tuple(each / length for each in found) if length >= 1e-9 else None


def vector_of(latitude: float, longitude: float) -> Vector:
    """Return the unit vector of a point; multiples of 90 degrees are exact."""
    (sine, cosine), (east, ahead) = _exact(latitude), _exact(longitude)
    return cosine * ahead, cosine * east, sine


def _exact(degrees: float) -> tuple[float, float]:
    if degrees % 90 == 0:
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[int(degrees // 90) % 4]
    return math.sin(math.radians(degrees)), math.cos(math.radians(degrees))


def derive(stores: Sequence[Record], listed: Sequence[Listed] = ()) -> list[Place]:
    """Return the places of stores, which are in the default order, and of a list."""
    found = [*_cities(stores), *_codes(stores)]
    of_list = _listed(listed)
    used: set[int] = set()
    places: list[Place] = []
    for place, vector in found:
        match = _same_place(place, vector, of_list)
        if match is not None:
            used.add(match)
            places.append(place._replace(vector=of_list[match].vector))
        elif vector is not None:
            places.append(place._replace(vector=vector))
    return places + [place for number, place in enumerate(of_list) if number not in used]


def _cities(stores: Sequence[Record]) -> list[tuple[Place, Vector | None]]:
    provinces: dict[Any, set[Any]] = {}
    for store in stores:
        if store["city"] is not None and store["province"] is not None:
            provinces.setdefault((same(store["city"]), same(store["country"])), set()).add(same(store["province"]))
    groups: dict[Any, list[Record]] = {}
    for store in stores:
        if store["city"] is not None:
            city, country = same(store["city"]), same(store["country"])
            known, province = provinces.get((city, country), set()), same(store["province"])
            if province is None and len(known) == 1:
                (province,) = known
            groups.setdefault((city, province, country), []).append(store)
    return [_of_stores("city", group) for group in groups.values()]


def _codes(stores: Sequence[Record]) -> list[tuple[Place, Vector | None]]:
    groups: dict[Any, list[Record]] = {}
    for store in stores:
        if store["postal_code"] is not None:
            groups.setdefault((postal(store["postal_code"]), same(store["country"])), []).append(store)
    return [_of_stores("postal_code", group) for group in groups.values()]


def _of_stores(kind: str, group: Sequence[Record]) -> tuple[Place, Vector | None]:
    first = group[0]
    province = first["province"]
    if kind == "city":
        province = next((store["province"] for store in group if store["province"] is not None), None)
    name = first["city" if kind == "city" else "postal_code"] or ""
    place = Place(name, kind, first["city"], province, first["country"], len(group), ())
    return place, mean([vector_of(*point) for store in group if (point := located(store)) is not None])


def _name_key(kind: str, name: str) -> Any:
    return postal(name) if kind == "postal_code" else words(name)


def _listed(rows: Sequence[Listed]) -> list[Place]:
    groups: dict[Any, list[Listed]] = {}
    for row in rows:
        province = same(row.province) if row.kind == "city" else None
        groups.setdefault((row.kind, _name_key(row.kind, row.name), words(row.country), province), []).append(row)
    found = []
    for group in groups.values():
        first, vector = group[0], mean([vector_of(row.latitude, row.longitude) for row in group])
        city = first.name if first.kind == "city" else first.city
        if vector is not None:
            found.append(Place(first.name, first.kind, city, first.province, first.country.strip(), 0, vector))
    return found


def _same_place(place: Place, vector: Vector | None, listed: Sequence[Place]) -> int | None:
    alike = [
        number
        for number, other in enumerate(listed)
        if other.kind == place.kind
        and _name_key(place.kind, place.name) == _name_key(place.kind, other.name)
        and same(place.country) == same(other.country)
    ]
    if place.kind == "postal_code":
        return alike[0] if alike else None
    equal = [number for number in alike if same(listed[number].province) == same(place.province)]
    if vector is None:
        return equal[0] if equal else alike[0] if len(alike) == 1 else None
    point = place._replace(vector=vector).point
    away = {number: distance(point, listed[number].point) for number in alike}
    chosen = [
        number
        for number in alike
        if number in equal or None in (place.province, listed[number].province) or away[number] <= 50_000
    ]
    return min(chosen, key=lambda number: round(away[number], 4)) if chosen else None


def page(places: Sequence[Place], pairs: Pairs) -> dict[str, Any]:
    """Answer a query without errors."""
    given = {name: value for name, value in pairs if value.strip() and value != "null"}
    text, limit = given["q"], int(given.get("limit", "8"))
    near = [float(part) for part in given["near"].split(",")] if "near" in given else None
    countries = {words(value) for name, value in pairs if name == "country" and value.strip() and value != "null"}
    asked = [place for place in places if not countries or same(place.country) in countries]
    wanted = tokens(text)
    found = [place for place in asked if _is_found(place, text)] or _areas(asked, text)
    ordered = sorted(found, key=lambda place: _key(place, wanted, near))
    suggestion = None if found else _suggestion(asked, " ".join(wanted))
    return {"data": [place.shown for place in ordered[:limit]], "suggestion": suggestion}


def _is_found(place: Place, text: str) -> bool:
    names = [place.name, *(["".join(place.name.split())] if place.kind == "postal_code" else [])]
    if not tokens(text):
        return True
    others = [each or "" for each in (place.city, place.province, place.country)]
    return matches([*names, *others], text) and any(matches(names, word) for word in _words(text))


def _words(text: str) -> list[str]:
    """Return each word of a search as a search of its own."""
    *others, last = tokens(text)
    return [*(f"{word} " for word in others), last + (" " if text[-1].isspace() else "")]


def _code(text: str) -> str:
    return str(postal(text)).replace("-", "").replace("\u2010", "")


def _areas(places: Sequence[Place], text: str) -> list[Place]:
    code = _code(text)
    if not (3 <= len(code) <= 10 and code.isalnum() and any(each.isdecimal() for each in code)):
        return []
    ordered = sorted(places, key=lambda place: _key(place, [], None))
    codes = sorted((_code(place.name), number) for number, place in enumerate(ordered) if place.kind == "postal_code")
    for length in range(len(code), -(-len(code) // 2) - 1, -1):
        having = [ordered[number] for known, number in codes if known.startswith(code[:length])]
        if having:
            countries: dict[Any, list[Place]] = {}
            for place in having:
                countries.setdefault(same(place.country), []).append(place)
            return [area for group in countries.values() for area in _area(code[:length].upper(), group)]
    return []


def _area(name: str, group: Sequence[Place]) -> list[Place]:
    vector = mean([place.vector for place in group])
    stores = sum(place.stores for place in group)
    return [] if vector is None else [Place(name, "postal_area", None, None, group[0].country, stores, vector)]


def _suggestion(places: Sequence[Place], text: str) -> str | None:
    if len(text) < 4:
        return None
    groups: dict[str, list[Place]] = {}
    for place in places:
        name = " ".join(tokens(place.name))
        if place.kind == "city" and is_one_edit(text, name):
            groups.setdefault(name, []).append(place)
    if not groups:
        return None
    best = min(groups, key=lambda name: (-sum(place.stores for place in groups[name]), name))
    return min(groups[best], key=lambda place: _key(place, [], None)).name


def is_one_edit(text: str, name: str) -> bool:
    """Return whether a name is one edit away from a text, by all edits of the text with the characters of the name."""
    edits: set[str] = set()
    for at in range(len(text) + 1):
        head, tail = text[:at], text[at:]
        edits |= {head + tail[1:], head + tail[1:2] + tail[:1] + tail[2:]}
        edits |= {head + character + rest for character in name for rest in (tail, tail[1:])}
    return name in edits - {text}


def _key(place: Place, wanted: Sequence[str], near: Sequence[float] | None) -> Any:
    texts = (place.name, place.city, place.province, place.country)
    first = -place.stores if near is None else round(distance((near[0], near[1]), place.point), 4)
    return (
        list(tokens(place.name)) != list(wanted),
        first,
        *((text is not None, same(text) or "") for text in texts),
        place.kind,
    )
