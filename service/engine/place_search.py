"""The search for places: those found by their words, areas of postal codes, or a suggestion for a misspelt name.

A suggestion is one edit away: a character inserted, deleted or replaced, or two neighbours swapped. That leaves one
half of a text as it is, unless it swaps the characters between the halves: names with the first half are next to each
other in sorted names, and those with the second in the sorted reversed ones. Of many, only those are looked up that
differ at one place.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import attrgetter
from typing import Final

import msgspec
import numpy as np
from msgspec import UnsetType
from numpy.typing import NDArray

from service.engine.columns.column import Rows, StringArray, union
from service.engine.columns.row_budget import spend
from service.engine.geography.locations import squared_chords
from service.engine.geography.means import mean_vectors, rounded_degrees
from service.engine.places import Places
from service.engine.table import Table
from service.engine.text_index import TermMatch
from service.model.coordinates import Coordinates
from service.model.places import POSTAL_AREA, Place, PlacePage
from service.model.query import Filter, Query
from service.model.words import Phrase, Term

# To find a word takes as long as to look at so many rows, and to sort a place by distance as at so many.
_FINDING: Final = 1000
_SORTING: Final = 2
_LISTING: Final = 8  # places listed in the time of looking at one
_SHORTEST: Final = 4  # characters of a text that a suggestion is made for
_Near = Coordinates | UnsetType


def search(places: Places, stores: Table, query: Query) -> PlacePage:
    """Return the page of places of a query, given the stores that spell them."""
    phrase, wanted = query.place or Phrase(()), _Countries(places, query.filters)
    numbers = _found(places, phrase, wanted)
    if len(numbers):
        same = wanted.among(places.having(phrase.words, stores))
        data = places.places(_ordered(places, numbers, same, query), stores)
    else:
        areas = list(_areas(places, stores, phrase.code, wanted))
        data = [area.place for area in _by_rank(areas, query.near)[: query.limit]]
    suggestion = None if data else _suggestion(places, stores, " ".join(phrase.words), wanted)
    return PlacePage(data, suggestion)


class _Countries:
    """The countries that a query accepts."""

    def __init__(self, places: Places, filters: Sequence[Filter]) -> None:
        self._countries, self._accepted = places.countries, None
        if filters:
            spend(_FINDING * len(filters[0].keys))
            found = map(places.country_keys.find, map(str, filters[0].keys))
            self._accepted = np.zeros(len(places.country_keys) + 1, np.bool_)
            self._accepted[[code for code in found if code is not None]] = True

    def among(self, numbers: Rows) -> Rows:
        """Return those of some places that are in one of them."""
        if self._accepted is None:
            return numbers
        spend(len(numbers))
        return numbers[self._accepted.take(self._countries.take(numbers))]


def _found(places: Places, phrase: Phrase, wanted: _Countries) -> Rows:
    """Return the places with all words, at least one of them in the name, ascending."""
    words = [[_Match(places, term) for term in terms] for terms in phrase.terms_of_words]
    if not words:
        spend(len(places) // _LISTING)
        return wanted.among(np.arange(len(places), dtype=np.int32))
    if len(words) == 1:
        return _with_all([match.in_name for match in words[0]], wanted)
    numbers = _with_all([match for word in words for match in word], wanted)
    spend(len(numbers) * len(words))
    named = [reduce(np.logical_and, [match.in_name.matches(numbers) for match in word]) for word in words]
    return numbers[reduce(np.logical_or, named)]


class _Match:
    """The matches of a term in any field of places, and those in their names."""

    def __init__(self, places: Places, term: Term) -> None:
        spend(2 * _FINDING)
        self.in_name, self._in_others = places.names.match(term), places.others.match(term)
        self.count = self.in_name.count + self._in_others.count

    def rows(self) -> Rows:
        """Return the matching places, ascending."""
        return union([self.in_name.rows(), self._in_others.rows()])

    def matches(self, numbers: Rows) -> NDArray[np.bool_]:
        """Return for each of some places whether it matches."""
        return self.in_name.matches(numbers) | self._in_others.matches(numbers)


def _with_all(matches: Sequence[_Match | TermMatch], wanted: _Countries) -> Rows:
    """Return the places that match all of some terms."""
    fewest, *others = sorted(matches, key=attrgetter("count"))
    spend(fewest.count * len(matches))
    numbers = wanted.among(fewest.rows())
    for match in others:
        numbers = numbers[match.matches(numbers)]
    return numbers


def _ordered(places: Places, numbers: Rows, first: Rows, query: Query) -> Rows:
    """Return the first of some places in the order of a query, some of them before all others."""
    if len(first):
        numbers = numbers[np.isin(numbers, first, assume_unique=True, invert=True)]
    nearest = _nearest(places, first, query)
    return np.concatenate((nearest, _nearest(places, numbers, query)))[: query.limit]


def _nearest(places: Places, numbers: Rows, query: Query) -> Rows:
    """Return the first of some places, by distance if the query has a point."""
    limit = query.limit
    if not query.near:
        return numbers[:limit]
    spend(_SORTING * len(numbers))
    chords = squared_chords(query.near, places.points.take(numbers, axis=0))
    if len(numbers) > limit:
        near = (chords <= np.partition(chords, limit - 1)[limit - 1]).nonzero()[0]
        numbers, chords = numbers.take(near), chords.take(near)
    return numbers[np.lexsort((places.ranks.take(numbers), chords))][:limit]


class _Area(msgspec.Struct, frozen=True):
    """An area, its unit vector, and the rank of its country."""

    place: Place
    vector: NDArray[np.float64]
    rank: int


def _areas(places: Places, stores: Table, code: str, wanted: _Countries) -> Iterator[_Area]:
    """Yield the areas of the longest beginning of a postal code, of at least half of it, that postal codes have."""
    for length in range(len(code), (len(code) - 1) // 2 if code else 0, -1):
        spend(_FINDING)
        numbers = wanted.among(places.codes.beginning(code[:length]))
        if not len(numbers):
            continue
        spend(_SORTING * len(numbers))
        countries, firsts, groups = np.unique(places.countries.take(numbers), return_index=True, return_inverse=True)
        vectors, have_point = mean_vectors(groups, places.points.take(numbers, axis=0), len(countries))
        counts = np.bincount(groups, places.stores.take(numbers)).astype(np.int64)
        latitudes, longitudes = rounded_degrees(vectors)
        for each in have_point.nonzero()[0].tolist():
            country = places.address(int(numbers[firsts[each]]), stores).country
            point, count = (float(latitudes[each]), float(longitudes[each])), int(counts[each])
            area = Place(code[:length].upper(), POSTAL_AREA, None, None, country, *point, count)
            yield _Area(area, vectors[each], -1 if country is None else int(countries[each]))
        return


def _by_rank(areas: Sequence[_Area], near: _Near) -> list[_Area]:
    """Return areas in the order of a query; they have one name."""
    if not near:
        return sorted(areas, key=lambda area: (-area.place.stores, area.rank))
    return sorted(areas, key=lambda area: (squared_chords(near, area.vector[np.newaxis])[0], area.rank))


def _suggestion(places: Places, stores: Table, name: str, wanted: _Countries) -> str | None:
    """Return the name of a city that is one edit away, of several that with the most stores; None if there is none."""
    if len(name) < _SHORTEST:
        return None
    found = list[tuple[int, str, int]]()
    for each in one_edit_away(name, places.spoken.keys, places.backwards):
        numbers = wanted.among(places.spoken.find(each))
        cities = numbers[places.are_cities.take(numbers) == 1]
        if len(cities):
            found.append((-int(places.stores.take(cities).sum(dtype=np.int64)), each, int(cities[0])))
    return places.address(min(found)[2], stores).city if found else None


_FEW: Final = 24  # names compared one by one, which takes as long as to look a dozen up
# To look a name up takes as long as to look at so many rows.
_LOOKING_UP: Final = 200


def one_edit_away(text: str, names: StringArray, backwards: StringArray) -> set[str]:
    """Return the names one edit away from a text; `backwards` are the reversed ones."""
    half = len(text) // 2
    found = set(_changed(text, names, half))
    found |= {name[::-1] for name in _changed(text[::-1], backwards, len(text) - half)}
    swapped = _swapped(text, half - 1)
    return found | ({swapped} if swapped != text and _has(names, swapped) else set())


def is_one_edit(text: str, name: str) -> bool:
    """Return whether a name is one edit away from another text."""
    at = next((place for place, pair in enumerate(zip(text, name, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return abs(len(text) - len(name)) == 1
    rest = name[at:]
    return text[at + 1 :] in (rest, rest[1:]) or text[at:] == rest[1:] or _swapped(text, at)[at:] == rest


def _changed(text: str, names: StringArray, start: int) -> Iterator[str]:
    """Yield the names that are one edit away after their first `start` characters, which are those of the text."""
    for at in range(start, len(text) + 1):
        head, tail = text[:at], text[at:]
        having = _beginning(names, head)
        if len(having) <= _FEW:
            spend(_LOOKING_UP * len(having) // 2)
            yield from (name for name in (names[each].decode() for each in having) if is_one_edit(text, name))
            return
        changed = {head + tail[1:], _swapped(text, at)} if tail else set[str]()
        for character in _following(names, len(head), having):
            changed |= {head + character + tail, head + character + tail[1:]}
        yield from (name for name in changed if name != text and _has(names, name))


def _following(names: StringArray, length: int, having: range) -> Iterator[str]:
    """Yield the different characters that follow the first `length` ones, which are the same, in a range of names."""
    first = having.start
    while first < having.stop:
        name = names[first].decode()
        if len(name) == length:
            first += 1
        else:
            yield name[length]
            first = _beginning(names, name[: length + 1]).stop


def _beginning(names: StringArray, text: str) -> range:
    spend(_LOOKING_UP)
    return names.beginning(text)


def _has(names: StringArray, name: str) -> bool:
    spend(_LOOKING_UP)
    return names.find(name) is not None


def _swapped(text: str, at: int) -> str:
    """Return a text with the characters at a place and after it swapped."""
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
