"""Countries: their codes and English names, where they are, and the lengths of their postal codes.

`python -m tools.countries` makes the file, which names its source.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from service.model.coordinates import Box
from service.model.kinds import fold


class Country(msgspec.Struct, frozen=True):
    """A country.

    names          its ISO 3166 codes of two and three letters, and its English names
    postal_digits  the number of digits of each postal code; None if codes differ, or none begins with 0
    boxes          the boxes around its parts, widened by 0.5°, the largest first
    """

    names: tuple[str, ...]
    postal_digits: int | None
    boxes: tuple[Box, ...]


class _CountryFile(msgspec.Struct, frozen=True):
    countries: tuple[Country, ...]


@cache
def countries_by_name() -> Mapping[bytes, Country]:
    """Return the countries by the normalized keys of their names."""
    found = msgspec.json.decode((files(__package__) / "countries.json").read_bytes(), type=_CountryFile)
    return {fold(name).encode(): country for country in found.countries for name in country.names}
