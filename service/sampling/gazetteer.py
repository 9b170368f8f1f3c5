"""The gazetteer: real cities, and the probability that a store is in each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import isqrt
from typing import Final

import msgspec

from service.sampling.reference_data import Weighted, read_rows, read_toml


class SampleCountry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One country, as `data/countries.toml` describes it."""

    weight: int
    offsets: tuple[str, ...]
    domains: tuple[str, ...]
    phones: tuple[str, ...]
    postal_patterns: tuple[str, ...]
    postal_areas: int = 99
    postal_firsts: dict[str, str] = {}

    def city_postal_patterns(self, *, province: str, city: str, index: int) -> tuple[str, ...]:
        """Return the patterns of a city's postal codes; `index` is the city's among those of the country."""
        firsts = self.postal_firsts[province] if self.postal_firsts else " "
        area = 10 + index * 37 % (self.postal_areas - 9)  # 37 and the modulus are coprime, so cities differ
        parts = {
            "first": firsts[index % len(firsts)],
            "area": area,
            "digit": area % 9 + 1,
            "letters": (city[0] + city[-1]).upper(),
        }
        return tuple(pattern.format(**parts) for pattern in self.postal_patterns)


COUNTRIES: Final = read_toml("countries.toml", dict[str, SampleCountry])


_FILES: Final = ("cities-west.csv", "cities-east.csv")


class City(msgspec.Struct, frozen=True):
    """A city: its position in degrees, its population in thousands, and the patterns of its postal codes."""

    country: str
    province: str
    name: str
    latitude: float
    longitude: float
    population: int
    postal_patterns: tuple[str, ...]

    @property
    def locale(self) -> str:
        """The key of its brands and streets: the country, or QC for French-speaking Canada."""
        return "QC" if (self.country, self.province) == ("CA", "QC") else self.country

    @property
    def weight(self) -> int:
        """100 times the population to the power of 3/4, in integers, which are the same on every machine.

        The exponent below 1 is realistic: a city of ten times the population has less than ten times the stores.
        """
        return isqrt(isqrt(self.population**3 * 10**8))


Cities = Weighted[City]


class Gazetteer(msgspec.Struct, frozen=True):
    """All cities: grouped by country, by country code, and by country and province."""

    everywhere: Weighted[Cities]
    countries: dict[str, Cities]
    provinces: dict[tuple[str, str], Cities]


def read_gazetteer() -> Gazetteer:
    """Return the cities that ship with the package."""
    countries: dict[str, list[City]] = defaultdict(list)
    provinces: dict[tuple[str, str], list[City]] = defaultdict(list)
    for city in _cities():
        countries[city.country].append(city)
        provinces[city.country, city.province].append(city)
    by_country = {country: _weighted(group) for country, group in countries.items()}
    return Gazetteer(
        Weighted.of((group, COUNTRIES[country].weight) for country, group in by_country.items()),
        by_country,
        {province: _weighted(group) for province, group in provinces.items()},
    )


def _weighted(cities: Iterable[City]) -> Cities:
    return Weighted.of((city, city.weight) for city in cities)


def _cities() -> Iterator[City]:
    counts: dict[str, int] = defaultdict(int)
    for name in _FILES:
        for country, province, city, latitude, longitude, population in read_rows(name):
            patterns = COUNTRIES[country].city_postal_patterns(province=province, city=city, index=counts[country])
            counts[country] += 1
            yield City(country, province, city, float(latitude), float(longitude), int(population), patterns)
