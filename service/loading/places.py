"""Derive the places of a data set: of the cities and postal codes of its stores, and of the operator's list."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import KEY_END, NULL_KEY, Rows, StringArray, build_column, join_keys
from service.engine.columns.ranking import Codes, rank_few
from service.engine.geography.grid import Floats, squared_chord
from service.engine.geography.means import mean_vectors
from service.engine.places import Address, PlaceIndex, Places
from service.engine.table import Table
from service.engine.text_index import TextIndex, TextIndexBuilder
from service.loading.compiler import with_and_without_spaces
from service.loading.fast_path import read_plain_column
from service.model.kinds import POSTAL, WORDS, Kind
from service.model.words import ACCENT, HYPHENS, spoken
from service.reading.batch import TextCells
from service.reading.files.places_file import PlaceKey, PlaceList, folded, key_of
from service.spool import Spools

_CLOSE: Final = squared_chord(50_000)  # of cities of one name that are the same
_AT_ONCE: Final = 1 << 10  # rows decoded
_BITS: Final = 32
_WORDS: Final = ("city", "province", "country")
_FIELDS: Final = (*_WORDS, "postal_code")
_CODES: Final = len(_WORDS)
_JOINED: Final = re.compile(b" [^ %b]+(?=%b)" % (KEY_END, KEY_END))  # a postal code without its spaces, after it
_IN_CODES: Final = np.array([bytes([byte]).isalnum() or byte == KEY_END[0] for byte in range(256)])
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


class Texts(msgspec.Struct, frozen=True, eq=False):
    """A text of each store or place by its code, its number among `texts`."""

    codes: _Integers
    texts: StringArray

    @classmethod
    def of(cls, codes: _Integers, texts: StringArray) -> "Texts":
        """Return texts of stores, empty for the code of no text."""
        return cls(codes, StringArray(texts.data, np.append(texts.offsets, texts.offsets[-1])))

    def only(self, chosen: _Flags) -> "Texts":
        """Return the texts of some places; their number is the code of the others."""
        codes, used = np.where(chosen, self.codes, len(self.texts)), np.zeros(len(self.texts) + 1, np.bool_)
        used[codes] = True
        data, ends = self.texts.joined(used[:-1].nonzero()[0])
        return Texts((used.cumsum() - used)[codes], StringArray(memoryview(data), np.append(0, ends)))


def derive_places(stores: Table, postal_codes: Texts, listed: PlaceList | None, spools: Spools) -> Places:
    """Return the places of stores and of a list: those that have a point.

    The postal codes of stores are as they are searched: a code with spaces, then without.
    """
    names = None if listed is None else _Names(listed)
    found = _Found([*(_spelled(stores, name) for name in _WORDS), postal_codes])
    for is_city, groups in ((True, _cities(stores)), (False, _postal_codes(stores))):
        vectors, have_point = mean_vectors(*_vectors(stores, groups), len(groups.firsts))
        vectors[~have_point] = 0
        own = _own_addresses(stores, groups)
        if names is not None:
            for start in range(0, len(vectors), _AT_ONCE):
                part = slice(start, start + _AT_ONCE)
                addresses = enumerate(_addresses(stores, groups.firsts[part]), start)
                names.locate([own.get(at, each) for at, each in addresses], vectors[part], is_city=is_city)
        found.add(groups, vectors, own, is_city=is_city)
    if names is not None:
        found.add_listed(*names.others())
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
    joined = some.astype(np.int64) << _BITS | others.astype(np.int64)
    order = joined.argsort()  # with the minimum below, half the time of `np.unique`
    joined = joined[order]
    is_first = np.append(len(joined) > 0, joined[1:] != joined[:-1])[: len(joined)]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = is_first.cumsum() - 1
    return numbers, np.minimum.reduceat(order, is_first.nonzero()[0]) if len(order) else order


def _vectors(stores: Table, groups: _Groups) -> tuple[_Integers, Floats]:
    """Return of the located stores of places their groups and unit vectors."""
    if stores.locations is None:
        return groups.groups[:0], np.empty((0, 3))
    positions = stores.locations.positions.take(groups.rows)
    located = positions < stores.locations.count
    return groups.groups[located], stores.locations.points.take(positions[located], axis=0)


def _spelled(stores: Table, name: str) -> Texts:
    """Return a field of stores by its words: those of its keys, or of its texts if they may be others."""
    column = stores.columns[name]
    texts = column.values or StringArray.of(())
    if ACCENT in bytes(texts.data):
        addresses = _addresses(stores, column.order[column.starts[:-1]])
        texts = StringArray.of([getattr(each, name).encode() for each in addresses])
    return Texts.of(column.codes, texts)


def _own_addresses(stores: Table, groups: _Groups) -> dict[int, Address]:
    """Return what places are called that have their province from another store than the first."""
    elsewhere = (groups.provinces != groups.firsts).nonzero()[0]
    firsts, others = (_addresses(stores, rows[elsewhere]) for rows in (groups.firsts, groups.provinces))
    return {
        at: msgspec.structs.replace(address, province=other.province)
        for at, address, other in zip(elsewhere.tolist(), firsts, others, strict=True)
        if other.province != address.province
    }


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


class _Found:
    """Places with a point, in any order.

    parts      of some places: whether they are cities, `stores`, `firsts`, `vectors`, and the codes of their texts
    addresses  as in `Places`
    texts      of the cities, provinces, countries and postal codes
    """

    def __init__(self, stores: Sequence[Texts]) -> None:
        self._stores, self.texts = stores, [field.texts for field in stores]
        self.parts: list[list[NDArray[np.generic]]] = []
        self.addresses: list[bytes] = []

    def add(self, groups: _Groups, vectors: Floats, own: Mapping[int, Address], *, is_city: bool) -> None:
        """Add the places of stores; `own` is what those are called that no store spells."""
        firsts = groups.firsts.copy()
        located: _Flags = (vectors != 0).any(axis=1)
        for at, address in own.items():
            if located[at]:
                firsts[at] = ~len(self.addresses)
                self.addresses.append(_ENCODE(address))
        counts = np.bincount(groups.groups, minlength=len(vectors))
        rows = (groups.firsts, groups.provinces, groups.firsts, groups.firsts)
        codes = (field.codes[each] for field, each in zip(self._stores, rows, strict=True))
        parts = (np.full(len(firsts), is_city), counts, firsts, vectors, *codes)
        self.parts.append([part[located] for part in parts])

    def add_listed(self, are_cities: Sequence[bool], addresses: Sequence[Address], vectors: Floats) -> None:
        """Add places of a list."""
        count = len(addresses)
        firsts = ~np.arange(len(self.addresses), len(self.addresses) + count)
        self.addresses += map(_ENCODE, addresses)
        codes = [self._number(index, [getattr(each, name) for each in addresses]) for index, name in enumerate(_FIELDS)]
        self.parts.append([np.array(are_cities, np.bool_), np.zeros(count, np.int64), firsts, vectors, *codes])

    def _number(self, field: int, texts: Sequence[str | None]) -> _Integers:
        """Return the codes of more texts of a field."""
        known = self.texts[field]
        numbers: dict[str | None, int] = {None: len(self._stores[field].texts) - 1}
        for text in filter(None, texts):
            numbers.setdefault(text, len(known) + len(numbers) - 1)
        more = [with_and_without_spaces(text) if field == _CODES else text for text in filter(None, numbers)]
        self.texts[field] = StringArray.of([*known, *map(str.encode, more)])
        return np.array([numbers[text or None] for text in texts], np.int64)


def _build(found: _Found, spools: Spools) -> Places:
    """Return the places in their order: those with the most stores first, then by name."""
    are_cities, stores, firsts, vectors, *codes = map(np.concatenate, zip(*found.parts, strict=True))
    every = np.ones(len(are_cities), np.bool_)
    chosen = (every, every, every, ~are_cities)
    fields = [Texts(each, texts).only(some) for each, texts, some in zip(codes, found.texts, chosen, strict=True)]
    written = StringArray.of(_JOINED.sub(b"", fields[_CODES].texts.ended(KEY_END)).split(KEY_END)[:-1])
    ranks = _ranks(are_cities, [*fields[:_CODES], Texts(fields[_CODES].codes, written)])
    order = (-stores.astype(np.int64) << _BITS | ranks).argsort()
    is_city = are_cities[order]
    cities, provinces, countries, postal_codes = (Texts(field.codes[order], field.texts) for field in fields)
    in_country, country_keys = _ranked(_keys(WORDS, countries.texts))  # each place has one
    compact = _keys(POSTAL, written)
    for hyphen in HYPHENS:
        compact = compact.replace(hyphen.encode(), b"")
    names = cities.only(is_city)
    by_words, words = _by_words(is_city, names, Texts(postal_codes.codes, written), compact)
    return Places(
        firsts=firsts[order].astype(np.int32),
        addresses=StringArray.of(found.addresses),
        are_cities=is_city.astype(np.uint8),
        stores=stores[order].astype(np.int32),
        ranks=ranks[order],
        vectors=vectors[order].ravel(),
        countries=in_country[countries.codes].astype(np.min_scalar_type(len(country_keys))),
        country_keys=country_keys,
        names=_index([names, postal_codes], spools),
        others=_index([cities.only(~is_city), provinces, countries], spools),
        spoken=_place_index(by_words >= 0, by_words, join_keys(words)),
        codes=_place_index(~is_city, postal_codes.codes, compact),
        backwards=StringArray.of(sorted({name[::-1].encode() for name in words})),
    )


def _ranks(are_cities: _Flags, fields: Sequence[Texts]) -> Rows:
    """Return the rank of each place by name, city, province, country and kind; of no text first."""
    cities, provinces, countries, codes = fields
    names = np.append(_ranked(_keys(WORDS, cities.texts) + _keys(WORDS, codes.texts))[0].astype(np.int64), 0)
    in_province, in_country = (_ranked(_keys(WORDS, each.texts))[0].astype(np.int64) for each in (provinces, countries))
    city = names[cities.codes]
    name = np.where(are_cities, city, names[codes.codes + len(cities.texts)])
    area = in_province[provinces.codes] << _BITS | in_country[countries.codes] << 1 | ~are_cities
    by_name = np.lexsort((area, name << _BITS | city))
    ranks = np.empty(len(by_name), np.int32)
    ranks[by_name] = np.arange(len(by_name), dtype=np.int32)
    return ranks


def _keys(kind: Kind, texts: StringArray) -> bytes:
    """Return the normalized keys of texts, in the format of `join_keys`."""
    lines = texts.ended(b"\n").decode()
    decoded = TextCells(lines.split("\n")[:-1], lines)
    if len(decoded) != len(texts):
        decoded = TextCells(map(bytes.decode, texts))
    plain = read_plain_column(kind, decoded)
    return join_keys(list(map(kind.normalize, decoded))) if plain is None else plain.keys.replace(NULL_KEY, b"")


def _ranked(keys: bytes) -> tuple[Codes, StringArray]:
    """Return the code of each key, and the sorted distinct keys."""
    codes, distinct = rank_few(keys)
    return codes, StringArray.of(distinct.split(KEY_END)[:-1])


def _by_words(is_city: _Flags, cities: Texts, codes: Texts, keys: bytes) -> tuple[_Integers, list[str]]:
    """Return the words of cities, and of postal codes those that are not their keys, which most are without spaces.

    Places without them have the code -1.
    """
    data = np.frombuffer(keys, np.uint8)
    ends = (data == KEY_END[0]).nonzero()[0]
    odd = np.unique(ends.searchsorted((~_IN_CODES[data]).nonzero()[0])).tolist()
    compact, words = keys.split(KEY_END), spoken([codes.texts[at].decode() for at in odd])
    names = {at: name for at, name in zip(odd, words, strict=True) if name.replace(" ", "") != compact[at].decode()}
    numbers = np.full(len(codes.texts) + 1, -1)
    numbers[list(names)] = np.arange(len(names)) + len(cities.texts)
    texts = [*spoken([text.decode() for text in cities.texts]), *names.values()]
    return np.where(is_city, cities.codes, numbers[codes.codes]), texts


def _index(fields: Sequence[Texts], spools: Spools) -> TextIndex:
    """Return the index of the words of fields."""
    builder = TextIndexBuilder(spools)
    for field in fields:
        builder.add(build_column(field.codes.astype(np.int32), field.texts, filters=False), field.texts)
    return builder.build(len(fields[0].codes))


def _place_index(chosen: _Flags, codes: _Integers, keys: bytes) -> PlaceIndex:
    """Return the index of some places by the keys of codes, of which others may be unused."""
    numbers = chosen.nonzero()[0].astype(np.int32)
    ranks, distinct = _ranked(keys)
    column = build_column(ranks[codes[numbers]], distinct, filters=False)
    return PlaceIndex(distinct, column.starts, numbers[column.order])
