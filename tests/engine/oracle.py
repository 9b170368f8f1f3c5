"""The oracle: a naive scan of plain records, written from the interface alone, that the engine must equal."""

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from tests.engine import hours_oracle
from tests.engine.great_circle import Point, distance
from tests.engine.search_oracle import matches
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Fields, members, names as names_of

Record = Mapping[str, str | None]
Pairs = Sequence[tuple[str, str]]
Form = Callable[[str], Any]  # equal for matching values, and in their order
Condition = Callable[[Record], bool]

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


def identifier(text: str) -> Any:
    return text


@cache
def words(text: str) -> Any:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def postal(text: str) -> Any:
    return "".join(words(text).split())


@cache
def number(text: str) -> Any:
    return (0, Decimal(text.strip())) if _NUMBER.fullmatch(text.strip()) else (1, text)


def flag(text: str) -> Any:
    return text.lower() in {"1", "t", "y", "on", "yes", "true"}


@cache
def instant(text: str) -> Any:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\d([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)?)?", re.ASCII
)
EXPECTED = {
    instant: "a date-time, a date or an interval, such as 2026-11-01T00:00:00Z/..",
    number: "an interval of numbers, such as 100/250",
    str.strip: "an interval of dates, such as 2026-01-01/..",
}


def interval(form: Form, value: str) -> tuple[Any, Any]:
    """Return the ends of an interval, None for an open one. Raises ValueError with the reason."""
    parts = [part.strip() for part in value.split("/")]
    is_open = [part in ("", "..") and len(parts) == 2 for part in (parts[0], parts[-1])]
    try:
        ends = [_end(form, "x" if len(parts) > 2 else part, is_last) for part, is_last in _ends(parts, is_open)]
    except (ValueError, OverflowError):
        raise ValueError(f"expected {EXPECTED[form]}") from None
    low, high = (None if each else ends.pop(0) for each in is_open)
    if low is not None and high is not None and low > high:
        raise ValueError("the interval ends before it begins")
    return low, high


def _ends(parts: Sequence[str], is_open: Sequence[bool]) -> Sequence[tuple[str, bool]]:
    """Return the ends that are not open, and whether each is the last one."""
    both = [(parts[0], False), (parts[-1], True)]
    return [end for end, without in zip(both, is_open, strict=True) if not without]


def _end(form: Form, text: str, is_last: bool) -> Any:  # noqa: FBT001 - one of a pair
    if form is number:
        end = number(text)
        if end[0]:
            raise ValueError
        return end
    if form is instant:
        text = _with_plus(text)
    if not _INSTANT.fullmatch(text) or (form is not instant and len(text) != 10):
        raise ValueError
    moment = instant(text).astimezone(UTC)
    if form is not instant:
        return text
    return moment.replace(hour=23, minute=59, second=59, microsecond=999999) if is_last and len(text) == 10 else moment


def _with_plus(text: str) -> str:
    return re.sub(r"(:.*) (\d\d:\d\d)$", r"\1+\2", text)


def open_at(value: str) -> datetime:
    """Return the instant of `open_at`, without its seconds. Raises ValueError with the reason."""
    text = _with_plus(value.strip())
    try:
        moment = datetime.fromisoformat(text if _INSTANT.fullmatch(text) else "")
        if moment.tzinfo and 1970 <= moment.astimezone(UTC).year <= 2100:
            return moment.astimezone(UTC).replace(second=0, microsecond=0)
    except (ValueError, OverflowError):
        pass
    raise ValueError("expected a date-time with an offset, such as 2026-12-24T10:00:00+01:00")


def is_within(ends: tuple[Any, Any], value: Any) -> bool:
    """Return whether a value is in an interval."""
    low, high = ends
    return (low is None or low <= value) and (high is None or value <= high)


class Collection(NamedTuple):
    """A list of the interface: its identifying field, and how the values of each field match and sort.

    searched  the fields whose words are searched
    located   whether records have coordinates
    lists     the fields whose values are several texts, one on each line
    hours     the field that is the opening hours, as JSON; "" if there is none
    """

    identifier: str
    forms: Mapping[str, Form]
    filters: Sequence[str]
    members: Sequence[str]
    facets: Sequence[str]
    searched: Sequence[str]
    located: bool = False
    lists: Sequence[str] = ()
    hours: str = ""

    def keys(self, name: str, value: str | None) -> Mapping[Any, str]:
        """Return the texts of a value, by what they match as: of equal ones the first."""
        texts = [] if value is None else value.split("\n") if name in self.lists else [value]
        return {self.forms[name](text): text for text in reversed(texts)}


_FORMS: Mapping[str, Form] = {form.__name__: form for form in (identifier, words, postal, number, flag, instant)}


def _collection(fields: Fields, *, located: bool = False) -> Collection:
    return Collection(
        fields[0].name,
        {field.name: _FORMS[field.kind] for field in fields},
        names_of(fields, "filters"),
        members(fields),
        names_of(fields, "facets"),
        names_of(fields, "searched"),
        located,
    )


STORES, COMPANIES = _collection(STORE_FIELDS, located=True), _collection(COMPANY_FIELDS)
# The fields by which the stores of a company are searched.
OWNER_FIELDS = ("name", "domain")
# Companies by their identifier.
Owners = Mapping[str | None, Record]


class Facet(NamedTuple):
    """The number of distinct values of a field, and the most frequent ones, each with its count."""

    distinct: int
    values: list[tuple[str | None, int]]


class Answer(NamedTuple):
    """The total number of matching records, the members of those of one page, and the facets by field."""

    total_count: int
    data: list[Mapping[str, Any]]
    facets: Mapping[str, Facet]


def names(pairs: Pairs, parameter: str, known: Sequence[str]) -> list[str]:
    """Return the names that a parameter gives, in the order of the known ones."""
    given = [part.strip() for name, value in pairs if name == parameter for part in value.split(",")]
    return [name for name in known if name in given]


def answer(collection: Collection, records: Sequence[Record], pairs: Pairs, owners: Owners | None = None) -> Answer:
    """Answer a query without errors by looking at every record."""
    values = dict(pairs)
    near = _numbers(pairs, "near") if collection.located else []
    found = _found(collection, records, pairs, owners or {})
    facets = {name: _facet(collection, records, found, name) for name in names(pairs, "facets", collection.facets)}
    members = names(pairs, "fields", [*collection.members, *(["distance"] if near else [])])
    field = values.get("sort_by", "distance" if near else "created_at")
    if field == "distance":
        found = _nearest(_sorted(collection, found, "created_at"), near, descending=values.get("sort_order") == "desc")
    else:
        found = _sorted(collection, found, field)
        found = backwards(found, field) if values.get("sort_order") == "desc" else found
    limit, page_num = int(values.get("limit", "1000")), int(values.get("page_num", "1"))
    shown = found[(page_num - 1) * limit :][:limit]
    data: list[Mapping[str, Any]] = []
    for record in shown:
        away = {"distance": _rounded(_metres(record, near))} if near and (not members or "distance" in members) else {}
        known = [name for name in members or collection.members if name != "distance"]
        data.append({**part(record, known), **away})
    return Answer(len(found), data, facets)


def clusters(
    records: Sequence[Record], pairs: Pairs, owners: Owners | None = None, stores: Collection = STORES
) -> list[Mapping[str, Any]]:
    """Answer a query for clusters without errors: the features, one for each cell with records."""
    (zoom,) = (int(value) for name, value in pairs if name == "zoom")
    found = _found(stores, records, pairs, owners or {})
    cells: dict[tuple[int, int], list[tuple[Record, Point]]] = {}
    for record in found:
        if (point := located(record)) is not None:
            cells.setdefault(cell_of(point, zoom), []).append((record, point))
    return [_feature(cells[cell]) for cell in sorted(cells)]


@cache
def cell_of(point: Point, zoom: int) -> tuple[int, int]:
    """Return the line, from the north, and the column of the cell of a point."""
    latitude, longitude = point
    count = 4 * 2**zoom
    column = math.floor((Fraction(longitude) + 180) / 360 * count)
    height = math.asinh(math.tan(math.radians(max(min(latitude, 85.0511), -85.0511)))) / math.pi
    return math.floor((1 - height) / 2 * count), min(column, count - 1)


def _feature(found: Sequence[tuple[Record, Point]]) -> Mapping[str, Any]:
    """Return the records of a cell as GeoJSON."""
    properties: dict[str, Any] = {"count": len(found)}
    position = [_mean([point[axis] for _, point in found]) for axis in (1, 0)]
    if len(found) == 1:
        ((record, (latitude, longitude)),) = found
        position = [longitude, latitude]
        properties |= {name: record[name] for name in ("store_id", "name", "address_1")}
        properties["is_open"] = flag(record["is_open"] or "")
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": position}, "properties": properties}


def _mean(degrees: Sequence[float]) -> float:
    """Return the mean of angles as multiples of 1e-7 degrees, a half rounded up."""
    units = sum(round(each * 10_000_000) for each in degrees)
    return math.floor(Fraction(units, len(degrees)) + Fraction(1, 2)) / 10_000_000


def _found(collection: Collection, records: Sequence[Record], pairs: Pairs, owners: Owners) -> list[Record]:
    """Return the records that meet all conditions of a query."""
    conditions = [
        *(_filter(collection, name, pairs) for name in dict.fromkeys(name for name, _ in pairs)),
        *((_inside(pairs), _open(collection, pairs)) if collection.located else ()),
        _with_words(collection, pairs, owners),
    ]
    asked = [condition for condition in conditions if condition is not None]
    return [record for record in records if all(condition(record) for condition in asked)]


def _filter(collection: Collection, name: str, pairs: Pairs) -> Condition | None:
    """Return whether a record has a wanted value, or one in an interval: of dates and numbers only attributes do."""
    wanted = [value for each, value in pairs if each == name and value.strip() and value != "null"]
    if name not in collection.filters or not wanted:
        return None
    form = collection.forms[name]
    intervals = [interval(form, each) for each in wanted if takes_interval(form, name, each)]
    keys = {form(each) for each in wanted if not takes_interval(form, name, each)}

    def has_one(record: Record) -> bool:
        present = collection.keys(name, record[name])
        return not keys.isdisjoint(present) or any(is_within(ends, key) for ends in intervals for key in present)

    return has_one


def located(record: Record) -> Point | None:
    """Return where a record is, in degrees; zero has no sign."""
    return _point((record["latitude"] or "").strip(), (record["longitude"] or "").strip())


@cache
def _point(latitude: str, longitude: str) -> Point | None:
    if not _NUMBER.fullmatch(latitude) or not _NUMBER.fullmatch(longitude):
        return None
    if not (-90 <= Decimal(latitude) <= 90 and -180 <= Decimal(longitude) <= 180):
        return None
    return float(latitude) + 0.0, float(longitude) + 0.0


def _given(pairs: Pairs, name: str) -> str:
    """Return the one value that a parameter gives, if any."""
    return next((value for each, value in pairs if each == name and value.strip() and value != "null"), "")


def _numbers(pairs: Pairs, name: str) -> list[float]:
    """Return the numbers that a parameter gives."""
    text = _given(pairs, name)
    return [float(number) for number in text.split(",")] if text else []


def _metres(record: Record, near: Sequence[float]) -> Decimal | None:
    """Return the distance of a record; equal ones differ by less than is rounded away."""
    point = located(record)
    return None if point is None else round(distance((near[0], near[1]), point), 6)


def _rounded(metres: Decimal | None) -> float | None:
    return None if metres is None else float(round(metres, 1))


def _inside(pairs: Pairs) -> Condition | None:
    """Return whether a record is in the circle and the box of a query."""
    near, radius, box = (_numbers(pairs, name) for name in ("near", "radius", "bbox"))

    def is_inside(record: Record) -> bool:
        point = located(record)
        if point is None or (radius and distance((near[0], near[1]), point) > radius[0]):
            return False
        return not box or is_in_box(point, box)

    return is_inside if radius or box else None


def is_in_box(point: Point, box: Sequence[float]) -> bool:
    """Return whether a point is in a box of west, south, east and north, its edges included."""
    latitude, longitude = point
    west, south, east, north = box
    between = west <= longitude <= east if west <= east else longitude >= west or longitude <= east
    return between and south <= latitude <= north


def _open(collection: Collection, pairs: Pairs) -> Condition | None:
    """Return whether a store is open at the time of a query; not if its hours are unknown."""
    text = _given(pairs, "open_at")
    if not text or not collection.hours:
        return None
    time = open_at(text)

    def is_open(record: Record) -> bool:
        hours = record[collection.hours]
        return hours is not None and flag(record["is_open"] or "") and hours_oracle.is_open(json.loads(hours), time)

    return is_open


def _with_words(collection: Collection, pairs: Pairs, owners: Owners) -> Condition | None:
    search = _given(pairs, "q")

    def has_words(record: Record) -> bool:
        texts = [record[name] or "" for name in collection.searched]
        texts += ["".join((record.get("postal_code") or "").split())]
        owner = owners.get(record["company_id"]) if collection.located else None
        texts += [owner[name] or "" for name in OWNER_FIELDS] if owner else []
        return matches(texts, search)

    return has_words if search else None


def in_default_order(collection: Collection, records: Sequence[Record]) -> list[Record]:
    """Return records in the default order."""
    return _sorted(collection, records, "created_at")


def _nearest(ordered: Sequence[Record], near: Sequence[float], *, descending: bool) -> list[Record]:
    """Return records by distance, those that are not located last; `ordered` are in the default order."""
    away = [(metres, record) for record in ordered if (metres := _metres(record, near)) is not None]
    known = [record for _, record in sorted(away, key=lambda each: each[0])]
    others = [record for record in ordered if located(record) is None]
    return known[::-1] + others[::-1] if descending else known + others


def part(record: Record, members: Sequence[str]) -> Record:
    """Return some members of a record, without unknown dates."""
    return {name: record[name] for name in members if record[name] is not None or not name.endswith("_at")}


def _facet(collection: Collection, records: Sequence[Record], found: Sequence[Record], name: str) -> Facet:
    """Count the values of a field; each is spelled as the first of all records spells it."""
    spelled: dict[Any, str] = {}
    for record in _sorted(collection, records, "created_at"):
        for key, text in collection.keys(name, record[name]).items():
            spelled.setdefault(key, text)
    counts = Counter(key for record in found for key in collection.keys(name, record[name]))
    missing = sum(record[name] is None for record in found)
    frequent = sorted(sorted(counts), key=lambda value: -counts[value])[:100]
    values: list[tuple[str | None, int]] = [(spelled[value], counts[value]) for value in frequent]
    return Facet(len(counts), [*values, *([(None, missing)] if missing else [])])


def backwards(ascending: Sequence[Record], field: str) -> list[Record]:
    """Return the descending order: the records with a value reversed, then those without reversed."""
    non_null = [record for record in ascending if record[field] is not None]
    nulls = [record for record in ascending if record[field] is None]
    return non_null[::-1] + nulls[::-1]


def takes_interval(form: Form, name: str, value: str) -> bool:
    """Return whether the value of a filter is an interval."""
    return form is instant or (form in EXPECTED and "/" in value and name.startswith("attributes."))


def _sorted(collection: Collection, records: Sequence[Record], field: str) -> list[Record]:
    ordered = sorted(records, key=lambda record: record[collection.identifier] or "")
    for each in ("created_at", field):  # each sort keeps the order of ties that the one before made
        non_null = [record for record in ordered if record[each] is not None]
        nulls = [record for record in ordered if record[each] is None]
        form = collection.forms[each]
        ordered = sorted(non_null, key=lambda record: form(record[each] or "")) + nulls
    return ordered
