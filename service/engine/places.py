"""The places of a data set, numbered in their order: those with the most stores first, then by name."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.engine.columns.column import Rows, SortedStrings, StringArray, union
from service.engine.geography.grid import Floats
from service.engine.geography.locations import DIMENSIONS
from service.engine.geography.means import rounded_degrees
from service.engine.table import Table
from service.engine.text_index import TextIndex
from service.model.places import CITY, POSTAL_CODE, Place
from service.model.words import spoken

CACHE_BYTES: Final = 1 << 20  # of each index of words, in a process that serves


class Address(msgspec.Struct, frozen=True, gc=False):
    """What a record has of its place."""

    city: str | None = None
    province: str | None = None
    country: str | None = None
    postal_code: str | None = None


decode_address: Final = msgspec.json.Decoder(Address).decode


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
        code = self.keys.find(key)
        return self.numbers[:0] if code is None else self.numbers[self.starts[code] : self.starts[code + 1]]

    def beginning(self, text: str) -> Rows:
        """Return the places whose keys begin with a text, by key."""
        keys = self.keys.beginning(text)
        return self.numbers[self.starts[keys.start] : self.starts[keys.stop]]


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
        return union([self.spoken.find(name), codes[np.array(same, np.bool_)]])

    def places(self, numbers: Rows, stores: Table) -> list[Place]:
        """Return places, given the table of stores."""
        degrees = rounded_degrees(self.points.take(numbers, axis=0))
        parts = (numbers, self.are_cities.take(numbers), self.stores.take(numbers), *degrees)
        made = list[Place]()
        for number, is_city, count, latitude, longitude in zip(*(part.tolist() for part in parts), strict=True):
            city, province, country, code = msgspec.structs.astuple(self.address(number, stores))
            name, of_place = (city if is_city else code) or "", (city, province, country, latitude, longitude, count)
            made.append(Place(name, CITY if is_city else POSTAL_CODE, *of_place))
        return made

    def address(self, number: int, stores: Table) -> Address:
        """Return what a place is called, given the table of stores."""
        first = int(self.firsts[number])
        return decode_address(stores.row(first) if first >= 0 else self.addresses[~first])

    def prepare(self) -> None:
        """Make the indexes by which names and words are found, so that no request has to."""
        indexed: tuple[SortedStrings, ...] = (self.country_keys, self.names.words, self.others.words)
        for strings in (*indexed, self.spoken.keys, self.codes.keys, self.backwards):
            strings.sparse_index  # noqa: B018 - which is kept
