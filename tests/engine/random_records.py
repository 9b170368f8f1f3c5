"""Random tables and queries: few values in many spellings, so that records tie, repeat and have nulls."""

import json
from collections.abc import Sequence
from itertools import chain
from random import Random

import msgspec
from hypothesis import strategies as st

from service.engine.columns.column import join_keys
from service.engine.results import page
from service.engine.table import Table
from service.engine.table_builder import TableBuilder
from service.model.envelope import Facet as EncodedFacet
from service.model.query import QueryParser
from service.model.records import COMPANIES, CREATED_AT, STORES, Resource
from tests.engine import oracle
from tests.engine.oracle import Answer, Collection, Facet, Form, Pairs, Record
from tests.engine.ranked_keys import IN_FILES

COLLECTIONS = {STORES.name: oracle.STORES, COMPANIES.name: oracle.COMPANIES}

_WORDS = """Toronto|TORONTO| toronto |Örebro|ÖREBRO|O\u0308rebro|Straße|STRASSE|İstanbul|istanbul|東京|\u212bland|åland
New York|new\u00a0york|NEW\t YORK|newyork|Ottawa|ottawa|a|B|c|\uffee|\U0001f600|\ufb01ne|FINE|Zz|0"""
_POSTAL = "M5V 2T6|m5v2t6|M5V2T6 |\uff4d\uff15\uff36\u30002t6|123 45|12345|1 2 3 4 5|123-45|A|a|b|\U0001f600"
_NUMBERS = """43.7|43.70|+43.7|4.37e1|437e-1| 43.7 |43.7000000000000000000000000000000001|-79.4|-79.40|-79.39|0|-0|+0.0
.0|0e5|.5|5.|5|0005|-5|50|-50|1e999|-1e999|1e-999|-1e-999|1e1000|nan|NaN|inf|43,7|\uff14\uff13|1_0|0x1|.|-|--1|43.7 N"""
_INSTANTS = """2024-01-01|2024-01-01T00:00:00Z|2024-01-01T02:00:00+02:00|2023-12-31T19:00:00-05:00|2024-01-01 00:00
2024-01-01T00:00:00.5|2024-01-01T00:00:00.500000Z|2024-01-01T05:30:00.000001+05:30|1999-12-31T23:59:59.999999+14:00
0001-01-01|0001-01-01T00:00:00-23:59|9999-12-31T23:59:59.999999Z|2024-01-01T12:00:00+00:01|2024-01-01T11:59:00Z"""
VALUES: dict[Form, list[str]] = {
    oracle.identifier: ["a", "A", "a ", "é", "e\u0301", "10", "9", "b/c", "\uffee", "\U0001f600", "null!", "Z"],
    oracle.words: _WORDS.replace("\n", "|").split("|"),
    oracle.postal: _POSTAL.split("|"),
    oracle.number: _NUMBERS.replace("\n", "|").split("|"),
    oracle.flag: ["true", "FALSE", "1", "off", "y", "No"],
    oracle.instant: _INSTANTS.replace("\n", "|").split("|"),
}
_BLANK = ["", " ", "null"]
_TIMES = ("created_at", "updated_at")
# Intervals, with the spellings that are equal, by line.
INTERVALS: dict[Form, list[str]] = {
    oracle.instant: [
        *("2024-01-01/..", "2024-01-01T00:00:00Z/", " 2024-01-01 00:00 / ..", "2024-01-01T02:00:00 02:00/.."),
        *("2024-01-01", "2024-01-01/2024-01-01", "2024-01-01T00:00/2024-01-01T23:59:59.9999999Z"),
        *("../2024-01-01T00:00:00.500000", "/2024-01-01T00:00:00.5Z"),
        *("../..", "/", " ../ "),
        *("2024-01-01T11:59:00Z", "2024-01-01 11:59:00.0000009/2024-01-01T12:59 01:00"),
        *("1999-12-31/2024-01-01T00:00Z", "1999-12-31T00:00:00/2024-01-01T00:00"),
    ],
    oracle.number: ["7.5/", "75e-1/..", "/100000", "../1E+5", "-79.40/0", "-79.4/-0.0", "/", "../..", "-1e999/1e999"],
    str.strip: ["2019-02-01/..", "2019-02-01/", "/2020-12-31", " .. / 2020-12-31", "0001-01-01/2019-02-01", "../.."],
}
# Points from which no two stores at different places are equally far away, but for 40 digits.
_POINTS = ["43.7,-79.4", "0.2,-0.1", "43.7 , 43.7", "-5,50", "5.1,-0.3", "89.9,12.5", "-43.7,179.99", "50,-79.39"]
_RADII = ["1", "0.001", "1e5", "5000000", "1.2e7", "3e7", "1e300"]
_BOXES = ["-180,-90,180,90", "-79.4,43.7,-79.4,43.7", "43.7,-50,50,50", "0,-90,-79.4,90", "-1,-1,1, 1", "5,5,5,90"]
_SEARCHES = """toronto|Toro|new york|new yor|new y |orebro|ÖREBRO |strasse |STRA|istan|東|東京|京|aland a|m5v
m5v2t6|2t6 m5v
ottawa 12345|fin|!!|ﬁne zz|löwe|lion|example lion tor|12345 45|0|c b a|b/c"""
# Some companies, by which stores are searched.
OWNERS: dict[str | None, Record] = {
    "a": {"name": "Löwe", "domain": "lion.example"},
    "A": {"name": "東京屋", "domain": None},
    "Z": {"name": "ÖREBRO", "domain": "fine.example"},
}
_UNKNOWN = ["nowhere", "77.7", "\U0001f600\U0001f600"]


def records(collection: Collection, *, count: int, variety: int, seed: int) -> list[Record]:
    """Return records in any order; `variety` is how many values a field has, neighbours in its list of spellings."""
    random = Random(seed)
    cells = {name: _cells(random, name, VALUES[form], variety) for name, form in collection.forms.items()}
    return [
        {name: random.choice(values) for name, values in cells.items()}
        | {collection.identifier: random.choice("aAé\uffee\U0001f600") + str(index)}
        for index in random.sample(range(2 * count), count)
    ]


def _cells(random: Random, name: str, values: Sequence[str], variety: int) -> list[str | None]:
    start = random.randrange(len(values))
    absent = 0 if name == "is_open" else random.randint(0, variety)
    return [*([*values, *values][start : start + variety]), *[None] * absent]


def queries(collection: Collection, made: Sequence[Record], limits: Sequence[int]) -> st.SearchStrategy[Pairs]:
    """Return query strings without errors, as pairs of name and value; most filter by values that records have."""
    filters = st.sampled_from(collection.filters).flatmap(lambda name: _filter_pairs(collection, made, name))
    order = {"sort_by": st.sampled_from(list(collection.forms)), "sort_order": st.sampled_from(["asc", "desc"])}
    page_nums = st.sampled_from([*range(1, 7), 2**31, 2**63, 2**64])
    paging = {"limit": st.sampled_from(limits).map(str), "page_num": page_nums.map(str)}
    shape = {
        "fields": st.lists(st.sampled_from(collection.members), max_size=3).map(",".join),
        "facets": st.lists(st.sampled_from(collection.facets), max_size=5).map(" ,".join),
    }
    search = {"q": st.sampled_from([*_SEARCHES.replace("\n", "|").split("|"), *_BLANK])}
    if collection.located:
        search["bbox"] = st.sampled_from([*_BOXES, *_BLANK])
    optional = {**order, **paging, **shape, **search}
    other = st.fixed_dictionaries({}, optional=optional).map(lambda each: list(each.items()))
    place = places() if collection.located else st.just([])
    return st.tuples(st.lists(filters, max_size=2), place, other).map(
        lambda each: [*chain(*each[0]), *_compatible(each[1], each[2])]
    )


def places() -> st.SearchStrategy[Pairs]:
    """Return no point, or one, perhaps with a radius, perhaps sorted by."""
    points = st.sampled_from(_POINTS).map(lambda point: [("near", point)])
    radii = st.sampled_from([[], *([("radius", radius)] for radius in _RADII)])
    orders = st.sampled_from([[], [], [("sort_by", "distance")], [("fields", "distance,company_id")]])
    return st.just([]) | st.tuples(points, radii, orders).map(lambda each: [*each[0], *each[1], *each[2]])


def _compatible(place: Pairs, other: Pairs) -> Pairs:
    """Return pairs without those of the second list that have a name of the first, which may be given once."""
    names = {name for name, _ in place}
    return [*place, *(pair for pair in other if pair[0] not in names)]


def _filter_pairs(collection: Collection, made: Sequence[Record], name: str) -> st.SearchStrategy[Pairs]:
    present = sorted({text for record in made if (text := record[name]) is not None})
    unknown = {"is_open": [], **dict.fromkeys(_TIMES, INTERVALS[oracle.instant])}.get(name, _UNKNOWN)
    others = [*VALUES[collection.forms[name]], *_BLANK, *unknown]
    values = st.sampled_from(present or others) | st.sampled_from([*present, *others])
    if name in _TIMES and present:
        ends = st.tuples(st.sampled_from([*present, "", ".."]), st.sampled_from([*present, "", ".."]))
        values |= ends.map("/".join).filter(lambda value: _is_interval(oracle.instant, value))
    return st.lists(values.map(lambda value: (name, value)), min_size=1, max_size=4)


def _is_interval(form: Form, value: str) -> bool:
    try:
        oracle.interval(form, value)
    except ValueError:
        return False
    return True


def build(resource: Resource, made: Sequence[Record]) -> Table:
    """Return the table of some records; the members of a row are texts."""
    builder = TableBuilder(
        {field.name: field.has_values for field in resource.fields},
        order_by=CREATED_AT,
        key=resource.identifier,
        searched=[field.name for field in resource.searched],
        coordinates=resource.coordinates,
        spools=IN_FILES,
    )
    members = COLLECTIONS[resource.name].members
    rows = b"".join(msgspec.json.encode(oracle.part(record, members)) + b"\n" for record in made)
    keys = {
        field.name: join_keys(
            [None if (text := record[field.name]) is None else field.kind.normalize(text) for record in made]
        )
        for field in resource.fields
    }
    postal = join_keys([_with_and_without_spaces(record.get("postal_code")) for record in made])
    builder.add(rows, keys, {"postal_code": postal} if "postal_code" in keys else {})
    owners = {(key or "").encode(): f"{each['name']} {each['domain'] or ''}".encode() for key, each in OWNERS.items()}
    return builder.build({COMPANIES.identifier: owners} if resource is STORES else None)


def _with_and_without_spaces(text: str | None) -> str | None:
    return None if text is None else f"{text} {''.join(text.split())}"


def ask(table: Table, resource: Resource, pairs: Pairs) -> Answer:
    """Return what the engine answers."""
    query = QueryParser(resource).parse(pairs, strict=True)
    found = page(table, query)
    facets = {name: _read_facet(facet) for name, facet in (found.facets or {}).items()}
    return Answer(found.total_count, json.loads(b"[" + b"".join(found.rows) + b"]"), facets)


def _read_facet(encoded: msgspec.Raw) -> Facet:
    facet = msgspec.json.decode(encoded, type=EncodedFacet)
    values = [(None if each.value is None else str(each.value), each.count) for each in facet.values]
    return Facet(facet.distinct, values)
