"""Derive the places of a data set: of the cities and postal codes of its stores, and of the operator's list."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from itertools import compress
from operator import attrgetter
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import KEY_END, Rows, StringArray, build_column, join_keys
from service.engine.columns.ranking import Codes, rank_few
from service.engine.geography.grid import Floats, squared_chord
from service.engine.geography.locations import DIMENSIONS
from service.engine.geography.means import mean_vectors
from service.engine.places import Address, PlaceIndex, Places
from service.engine.table import Table
from service.engine.text_index import TextIndex, TextIndexBuilder
from service.loading.fast_path import read_plain_column
from service.model.kinds import POSTAL, WORDS, Kind
from service.model.places import CITY
from service.model.words import HYPHENS, spoken
from service.reading.files.places_file import PlaceKey, PlaceList, folded, key_of
from service.spool import Spools

_CLOSE: Final = squared_chord(50_000)  # of cities of one name that are the same
_AT_ONCE: Final = 1 << 10  # rows decoded
_BITS: Final = 32
_DECODE: Final = msgspec.json.Decoder(list[Address]).decode
_ENCODE: Final = msgspec.json.Encoder().encode

_Integers: TypeAlias = NDArray[np.integer]
_Flags: TypeAlias = NDArray[np.bool_]


class _Groups(msgspec.Struct, frozen=True, eq=False):
    """The stores of one kind of place.

    rows       the stores that have one
    groups     the number of the place of each of them
    firsts     place -> its first store in the default order
    provinces  place -> its first store with its province, or the same
    """

    rows: _Integers
    groups: _Integers
    firsts: _Integers
    provinces: _Integers


def derive_places(stores: Table, listed: PlaceList | None, spools: Spools) -> Places:
    """Return the places of stores and of a list: those that have a point."""
    found, names = _Found(), None if listed is None else _Names(listed)
    for is_city, groups in ((True, _cities(stores)), (False, _postal_codes(stores))):
        vectors, have_point = mean_vectors(*_vectors(stores, groups), len(groups.firsts))
        vectors[~have_point] = 0
        counts = np.bincount(groups.groups, minlength=len(vectors))
        for start in range(0, len(vectors), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            addresses, firsts = _spelled(stores, groups.firsts[part], groups.provinces[part])
            if names is not None:
                names.locate(addresses, vectors[part], is_city=is_city)
            located: _Flags = (vectors[part] != 0).any(axis=1)
            some = list(compress(addresses, located.tolist()))
            found.add([is_city] * len(some), some, counts[part][located], firsts[located], vectors[part][located])
    if names is not None:
        kinds, others, points = names.others()
        found.add(kinds, others, np.zeros(len(others), np.int32), np.full(len(others), -1), points)
    return _build(found, spools)


def _cities(stores: Table) -> _Groups:
    """Group stores by city, province and country: those without a province with the only others that have one."""
    city, province, country = (stores.columns[name] for name in ("city", "province", "country"))
    rows = (city.codes != city.null_code).nonzero()[0]
    pairs, _ = _numbered(city.codes[rows], country.codes[rows])
    triples, firsts = _numbered(pairs, province.codes[rows])
    pair_of = pairs[firsts]
    has_province = province.codes[rows][firsts] != province.null_code
    counts = np.bincount(pair_of[has_province], minlength=len(firsts))
    only = np.zeros(len(firsts), np.intp)  # pair -> the last of its triples with a province
    only[pair_of[has_province]] = has_province.nonzero()[0]
    joined = np.arange(len(firsts))
    alone = ~has_province & (counts[pair_of] == 1)
    joined[alone] = only[pair_of[alone]]
    of_place, groups = np.unique(joined, return_inverse=True)
    earliest = np.full(len(of_place), len(stores))
    np.minimum.at(earliest, groups, firsts)
    return _Groups(rows, groups[triples], rows[earliest], rows[firsts[of_place]])


def _postal_codes(stores: Table) -> _Groups:
    code, country = stores.columns["postal_code"], stores.columns["country"]
    rows = (code.codes != code.null_code).nonzero()[0]
    groups, firsts = _numbered(code.codes[rows], country.codes[rows])
    return _Groups(rows, groups, rows[firsts], rows[firsts])


def _numbered(some: _Integers, others: _Integers) -> tuple[_Integers, _Integers]:
    """Return the number of each pair of numbers among the distinct ones, and the first position of each of these."""
    joined = some.astype(np.int64) << 32 | others.astype(np.int64)
    _, firsts, numbers = np.unique(joined, return_index=True, return_inverse=True)
    return numbers, firsts


def _vectors(stores: Table, groups: _Groups) -> tuple[_Integers, Floats]:
    """Return of the located stores of places their groups and unit vectors."""
    if stores.locations is None:
        return groups.groups[:0], np.empty((0, 3))
    positions = stores.locations.positions.take(groups.rows)
    located = positions < stores.locations.count
    return groups.groups[located], stores.locations.points.take(positions[located], axis=0)


def _spelled(stores: Table, firsts: _Integers, provinces: _Integers) -> tuple[list[Address], _Integers]:
    """Return what places are called, and the stores that spell them so; -1 for none."""
    addresses, spelling = _addresses(stores, firsts), firsts.copy()
    elsewhere = (provinces != firsts).nonzero()[0]
    for index, other in zip(elsewhere.tolist(), _addresses(stores, provinces[elsewhere]), strict=True):
        if other.province != addresses[index].province:
            addresses[index], spelling[index] = msgspec.structs.replace(addresses[index], province=other.province), -1
    return addresses, spelling


def _addresses(stores: Table, rows: _Integers) -> list[Address]:
    return _DECODE(b"[%b]" % b"".join(stores.json(rows.astype(np.int32))))


class _Names:
    """The places of a list by their names."""

    def __init__(self, listed: PlaceList) -> None:
        self._listed, self._is_other = listed, np.ones(len(listed.places), np.bool_)
        self._numbers: defaultdict[PlaceKey, list[int]] = defaultdict(list)
        for number, (is_city, address) in enumerate(listed.places):
            self._numbers[key_of(address, is_city=is_city)].append(number)

    def locate(self, addresses: Sequence[Address], vectors: Floats, *, is_city: bool) -> None:
        """Give places of stores the points of those of the list that are the same."""
        for index, address in enumerate(addresses):
            numbers = self._numbers.get(key_of(address, is_city=is_city), ())
            same = self._same(address, vectors[index], numbers) if is_city else next(iter(numbers), None)
            if same is not None:
                vectors[index], self._is_other[same] = self._listed.vectors[same], False

    def _same(self, city: Address, vector: Floats, numbers: Sequence[int]) -> int | None:
        """Return which of the cities of a name and country a city of stores is; None if it is none of them."""
        mine = folded(city.province)
        provinces = [folded(self._listed.places[number][1].province) for number in numbers]
        if not numbers or not vector.any():
            return numbers[provinces.index(mine)] if mine in provinces else numbers[0] if len(numbers) == 1 else None
        away = ((self._listed.vectors[list(numbers)] - vector) ** 2).sum(axis=1).tolist()
        near = [
            (chord, number)
            for chord, number, province in zip(away, numbers, provinces, strict=True)
            if province in (mine, None) or mine is None or chord <= _CLOSE
        ]
        return min(near)[1] if near else None

    def others(self) -> tuple[list[bool], list[Address], Floats]:
        """Return the places that are none of stores: whether each is a city, what it is called, and its point."""
        others = list(compress(self._listed.places, self._is_other.tolist()))
        return [is_city for is_city, _ in others], [each for _, each in others], self._listed.vectors[self._is_other]


class _Field(msgspec.Struct, frozen=True, eq=False):
    """A text of each place by its code: the number of the text from 1, or 0 for none."""

    codes: _Integers
    texts: Sequence[str]

    @property
    def joined(self) -> tuple[_Integers, bytes]:
        """The codes, and the texts as `join_keys`."""
        return self.codes, join_keys(self.texts)

    def of(self, chosen: _Flags) -> "_Field":
        """Return the texts of some places, and none of the others."""
        codes = np.where(chosen, self.codes, 0)
        used = np.bincount(codes, minlength=1)[1:].nonzero()[0]
        return _Field(np.where(codes, used.searchsorted(codes - 1) + 1, 0), [self.texts[at] for at in used.tolist()])


class _Found:
    """Places with a point, in any order; `firsts` and `addresses` are as in `Places`."""

    def __init__(self) -> None:
        self.parts = [(np.zeros(0, np.bool_), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, DIMENSIONS)))]
        self.addresses: list[bytes] = []
        self._fields = {name: (array("i"), defaultdict[str | None, int]()) for name in (CITY, "province", "country")}
        for _, numbers in self._fields.values():
            numbers.default_factory = numbers.__len__
            numbers[None] = 0
        self._postal_codes: list[str] = []  # one for each, as few are the same

    def add(
        self, kinds: Sequence[bool], addresses: Sequence[Address], stores: _Integers, firsts: _Integers, points: Floats
    ) -> None:
        """Add places, whether each is a city, and not a postal code; no store spells those of negative `firsts`."""
        own = firsts < 0
        firsts[own] = ~np.arange(len(self.addresses), len(self.addresses) + np.count_nonzero(own))
        self.addresses += map(_ENCODE, compress(addresses, own.tolist()))
        self.parts.append((np.array(kinds, np.bool_), stores.astype(np.int32), firsts.astype(np.int32), points))
        for name, (codes, numbers) in self._fields.items():
            codes.extend(map(numbers.__getitem__, map(attrgetter(name), addresses)))
        self._postal_codes += [
            each.postal_code or "" for each, is_city in zip(addresses, kinds, strict=True) if not is_city
        ]

    def fields(self, are_cities: _Flags) -> list[_Field]:
        """Return the city, province and country of all places, and the postal codes."""
        return [
            *(_Field(np.array(each, np.int32), list(filter(None, known))) for each, known in self._fields.values()),
            _Field(np.where(are_cities, 0, (~are_cities).cumsum()), self._postal_codes),
        ]


def _build(found: _Found, spools: Spools) -> Places:
    """Return the places in their order: those with the most stores first, then by name."""
    are_cities, stores, firsts, points = map(np.concatenate, zip(*found.parts, strict=True))
    fields = found.fields(are_cities)
    ranks = _ranks(are_cities, *fields)
    order = (-stores.astype(np.int64) << _BITS | ranks).argsort()
    is_city = are_cities[order]
    cities, provinces, countries, codes = (_Field(field.codes[order], field.texts) for field in fields)
    in_country, country_keys = _ranked(_keys(WORDS, countries.texts))
    of_country = np.append(len(country_keys), in_country)[countries.codes]
    compact = _keys(POSTAL, codes.texts)
    for hyphen in HYPHENS:
        compact = compact.replace(hyphen.encode(), b"")
    names = cities.of(is_city)
    by_words = _by_words(names, codes, compact)
    return Places(
        firsts=firsts[order],
        addresses=StringArray.of(found.addresses),
        are_cities=is_city.astype(np.uint8),
        stores=stores[order],
        ranks=ranks[order],
        vectors=points[order].ravel(),
        countries=of_country.astype(np.min_scalar_type(len(country_keys))),
        country_keys=country_keys,
        names=_index([names.joined, (codes.codes, join_keys(list(map(_with_joined, codes.texts))))], spools),
        others=_index([field.joined for field in (cities.of(~is_city), provinces, countries)], spools),
        spoken=_place_index(*by_words.joined),
        codes=_place_index(codes.codes, compact),
        backwards=StringArray.of(sorted({name[::-1].encode() for name in by_words.texts})),
    )


def _ranks(are_cities: _Flags, cities: _Field, provinces: _Field, countries: _Field, codes: _Field) -> Rows:
    """Return the rank of each place by name, city, province, country and kind; of no text first."""
    named, in_province, in_country = (
        np.append(np.int64(0), _ranked(_keys(WORDS, texts))[0] + np.int64(1))
        for texts in ([*cities.texts, *codes.texts], provinces.texts, countries.texts)
    )
    names = np.where(are_cities, cities.codes, codes.codes + len(cities.texts))
    area = in_province[provinces.codes] << _BITS | in_country[countries.codes] << 1 | ~are_cities
    by_name = np.lexsort((area, named[names] << _BITS | named[cities.codes]))
    ranks = np.empty(len(by_name), np.int32)
    ranks[by_name] = np.arange(len(by_name), dtype=np.int32)
    return ranks


def _keys(kind: Kind, texts: Sequence[str]) -> bytes:
    """Return the normalized keys of texts, in the format of `join_keys`."""
    plain = read_plain_column(kind, texts)
    return join_keys(list(map(kind.normalize, texts))) if plain is None else plain.keys


def _ranked(keys: bytes) -> tuple[Codes, StringArray]:
    """Return the code of each key, and the sorted distinct keys."""
    codes, distinct = rank_few(keys)
    return codes, StringArray.of(distinct.split(KEY_END)[:-1])


def _with_joined(code: str) -> str:
    """Return a postal code, also without its spaces."""
    return f"{code} {''.join(code.split())}" if " " in code else code


def _by_words(cities: _Field, codes: _Field, keys: bytes) -> _Field:
    """Return the words of cities, and of postal codes those that are not their keys, which most are without spaces."""
    odd = [(at, key.decode()) for at, key in enumerate(keys.split(KEY_END)[:-1]) if not key.isalnum()]
    words = zip(odd, spoken([codes.texts[at] for at, _ in odd]), strict=True)
    names = {at: name for (at, key), name in words if name.replace(" ", "") != key}
    numbers = np.zeros(1 + len(codes.texts), np.intp)
    numbers[[1 + at for at in names]] = np.arange(len(names)) + len(cities.texts) + 1
    texts = [*spoken(cities.texts), *names.values()]
    return _Field(np.where(cities.codes, cities.codes, numbers[codes.codes]), texts)


def _index(fields: Sequence[tuple[_Integers, bytes]], spools: Spools) -> TextIndex:
    """Return the index of the words of fields, whose texts are in the format of `join_keys`."""
    builder = TextIndexBuilder(spools)
    for codes, joined in fields:
        texts = StringArray.of(joined.split(KEY_END)[:-1])
        narrow = np.where(codes, codes - 1, len(texts)).astype(np.int32)
        builder.add(build_column(narrow, texts, filters=False), texts)
    return builder.build(len(fields[0][0]))


def _place_index(codes: _Integers, keys: bytes) -> PlaceIndex:
    """Return the index of the places whose codes are not 0, by the keys of codes."""
    numbers = codes.nonzero()[0].astype(np.int32)
    ranks, distinct = _ranked(keys)
    column = build_column(ranks[codes[numbers] - 1], distinct, filters=False)
    return PlaceIndex(distinct, column.starts, numbers[column.order])
