"""The places of a data set, numbered in their order: those with the most stores first, then by name."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Column, Rows, SortedStrings, StringArray, build_column, merge
from service.engine.geography.grid import Floats
from service.engine.geography.locations import DIMENSIONS
from service.engine.geography.means import rounded_degrees
from service.engine.table import Table
from service.engine.text_index import TextIndex, TextIndexBuilder
from service.model.kinds import fold
from service.model.places import CITY, POSTAL_CODE, Place
from service.model.words import compact, spoken
from service.spool import Spools

CACHE_BYTES: Final = 1 << 20  # of each index of words, in a process that serves
_AFTER_TEXT: Final = b"\xff"  # sorts after every text in UTF-8


class Address(msgspec.Struct, frozen=True):
    """What a record has of its place."""

    city: str | None = None
    province: str | None = None
    country: str | None = None
    postal_code: str | None = None


decode_address: Final = msgspec.json.Decoder(Address).decode
_ENCODE: Final = msgspec.json.Encoder().encode


class PlaceIndex(msgspec.Struct, frozen=True, eq=False):
    """Places by a key.

    keys     the sorted distinct keys
    starts   key -> start of its places in `numbers`; the last item is their number
    numbers  the places with each key, ascending
    """

    keys: StringArray
    starts: Rows
    numbers: Rows

    def find(self, key: str) -> Rows:
        """Return the places with a key."""
        code = self.keys.find(key.encode())
        return self.numbers[:0] if code is None else self.numbers[self.starts[code] : self.starts[code + 1]]

    def beginning(self, text: str) -> Rows:
        """Return the places whose keys begin with a text, by key."""
        encoded = text.encode()
        first, stop = self.keys.bisect(encoded), self.keys.bisect(encoded + _AFTER_TEXT)
        return self.numbers[self.starts[first] : self.starts[stop]]


class Places(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Places by number: numbers ascend in the default order. Immutable.

    firsts         place -> the row of the store that spells it, or the complement of an item of `addresses`
    addresses      as JSON, of places that no store spells
    are_cities     place -> 1 if it is a city, 0 if it is a postal code
    stores         place -> its number of stores
    ranks          place -> its rank by name, city, province, country and kind
    vectors        place -> its three coordinates on the unit sphere, one after the other
    countries      place -> its country in `country_keys`, their number for none
    country_keys   the sorted normalized keys of countries
    names, others  the words of names, and of the other fields
    spoken         by the words of their names, joined by spaces: cities, and postal codes of other words than `codes`
    codes          by postal code without spaces and hyphens
    backwards      the keys of `spoken`, reversed and sorted
    """

    firsts: Rows
    addresses: StringArray
    are_cities: NDArray[np.uint8]
    stores: Rows
    ranks: Rows
    vectors: Floats
    countries: NDArray[np.unsignedinteger]
    country_keys: StringArray
    names: TextIndex
    others: TextIndex
    spoken: PlaceIndex
    codes: PlaceIndex
    backwards: StringArray

    def __len__(self) -> int:
        return len(self.firsts)

    @cached_property
    def points(self) -> Floats:
        """The unit vector of each place."""
        return self.vectors.reshape(-1, DIMENSIONS)

    def having(self, words: Sequence[str], stores: Table) -> Rows:
        """Return the places whose names have exactly some words, ascending, given the table of stores."""
        name, codes = " ".join(words), self.codes.find("".join(words))
        spelled = [self.address(number, stores).postal_code or "" for number in codes.tolist()]
        same = [each == name for each in spoken(spelled)]
        return merge([self.spoken.find(name), codes[np.array(same, np.bool_)]])

    def places(self, numbers: Rows, stores: Table) -> list[Place]:
        """Return places, given the table of stores."""
        degrees = (each.tolist() for each in rounded_degrees(self.points.take(numbers, axis=0)))
        parts = (numbers.tolist(), self.are_cities.take(numbers).tolist(), self.stores.take(numbers).tolist())
        return [
            _place(self.address(number, stores), bool(is_city), latitude, longitude, count)
            for number, is_city, count, latitude, longitude in zip(*parts, *degrees, strict=True)
        ]

    def address(self, number: int, stores: Table) -> Address:
        """Return what a place is called, given the table of stores."""
        first = int(self.firsts[number])
        return decode_address(stores.row(first) if first >= 0 else self.addresses[~first])

    def prepare(self) -> None:
        """Make the indexes by which names and words are found, so that no request has to."""
        indexed: tuple[SortedStrings, ...] = (self.country_keys, self.names.words, self.others.words)
        for strings in (*indexed, self.spoken.keys, self.codes.keys, self.backwards):
            strings.sparse_index  # noqa: B018 - which is kept


def _place(address: Address, is_city: bool, latitude: float, longitude: float, count: int) -> Place:  # noqa: FBT001 - of a row
    return Place(
        name=(address.city if is_city else address.postal_code) or "",
        kind=CITY if is_city else POSTAL_CODE,
        city=address.city,
        province=address.province,
        country=address.country,
        latitude=latitude,
        longitude=longitude,
        stores=count,
    )


class FoundPlace(msgspec.Struct, frozen=True, gc=False):
    """A city, or else a postal code; `first` is the row of the store that spells it, -1 if none does."""

    is_city: bool
    address: Address
    stores: int
    first: int = -1

    @property
    def name(self) -> str:
        """The city or the postal code."""
        return (self.address.city if self.is_city else self.address.postal_code) or ""


def build_places(found: Sequence[FoundPlace], vectors: Floats, spools: Spools) -> Places:
    """Return the places of those that were found, in any order, and their unit vectors."""
    flags = [place.is_city for place in found]
    are_cities, counts = np.array(flags, np.bool_), np.array([place.stores for place in found], np.int32)
    names = _Texts(place.name for place in found)
    cities, provinces, countries = (
        _Texts(getattr(place.address, field) for place in found) for field in ("city", "province", "country")
    )
    by_name = np.lexsort((~are_cities, *(field.ranks for field in (countries, provinces, cities, names))))
    ranks = np.empty(len(by_name), np.int32)
    ranks[by_name] = np.arange(len(by_name), dtype=np.int32)
    order = np.lexsort((ranks, -counts))
    is_city, in_country = are_cities[order], countries.ranks[order]
    keys = sorted({fold(text) for text in countries.distinct if text is not None})
    spelled = [names.distinct[code] or "" for code in names.codes[order].tolist()]
    codes = {number: compact(spelled[number]) for number in (~is_city).nonzero()[0].tolist()}
    others = [number for number in range(len(order)) if not _is_plain(codes.get(number, ""))]
    by_words = [
        (name, number)
        for number, name in zip(others, spoken([spelled[number] for number in others]), strict=True)
        if codes.get(number) != name.replace(" ", "")
    ]
    joined, of_places = names.changed(_with_joined, flags), cities.changed(_city_of_code, flags)
    spelled_here = [number for number in order.tolist() if found[number].first < 0]
    firsts = np.array([place.first for place in found], np.int32)
    firsts[spelled_here] = ~np.arange(len(spelled_here), dtype=np.int32)
    return Places(
        firsts=firsts[order],
        addresses=StringArray.of([_ENCODE(found[number].address) for number in spelled_here]),
        are_cities=is_city.astype(np.uint8),
        stores=counts[order],
        ranks=ranks[order],
        vectors=vectors[order].ravel(),
        countries=np.where(in_country, in_country - 1, len(keys)).astype(np.min_scalar_type(len(keys))),
        country_keys=StringArray.of([key.encode() for key in keys]),
        names=_index([joined], order, spools),
        others=_index([of_places, provinces, countries], order, spools),
        spoken=_place_index(by_words),
        codes=_place_index([(code, number) for number, code in codes.items()]),
        backwards=StringArray.of(sorted({name[::-1].encode() for name, _ in by_words})),
    )


def _is_plain(code: str) -> bool:
    """Return whether the key of a postal code is its words, without spaces."""
    return code.isascii() and code.isalnum()


class _Texts:
    """Texts, each by its code in the distinct ones; the first of these is None."""

    def __init__(self, texts: Iterable[str | None]) -> None:
        codes: dict[str | None, int] = {None: 0}
        self.codes = np.fromiter((codes.setdefault(text, len(codes)) for text in texts), np.int32)
        self.distinct = list(codes)

    @cached_property
    def ranks(self) -> NDArray[np.integer]:
        """The rank of each text as words compare; 0 of none."""
        keys = [None, *(fold(text) for text in self.distinct if text is not None)]
        ranks = {key: rank for rank, key in enumerate([None, *sorted(set(keys[1:]), key=str)])}
        return np.array([ranks[key] for key in keys], np.int32).take(self.codes)

    def changed(self, change: Callable[[str, bool], str | None], flags: Iterable[bool]) -> "_Texts":
        """Return the texts, changed by what is true of each."""
        texts = (self.distinct[code] or "" for code in self.codes.tolist())
        return _Texts(map(change, texts, flags))

    def column(self, order: NDArray[np.integer]) -> tuple[Column, StringArray]:
        """Return the column of the texts in an order, and the distinct ones."""
        distinct = StringArray.of([text.encode() for text in self.distinct if text is not None])
        codes = self.codes[order] - np.int32(1)
        return build_column(np.where(codes < 0, np.int32(len(distinct)), codes), distinct, filters=False), distinct


def _with_joined(name: str, is_city: bool) -> str:  # noqa: FBT001 - of a row
    """Return a name, that of a postal code also without spaces."""
    return name if is_city or " " not in name else f"{name} {''.join(name.split())}"


def _city_of_code(city: str, is_city: bool) -> str | None:  # noqa: FBT001 - of a row
    return None if is_city else city


def _index(fields: Sequence[_Texts], order: NDArray[np.integer], spools: Spools) -> TextIndex:
    builder = TextIndexBuilder(spools)
    for field in fields:
        builder.add(*field.column(order))
    return builder.build(len(order))


def _place_index(pairs: Sequence[tuple[str, int]]) -> PlaceIndex:
    """Return the index of pairs of a key and a place."""
    ordered = sorted(pairs)
    keys = list(dict.fromkeys(key for key, _ in ordered))
    codes = {key: code for code, key in enumerate(keys)}
    counts = np.bincount([codes[key] for key, _ in ordered], minlength=len(keys)) if ordered else np.zeros(0, np.int32)
    starts = np.zeros(len(keys) + 1, np.int32)
    counts.cumsum(out=starts[1:])
    numbers = np.array([number for _, number in ordered], np.int32)
    return PlaceIndex(StringArray.of([key.encode() for key in keys]), starts, numbers)
