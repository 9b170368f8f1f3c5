"""Query strings, from meaningful to absurd."""

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote, quote_plus

from hypothesis import strategies as st

from tests.declared_attributes import DECLARED, FORMS, VALUES as ATTRIBUTE_VALUES
from tests.engine import oracle
from tests.engine.random_records import INTERVALS, VALUES

Pair = tuple[str, str]

# What the whole request line may hold leaves room for so many bytes.
_LONGEST: Final = 8_000

_ATTRIBUTES: Final = [each.name for listed in DECLARED.values() for each in listed]
_SORT_KEYS: Final = [*oracle.STORES.forms, *oracle.COMPANIES.forms, *_ATTRIBUTES]
_ONCE: Final = {
    "limit": ["1", "2", "7", "60", "1000", " 5 ", "+3", "1_0", "2.0"],
    "page_num": ["1", "2", "3", "4", "003", "9" * 30, "0" * 4_300 + "7"],
    "sort_order": ["asc", "desc"],
    "sort_by": [*_SORT_KEYS, "distance"],
    # Points from which no two stores at different places are equally far away, but for 40 digits.
    "near": ["43.7,-79.4", " 0.25, -0.75", "5e-1,-.3", "-45.5,120.25", "89.9,12.5", "", "null"],
    "radius": ["1", "1e5", " 6000000", "+1.2e7", "1e308", "1e-0005", "0.1e+0007", "", " "],
    "zoom": ["0", "3", "+9", " 22 ", "2_2", "7.0", "", "null"],
    "bom": ["true", "no", "1", "", "null"],
    "open_at": [
        *("2026-03-29T01:00:00Z", "2026-03-29T02:30+01:00", " 2026-03-29 03:00 02:00", "2026-10-25T00:30:59.9Z"),
        *("2026-10-25T01:29Z", "2026-11-01T05:00Z", "2026-11-02T06:30:00-05:00", "2026-10-03T15:15Z", "", "null"),
    ],
    "bbox": ["-180,-90,180,90", "-79.4,-90,43.7 , 90", "170,-90,-79,90", "5,5,5,5", "null"],
    "q": [
        *("toronto", "tor", "new yor", "orebro", "strasse ", "東", "東京", "m5v2t6", "m5v 2t6", "!!", "", "\u3000"),
        *("9 ", "wifi par"),
    ],
}
# What may be places: in part, in full, misspelt, by a postal code.
_TYPED: Final = [
    *("a", "b", "n", "ne", "new york", "new york ", "york ", "toronto ", "torontoo", "trono", "otawa", "new yrok"),
    *("newyork", "newyorck", "orebr", "strase", "alan", "land", "m5v", "m5v2t7", "M5V-2t9", "12399", "123-46", "1 2 4"),
    *("toronto a", "a toronto", "fine 0", "!", "東", "zz", "istanbull"),
]
_BLANKS: Final = ["", " ", "null", "\u3000", "\x1c", "\x85"]
_FILTERS: Final = {
    name: [*VALUES[form], *(INTERVALS[form] if form is oracle.instant else []), *_BLANKS]
    for collection in (oracle.STORES, oracle.COMPANIES)
    for name, form in collection.forms.items()
    if name in collection.filters
} | {
    each.name: [
        *(*ATTRIBUTE_VALUES[each.kind][:6], "Wifi", "7.500", "TRUE", "maybe", " 2019-02-01", *_BLANKS[:3]),
        *INTERVALS.get(FORMS[each.kind], []),
    ]
    for listed in DECLARED.values()
    for each in listed
}
_LISTS: Final = {
    "fields": [
        *("store_id", "name, city", "updated_at,created_at", "company_id,domain", ",name,,", "", " name "),
        *("attributes", "attributes.area,store_id"),
        *("attributes.tags,attributes.services", "attributes.note , attributes"),
    ],
    "facets": [
        *("city", "is_open,country", "postal_code , province", "domain", "parent_company_id,domain", ","),
        *("city,city", "attributes.services,attributes.area,attributes.drive"),
        "attributes.hours,city,attributes.web,attributes.opened",
        *("attributes.floors,attributes.brands,attributes.logo", "attributes.note"),
    ],
}
_SOUND: Final = [(name, value) for name, held in {**_FILTERS, **_ONCE, **_LISTS}.items() for value in held]

_WITH_POINT: Final = (
    *("radius", "bbox", "q", "open_at", "sort_by", "sort_order", "limit", "page_num", "facets", "is_open"),
    *_ATTRIBUTES,
)

_OTHERS: Final = [
    "",
    "page",
    "x" * 250,
    *("100%", "attributes", "attributes.", "attributes.x", "attributes.Hours", "City", "city ", " limit"),
    *("limit[]", "cty", "store", "prefer", "é", "\ufeffcity", "a&b"),
]
_NAMES: Final = [*_FILTERS, *_ONCE, *_ONCE, *_LISTS, *_OTHERS]
_ODD: Final = [
    *["TRUE", "oN", " true", "true ", "\uff54rue", "maybe", "\u017f", "o\ufb00", "ASC", "asc ", "CITY", "size"],
    *["size,name", "name;city", "company_id,parent_company_id,city,province,country,postal_code", "a,b,c,d,e,f,city"],
    *["NULL", " null", "\u200b", "\u180e", "nul", "None", "\x00", *_BLANKS],
    *["nan", "NaN", "inf", "-inf", "Infinity", "1e3", "1e400", "0x1f", "1,000", "½", "٣", "Ⅳ", "-0", "+0.0", "0-1"],
    *["43.7", "43.7,-79.4,", "91,0", "0,180.5", "90.00000000000000000001,0", f"0,-180.{'0' * 40}1", "nan,0", "0,1e999"],
    *["180.00000000000000000001,0,0,0", "0,1.00000000000000000001,0,1", "1_0,0", "0,1,0,-1", "-181,0,0,0", "1,2,3"],
    "0x1,0",
    *("1e999", "-1e999", "+INF", "infinity", "-NaN", "1e-999", "1_000", "-5", "0.0", "1e1000", "distance"),
    "name,distance",
    *("2024-01-01/2023-01-01", "1/2/3", "//", "..", "/x", "x/", "200/100", "2024-01-01Z/..", "2024-01-01T24:00"),
    "2024",
    *["2020-12-31/2019-02-01", "2020-02-30/", "../nan", "1e1000/", "2024-01-01T00:00:00.1234567/", "9" * 400 + "/"],
    *["2026-03-29T01:00:00", "2026-03-29 01:00", "2026-03-29Z", "1969-12-31T23:59Z", "2101-01-01T00:00+00:01"],
    "é" * 600,
    " ".join("abcdefghijklmnopq"),
    " ".join("abcdefghijklmnop") + "\u3000",
    "東京駅" * 85,
]
_HUGE: Final = ["9" * 4_300, "9" * 4_301, "0" * 4_300 + "7", "1_" * 2_000 + "1", "1_" * 3_900, "7." + "0" * 4_400]
# Of these every integer is made, and much that is nearly one.
_PIECES: Final = [*"0123456789+-_. eE", "00", "1000", ".0", "__", "\t", "\x1c", "\x85", "\u2003", "\ufeff", "\uff11"]

# What damages a query, or almost.
_SCRAPS: Final = [
    *(b"%", b"%%", b"%zz", b"%4", b"%u0041", b"&", b"&&", b"=", b";", b"+", b"?", b'"', b"<", b"\\", b"{}", b"|"),
    b"[]",
    *[b"%00", b"%ff", b"%C3", b"%a4", b"%ED%A0%80", b"%C0%AF", b"%F0%9F%98", b"%EF%BB%BF", b"%0D%0A", b"%26", b"%3D"],
]

# What a request line takes in a query as it is: no space, no control character, no fragment, nothing beyond ASCII.
_TAKEN: Final = bytes(byte for byte in range(0x21, 0x7F) if byte != ord("#"))
_BARE: Final = bytes(set(_TAKEN) - set(b"&=+%"))


def values() -> st.SearchStrategy[str]:
    """Return values of parameters: known ones, integers, near-integers, any text."""
    held = st.sampled_from([value for _, value in _SOUND])
    return st.one_of(held, st.sampled_from(_ODD), integers(), st.text(max_size=20))


def integers() -> st.SearchStrategy[str]:
    """Return integers, many of them near a bound, and near-integers."""
    made = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
    return st.one_of(made, st.integers(-2, 1_002).map(str), st.integers().map(str), st.sampled_from(_HUGE))


def queries() -> st.SearchStrategy[bytes]:
    """Return raw query strings, of bytes that a request line may contain."""
    return st.one_of(sound(), near(), written(), damaged(), st.binary(max_size=80).map(_taken))


def sound() -> st.SearchStrategy[bytes]:
    """Return valid queries for a service that accepts every name."""
    pairs = st.lists(st.sampled_from(_SOUND), max_size=4, unique_by=lambda pair: pair[0] if pair[0] in _ONCE else pair)
    return pairs.flatmap(_encoded)


def near() -> st.SearchStrategy[bytes]:
    """Return queries with a point, whose other parameters may be valid only with it."""
    point = st.sampled_from(_ONCE["near"]).map(lambda value: ("near", value))
    others = st.sampled_from([pair for pair in _SOUND if pair[0] in _WITH_POINT] + [("fields", "name,distance")])
    pairs = st.tuples(point, st.lists(others, max_size=3, unique_by=lambda pair: pair[0]))
    return pairs.flatmap(lambda drawn: _encoded([drawn[0], *drawn[1]]))


def of_maps() -> st.SearchStrategy[bytes]:
    """Return queries with a box and a zoom, valid or not, and other parameters."""
    box = st.sampled_from([*_ONCE["bbox"], "0,1,0,-1", "x"]).map(lambda value: ("bbox", value))
    zoom = st.one_of(st.sampled_from(_ONCE["zoom"]), st.integers(-1, 23).map(str), integers())
    others = st.sampled_from(
        [pair for pair in _SOUND if pair[0] in (*oracle.STORES.filters, *_ATTRIBUTES, "open_at", "q", "limit")]
    )
    pairs = st.tuples(box, zoom.map(lambda value: ("zoom", value)), st.lists(others, max_size=2))
    return pairs.flatmap(lambda drawn: _encoded([*drawn[:2], *drawn[2]]))


def of_places() -> st.SearchStrategy[bytes]:
    """Return queries for places, valid or not."""
    typed = st.sampled_from([*_TYPED, *_ONCE["q"]]).map(lambda value: ("q", value))
    kept = [pair for pair in _SOUND if pair[0] in ("country", "near")]
    others = st.sampled_from([*kept, ("limit", "0"), ("limit", "1"), ("limit", " 5_0"), ("limit", "51"), ("limit", "")])
    return st.tuples(typed, st.lists(others, max_size=3)).flatmap(lambda drawn: _encoded([drawn[0], *drawn[1]]))


def written() -> st.SearchStrategy[bytes]:
    """Return pairs of any name and any value, as programs write them."""
    sized = st.tuples(st.sampled_from(["limit", "page_num"]), integers())
    pair = st.one_of(st.sampled_from(_SOUND), st.tuples(st.sampled_from(_NAMES), values()), sized)
    return st.lists(pair, max_size=5).flatmap(_encoded)


def damaged() -> st.SearchStrategy[bytes]:
    """Return query strings with fragments inserted, invalid escapes among them."""
    scraps = st.lists(st.tuples(st.integers(0, 200), st.sampled_from(_SCRAPS)), min_size=1, max_size=4)
    return st.builds(_damage, sound() | written(), scraps)


def anything() -> st.SearchStrategy[bytes]:
    """Return queries of any bytes except those that end a request line."""
    line = st.binary(max_size=60).map(lambda text: text.translate(None, b"\r\n"))
    return line | st.builds(lambda query, text: query + text, written(), line)


def _encoded(pairs: Sequence[Pair]) -> st.SearchStrategy[bytes]:
    """Return the ways to write pairs."""
    ways = st.lists(st.sampled_from(_WAYS), min_size=len(pairs), max_size=len(pairs))
    return ways.map(lambda drawn: _join(pairs, drawn))


def _join(pairs: Sequence[Pair], ways: Sequence[Callable[[str], bytes]]) -> bytes:
    joined = b"&".join(way(name) + b"=" + way(value) for (name, value), way in zip(pairs, ways, strict=True))
    return joined[:_LONGEST]


def _quoted(text: str) -> bytes:
    return quote(text).encode()


def _of_a_form(text: str) -> bytes:
    return quote_plus(text).encode()


def _escaped(text: str) -> bytes:
    """Return every byte percent-encoded in lower case."""
    return b"".join(b"%%%02x" % byte for byte in text.encode())


def _bare(text: str) -> bytes:
    """Return a text with only the necessary escapes."""
    return b"".join(bytes([byte]) if byte in _BARE else b"%%%02X" % byte for byte in text.encode())


_WAYS: Final = (_quoted, _of_a_form, _escaped, _bare)


def _damage(query: bytes, scraps: Sequence[tuple[int, bytes]]) -> bytes:
    for place, scrap in scraps:
        at = place % (len(query) + 1)
        query = query[:at] + scrap + query[at:]
    return query[:_LONGEST]


def _taken(text: bytes) -> bytes:
    return bytes(_TAKEN[byte % len(_TAKEN)] for byte in text)
