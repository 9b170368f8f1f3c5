"""The arrays of places in a baked file: declared, stored, mapped, and checked."""

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from service.baking.arrays import Arrays, Lengths, Numbers, Structure, are_sorted, strings
from service.baking.layout import Array, DamagedFile
from service.baking.records import NO_RECORD
from service.baking.tables import TEXT, check_vectors
from service.engine.columns.column import StringArray
from service.engine.columns.selection import word_count
from service.engine.geography.locations import DIMENSIONS
from service.engine.places import CACHE_BYTES, PlaceIndex, Places, decode_address
from service.engine.table import Table

_CODES: Final = (np.uint8, np.uint16, np.uint32)
_I32: Final = (np.int32,)
_NUMBER: Final = Numbers(_I32, "rows", below="rows")


def _check_place_index(name: str, index: PlaceIndex) -> None:
    """Check that the places of each key ascend."""
    falls = (index.numbers[1:] <= index.numbers[:-1]).nonzero()[0] + 1
    if not np.isin(falls, index.starts, assume_unique=True).all():
        raise DamagedFile(f"the numbers of {name} are not ascending")


_PLACE_INDEX: Final = Structure(
    PlaceIndex,
    _check_place_index,
    keys=strings("keys", are_sorted),
    starts=Numbers(_I32, "keys", more=1, rises=operator.gt, ends="numbers"),
    numbers=Numbers(_I32, "numbers", below="rows"),
)
# Each part has lengths of its own, but for the number of places, here rows.
_PLACES: Final[Mapping[str, Structure[Any] | Numbers]] = {
    "firsts": Numbers(_I32, "rows"),
    "addresses": strings("addresses"),
    "are_cities": Numbers((np.uint8,), "rows", below=2),
    "stores": Numbers(_I32, "rows", below=1 << 31),
    "ranks": _NUMBER,
    "vectors": Numbers((np.float64,), "rows", each="vector"),
    "countries": Numbers(_CODES, "rows"),
    "country_keys": strings("countries", are_sorted),
    "names": TEXT,
    "others": TEXT,
    "spoken": _PLACE_INDEX,
    "codes": _PLACE_INDEX,
    "backwards": strings("names", are_sorted),
}


def place_arrays(places: Places) -> dict[str, Array]:
    """Return the arrays of places by name."""
    return dict(Structure(Places, **_PLACES).arrays("places", places))


def map_places(arrays: Arrays, stores: Table) -> tuple[Places, Callable[[], None]]:
    """Return the places in the arrays of a file, which are taken out, and what checks them.

    Raises `DamagedFile` if an array is missing, or has another type or length; so does the check.
    """
    shared: Lengths = {}
    parts: dict[str, Any] = {}
    checks: list[Callable[[], None]] = []
    for part, declared in _PLACES.items():
        name, lengths = f"places/{part}", shared.copy()
        others = {"length": shared["rows"], "cache_bytes": CACHE_BYTES} if declared is TEXT else {}
        parts[part] = declared.take(name, arrays, lengths, **others)
        checks.append(partial(declared.check, name, parts[part], lengths))
        shared = shared or {"rows": lengths["rows"], "bitmap": word_count(lengths["rows"]), "vector": DIMENSIONS}
    places = Places(**parts)

    def check() -> None:
        for each in checks:
            each()
        _check_places(places, stores)

    return places, check


def _check_places(places: Places, stores: Table) -> None:
    """Check what parts of places say of each other, and of stores."""
    firsts, own = places.firsts, len(places.addresses)
    if len(firsts) and not -own <= int(firsts.min()) <= int(firsts.max()) < len(stores):
        raise DamagedFile("the stores of places are out of range")
    if len(places) and int(places.countries.max()) > len(places.country_keys):
        raise DamagedFile("the countries of places are out of range")
    if not np.array_equal(np.sort(places.ranks), np.arange(len(places), dtype=np.int32)):
        raise DamagedFile("the ranks of places are not those of an order")
    check_vectors("places", places.points)
    _check_addresses(places.addresses)


def _check_addresses(addresses: StringArray) -> None:
    try:
        for address in addresses:
            decode_address(address)
    except NO_RECORD:
        raise DamagedFile("the addresses of places are not addresses") from None
