"""The queries of the tests: resources, parameters, and all spellings of each value.

Two requests ask the same exactly if their `Question` is equal: then they have the same answer and the same tag.
"""

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from typing import Final
from urllib.parse import quote, urlencode

import msgspec

from tests.composition.random_draws import RandomDraws
from tests.declared_attributes import DECLARED, FORMS, VALUES as VALUES_OF_KINDS
from tests.engine import oracle
from tests.engine.oracle import Collection, Form
from tests.engine.random_records import INTERVALS, VALUES

OPEN_AT: Final = "open_at"
Pair = tuple[str, str]
# The first spelling of a value -> all its spellings.
Values = Mapping[str, Sequence[str]]
# Field -> identifiers of records.
Identifiers = Mapping[str, Sequence[str]]

# The first value of each is the default.
PAGING: Final[Mapping[str, Values]] = {
    "limit": {"1000": ("1000", "+1000", " 1_000"), "7": ("7", "07"), "40": ("40", "40.0"), "150": ("150",)},
    "page_num": {"1": ("1", "+1", "001"), "2": ("2", " 2 "), "9" * 30: ("9" * 30,)},
    "sort_order": {"asc": ("asc",), "desc": ("desc",)},
}
# The attributes of any data set, by resource: their names in one order, and values that match in some.
ATTRIBUTES: Final = {
    resource: {
        each.name: [*VALUES_OF_KINDS[each.kind][:5], *INTERVALS.get(FORMS[each.kind], [])[:5], "maybe"]
        for each in listed
    }
    for resource, listed in DECLARED.items()
}
# Points from which no two stores at different places are equally far away, but for 40 digits.
_PLACES: Final[Mapping[str, Values]] = {
    "near": {
        "": ("", " ", "null"),
        "43.7,-79.4": ("43.7,-79.4", " 43.70 , -7.94e1", "+43.7,-079.4\t"),
        "-5.5,50.25": ("-5.5,50.25", "-5.50, 5025e-2"),
    },
    "radius": {"": ("", "null"), "50000": ("50000", "5e4", " +50000.0 "), "9e6": ("9000000", "9e6"), "2": ("2.0", "2")},
    "bbox": {
        "": ("", "\u3000"),
        "-79.4,-60,44,60": ("-79.4,-60,44,60", "-79.40 , -60.0,\t44,6e1"),
        "5,-90,-5,44": ("5,-90,-5,44", "5.0,-9e1,-5,44"),
    },
}
_WORDS: Final[Values] = {
    "": ("", " ", "null"),
    "toronto": ("toronto", "TORONTO", "  Toronto", "\uff34oronto"),
    "to": ("to", "-TO", "to"),
    "york new ": ("york new ", "new york ", "NEW\u3000York\t", "York-new york "),
    "orebro": ("orebro", "\u00d6REBRO", "O\u0308rebro"),
    "wifi ": ("wifi ", "WIFI "),
    "\u6771\u4eac": ("\u6771\u4eac", " \u6771\u4eac"),
}
# Around changes of the clocks of those stores, and their exceptions.
_OPEN_AT: Final[Values] = {
    "": ("", "null"),
    "2026-03-29T01:00:00Z": ("2026-03-29T01:00:00Z", "2026-03-29 03:00 02:00", " 2026-03-29T01:00:59.9+00:00"),
    "2026-10-25T00:30Z": ("2026-10-25T00:30Z", "2026-10-25T02:30:10+02:00"),
    "2026-10-25T01:29Z": ("2026-10-25T01:29Z", "2026-10-25 02:29:00 01:00"),
    "2026-11-01T04:30Z": ("2026-11-01T04:30Z",),
    "2026-11-03T06:59Z": ("2026-11-03T06:59Z", "2026-11-03T01:59:59-05:00"),
}
# Of places: other spellings of words may be other postal codes, and words in another order other names.
_TYPED: Final[Values] = {
    "": ("", " ", "null"),
    "toronto": ("toronto", "TORONTO", "  Toronto", "\uff34oronto"),
    "to": ("to", "-TO", "to"),
    "new york ": ("new york ", "NEW\u3000York\t", "New-york "),
    "torotno": ("torotno", "TOROTNO", "Toro\u0300tno"),
    "m5v 2t9": ("m5v 2t9", "M5V 2T9", "m5v-2t9"),
    "1239": ("1239", "\uff112\uff139"),
    "\u6771": ("\u6771", " \u6771"),
}
_MARKS: Final[Values] = {"false": ("false", "0", "", "null", "No"), "true": ("true", "1", "on", "YES")}
_ZOOM: Final[Values] = {"": ("",), "0": ("0", "+0"), "3": ("3", " 03", "3.0"), "9": ("9",), "22": ("22", "2_2")}
_MOST_NAMES: Final = 3
# Parameters of pages that files do not have.
_OF_PAGES: Final = ("limit", "page_num", "facets")
# Parameters whose values differ from list to list.
_CHOICES: Final = ("sort_by", "fields", "facets", "limit")
_PAGED: Final = 0.35
_SEARCHED: Final = 0.25
_DEFAULT_ORDER: Final = "created_at"
_DISTANCE: Final = "distance"
_FILTERS: Final = {0: 0.7, 1: 0.2, 2: 0.1}
# Filters by intervals of time, of which there are two among many: they are drawn more often than others.
_TIMES: Final = ("created_at", "updated_at")
_TIMES_WEIGHT: Final = 4


def _values(form: Form) -> Values:
    """Return the values of a form of field, with the spellings that are equal in that form."""
    groups: dict[object, list[str]] = {}
    of_instants = form is oracle.instant
    for text in [*INTERVALS[form], *VALUES[form]] if of_instants else VALUES[form]:
        groups.setdefault(oracle.interval(form, text) if of_instants else form(text), []).append(text)
    return {spellings[0]: spellings for spellings in groups.values()}


def _names(known: Sequence[str]) -> Values:
    """Return lists of names, each with its spellings; the first is that of none."""
    lists = [known[start : start + length] for length in range(1, _MOST_NAMES + 1) for start in range(len(known))]
    spelled = [(",".join(names), " ,".join(reversed(names)), ",".join((*names, "", *names))) for names in lists]
    return {"": ("", " ", ","), **{spellings[0]: spellings for spellings in spelled}}


def _list(collection: Collection) -> Mapping[str, Values]:
    fields = sorted(collection.forms, key=_DEFAULT_ORDER.__ne__)
    distance, named = [_DISTANCE] if collection.located else [], _attributes(collection)
    return {
        **_filters(collection),
        **({OPEN_AT: _OPEN_AT, **_PLACES} if collection.located else {}),
        "q": _WORDS,
        **PAGING,
        "sort_by": {field: (field,) for field in [*fields, *named, *distance]},
        "fields": _names([*collection.members, "attributes", *named, *distance]),
        "facets": _names([*collection.facets, *named]),
    }


def _attributes(collection: Collection) -> Mapping[str, Sequence[str]]:
    return ATTRIBUTES["stores" if collection.located else "companies"]


def _filters(collection: Collection) -> Mapping[str, Values]:
    """Return the filters: of attributes, what values are equal depends on the data set."""
    by_attributes = {
        name: {part: (part,) for value in values for part in value.split("\n")}
        for name, values in _attributes(collection).items()
    }
    return {**{name: _values(collection.forms[name]) for name in collection.filters}, **by_attributes}


def _file(collection: Collection, *, of_csv: bool = False) -> Mapping[str, Values]:
    parameters = {name: values for name, values in _list(collection).items() if name not in _OF_PAGES}
    return {**parameters, **({"bom": _MARKS} if of_csv else {})}


def _map() -> Mapping[str, Values]:
    collection = oracle.STORES
    return {**_filters(collection), OPEN_AT: _OPEN_AT, "bbox": _PLACES["bbox"], "zoom": _ZOOM, "q": _WORDS}


def _search() -> Mapping[str, Values]:
    countries = {"country": _filters(oracle.STORES)["country"]}
    return {**countries, "near": _PLACES["near"], "q": _TYPED, "limit": {"8": ("8", " 8", "+8.0"), "3": ("3", "03")}}


# The path of a record, by the field that identifies it.
RECORDS: Final = {"store_id": "/stores/{store_id}", "company_id": "/companies/{company_id}"}
# Resource -> parameter -> values. Braces are for an identifier.
RESOURCES: Final[Mapping[str, Mapping[str, Values]]] = {
    "/stores": _list(oracle.STORES),
    "/companies": _list(oracle.COMPANIES),
    **{path: {} for path in RECORDS.values()},
    "/clusters": _map(),
    "/places": _search(),
    "/stores.csv": _file(oracle.STORES, of_csv=True),
    "/stores.ndjson": _file(oracle.STORES),
    "/stores.geojson": _file(oracle.STORES),
    "/companies.csv": _file(oracle.COMPANIES, of_csv=True),
    "/companies.ndjson": _file(oracle.COMPANIES),
}
# Resource -> how often it is requested.
_WEIGHTS: Final = dict.fromkeys(RESOURCES, 1) | {"/stores": 5, "/companies": 4, "/clusters": 4, "/places": 2}
# Resource -> parameters that must be given: another value than the first.
_REQUIRED: Final[Mapping[str, Sequence[str]]] = {"/clusters": ("bbox", "zoom"), "/places": ("q",)}
_SEARCH: Final = (OPEN_AT, *_PLACES, "zoom", "q")
ONCE: Final = (*_SEARCH, *PAGING, *_CHOICES, "bom")


class Question(msgspec.Struct, frozen=True):
    """A question in its canonical spelling."""

    resource: str
    path: str
    pairs: tuple[Pair, ...] = ()

    @property
    def query(self) -> str:
        """The canonical query string."""
        return urlencode(self.pairs)

    @property
    def is_file(self) -> bool:
        """Whether it asks for a whole file."""
        return self.path.endswith((".csv", ".ndjson", ".geojson"))

    def __str__(self) -> str:
        """Return the question, for a message."""
        return f"{self.path}?{self.query}" if self.pairs else self.path


# Queries of each run: what few of the others have.
_ALWAYS: Final[Sequence[tuple[Pair, ...]]] = ((), (("created_at", "2024-01-01/.."),), ((OPEN_AT, "2026-10-25T01:29Z"),))


class Questions:
    """The questions of a run: few, so that caches are hit.

    all   all of them
    like  pairs -> the questions of all resources with these pairs: caches must not confuse them
    """

    def __init__(self, draws: RandomDraws, identifiers: Identifiers, *, lists: int) -> None:
        """Draw `lists` queries for lists, and one question for each identifier."""
        drawn: set[Question] = set()
        for pairs in (*_ALWAYS, *(_pairs(draws, identifiers) for _ in range(lists))):
            drawn |= {Question(resource, resource, pairs) for resource in RESOURCES if _takes(resource, pairs)}
        drawn |= {_record(field, each) for field, known in identifiers.items() for each in known}
        self.all = sorted(drawn, key=lambda question: (question.path, question.pairs))
        self.like: dict[tuple[Pair, ...], list[Question]] = {}
        self._of: dict[str, list[Question]] = {}
        for question in self.all:
            self.like.setdefault(question.pairs, []).append(question)
            self._of.setdefault(question.resource, []).append(question)

    def draw(self, draws: RandomDraws) -> Question:
        """Return a random question, most often of a resource that most clients request."""
        return draws.one(self._of[draws.weighted({path: _WEIGHTS[path] for path in self._of})])


def _record(field: str, identifier: str) -> Question:
    path = RECORDS[field]
    return Question(path, path.replace(f"{{{field}}}", quote(identifier, safe="")))


def _pairs(draws: RandomDraws, identifiers: Identifiers) -> tuple[Pair, ...]:
    """Return the pairs of a query for a list or a map, sorted, without defaults."""
    resource = draws.weighted({resource: _WEIGHTS[resource] for resource, taken in RESOURCES.items() if taken})
    parameters, required = RESOURCES[resource], _REQUIRED.get(resource, ())
    filters = {name: _TIMES_WEIGHT if name in _TIMES else 1 for name in parameters if name not in ONCE}
    pairs = set()
    for _ in range(draws.weighted(_FILTERS)):
        name = draws.weighted(filters)
        values = identifiers.get(name) or list(parameters[name])
        pairs |= {(name, draws.one(values)) for _ in range(draws.weighted({1: 2, 2: 1}))}
    for name in ONCE:
        if name in parameters:
            value = draws.one(list(parameters[name])[name in required :])
            if draws.happens(_SEARCHED if name in _SEARCH else _PAGED) or name in required:
                pairs.add((name, value))
    return tuple(sorted(_valid(pairs, parameters)))


def _valid(pairs: AbstractSet[Pair], parameters: Mapping[str, Values]) -> Iterator[Pair]:
    """Yield pairs without defaults, and without those that need a point if there is none."""
    has_point = any(name == "near" and value for name, value in pairs)
    for name, value in pairs:
        needs_point = name == "radius" or (name in ("sort_by", "fields") and _DISTANCE in value.split(","))
        is_default = name in ONCE and value == default(name, parameters, has_point=has_point)
        if not is_default and (has_point or not needs_point):
            yield name, value


def default(name: str, parameters: Mapping[str, Values], *, has_point: bool) -> str:
    """Return the value of a parameter that is as if it was omitted."""
    return _DISTANCE if name == "sort_by" and has_point else next(iter(parameters[name]))


def _takes(resource: str, pairs: Sequence[Pair]) -> bool:
    """Return whether a resource is a list or a map with these parameters."""
    parameters, names = RESOURCES[resource], {name for name, _ in pairs}
    if not parameters or not names.issuperset(_REQUIRED.get(resource, ())):
        return False
    return all(name in parameters and (name not in _CHOICES or value in parameters[name]) for name, value in pairs)


def spellings(resource: str, name: str, value: str) -> Sequence[str]:
    """Return all spellings of a value."""
    return RESOURCES[resource][name].get(value, (value,))
