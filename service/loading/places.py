"""Derive the places of a data set: of the cities and postal codes of its stores, and of the operator's list."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.geography.grid import Floats, squared_chord
from service.engine.geography.means import mean_vectors
from service.engine.places import FoundPlace, Places, build_places, decode_address
from service.engine.table import Table
from service.reading.files.places_file import PlaceKey, PlaceList, folded, key_of
from service.spool import Spools

_CLOSE: Final = squared_chord(50_000)  # of cities of one name that are the same


class _Groups(msgspec.Struct, frozen=True, eq=False):
    """The stores of one kind of place.

    rows       the stores that have one
    groups     the number of the place of each of them
    firsts     place -> its first store in the default order
    provinces  place -> its first store with its province, or the same
    """

    rows: NDArray[np.integer]
    groups: NDArray[np.integer]
    firsts: NDArray[np.integer]
    provinces: NDArray[np.integer]


def derive_places(stores: Table, listed: PlaceList | None, spools: Spools) -> Places:
    """Return the places of stores and of a list: those that have a point."""
    found: list[FoundPlace] = []
    points: list[Floats] = []
    for is_city, groups in ((True, _cities(stores)), (False, _postal_codes(stores))):
        vectors, have_point = mean_vectors(*_vectors(stores, groups), len(groups.firsts))
        vectors[~have_point] = 0
        found += _spelled(stores, groups, is_city=is_city)
        points.append(vectors)
    vectors = np.concatenate(points)
    if listed is not None:
        others, of_others = _merged(found, vectors, listed)
        found += others
        vectors = np.concatenate((vectors, of_others))
    located = (vectors != 0).any(axis=1)
    return build_places(list(compress(found, located.tolist())), vectors[located], spools)


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


def _numbered(
    some: NDArray[np.integer], others: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return the number of each pair of numbers among the distinct ones, and the first position of each of these."""
    joined = some.astype(np.int64) << 32 | others.astype(np.int64)
    _, firsts, numbers = np.unique(joined, return_index=True, return_inverse=True)
    return numbers, firsts


def _vectors(stores: Table, groups: _Groups) -> tuple[NDArray[np.integer], Floats]:
    """Return of the located stores of places their groups and unit vectors."""
    if stores.locations is None:
        return groups.groups[:0], np.empty((0, 3))
    positions = stores.locations.positions.take(groups.rows)
    located = positions < stores.locations.count
    return groups.groups[located], stores.locations.points.take(positions[located], axis=0)


def _spelled(stores: Table, groups: _Groups, *, is_city: bool) -> Iterator[FoundPlace]:
    """Yield places as their first stores spell them."""
    counts = np.bincount(groups.groups, minlength=len(groups.firsts)).tolist()
    for first, other, count in zip(groups.firsts.tolist(), groups.provinces.tolist(), counts, strict=True):
        address = decode_address(stores.row(first))
        if other != first and (province := decode_address(stores.row(other)).province) != address.province:
            yield FoundPlace(is_city, msgspec.structs.replace(address, province=province), count)
        else:
            yield FoundPlace(is_city, address, count, first)


def _merged(found: Sequence[FoundPlace], vectors: Floats, listed: PlaceList) -> tuple[Iterator[FoundPlace], Floats]:
    """Give places of stores the points of those of a list that are the same; return the others, and their points."""
    by_key: defaultdict[PlaceKey, list[int]] = defaultdict(list)
    for number, (is_city, address) in enumerate(listed.places):
        by_key[key_of(address, is_city=is_city)].append(number)
    is_other = np.ones(len(listed.places), np.bool_)
    for index, place in enumerate(found):
        same = _same(place, vectors[index], by_key, listed)
        if same is not None:
            vectors[index], is_other[same] = listed.vectors[same], False
    others = (FoundPlace(*each, 0) for each in compress(listed.places, is_other.tolist()))
    return others, listed.vectors[is_other]


def _same(place: FoundPlace, vector: Floats, by_key: Mapping[PlaceKey, Sequence[int]], listed: PlaceList) -> int | None:
    """Return the number of the place of a list that a place of stores is; None if there is none."""
    numbers = by_key.get(key_of(place.address, is_city=place.is_city), ())
    if not place.is_city or not numbers:
        return numbers[0] if numbers else None
    mine = folded(place.address.province)
    provinces = [folded(listed.places[number][1].province) for number in numbers]
    if not vector.any():
        return numbers[provinces.index(mine)] if mine in provinces else numbers[0] if len(numbers) == 1 else None
    away = ((listed.vectors[list(numbers)] - vector) ** 2).sum(axis=1).tolist()
    near = [
        (chord, number)
        for chord, number, province in zip(away, numbers, provinces, strict=True)
        if province in (mine, None) or mine is None or chord <= _CLOSE
    ]
    return min(near)[1] if near else None
