"""Queries for stores, and the many ways to write each."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, quote_plus, urlencode

from hypothesis import strategies as st

# Parameter -> value -> spellings. Values with separators in them must not be split.
_SEPARATED: Final = ("a", "b", "a,b", "a;b", "a|b", "a&city=b", "a\x00b", "a\x1fb", 'a","b', "('a', 'b')")
FILTERS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "company_id": {value: (value,) for value in ("acme", "ACME", *_SEPARATED)},
    "city": {
        "toronto": ("Toronto", "toronto", "TORONTO", " toronto ", "\u3000toronto", "\uff34oronto"),
        "örebro": ("Örebro", "ÖREBRO", "O\u0308rebro", "örebro\t"),
        "new york": ("New York", "new  york", "NEW\tYORK "),
        **{value: (value, f" {value}") for value in ("a", "b", "a,b", "a&city=b")},
    },
    "province": {"a": ("a", "A"), "b": ("b", "B "), "toronto": ("Toronto",)},
    "postal_code": {"m5v2t6": ("M5V 2T6", "m5v2t6", " m5 v2 t6"), "1": ("1", " 1")},
    "is_open": {"true": ("true", "1", "YES", "on", "T"), "false": ("false", "0", "No", "off")},
    "latitude": {"43.7": ("43.7", "43.70", "4.37e1", "+43.7", " 043.7"), "1": ("1", "1.0", ".1e1"), "x": ("x",)},
}
# Every query has one value of each; the first is the default.
_ONCE: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "limit": {"1000": ("1000", "+1000", " 1000", "1_000", "1000.0"), "1": ("1", "01"), "2": ("2", "2.00")},
    "page_num": {"1": ("1", "+1", "001"), "2": ("2", " 2 "), "1" * 30: ("1" * 30,)},
    "sort_order": {"asc": ("asc",), "desc": ("desc",)},
    "sort_by": {field: (field,) for field in ("created_at", "city", "store_id", "latitude")},
}
_NOISE: Final = (("city", ""), ("country", "null"), ("country", " "), ("City", "x"), ("unknown", "1"), ("", ""))

# The values of each filter, and those of the four parameters that every query has.
QuerySpec = tuple[frozenset[tuple[str, frozenset[str]]], tuple[str, ...]]


def query_specs() -> st.SearchStrategy[QuerySpec]:
    """Return query specifications."""
    values_by_name = {
        name: st.frozensets(st.sampled_from(list(values)), max_size=3) for name, values in FILTERS.items()
    }
    filters = st.fixed_dictionaries({}, optional=values_by_name).map(
        lambda drawn: frozenset((name, values) for name, values in drawn.items() if values)
    )
    return st.tuples(filters, st.tuples(*(st.sampled_from(list(values)) for values in _ONCE.values())))


@st.composite
def spellings_of(draw: st.DrawFn, spec: QuerySpec) -> str:
    """Return query strings of a specification."""
    filters, once = spec
    pairs = draw(st.lists(st.sampled_from(_NOISE), max_size=3))
    for name, values in filters:
        for value in values:
            pairs += [(name, spelling) for spelling in draw(_some(FILTERS[name][value]))]
    for (name, spellings), value in zip(_ONCE.items(), once, strict=True):
        if value != next(iter(spellings)) or draw(st.booleans()):
            pairs.append((name, draw(st.sampled_from(spellings[value]))))
    return urlencode(draw(st.permutations(pairs)), quote_via=draw(st.sampled_from((quote, quote_plus))))


def _some(spellings: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(spellings), min_size=1, max_size=2)
