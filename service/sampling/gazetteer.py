"""The gazetteer: real cities, and how likely a store is to stand in each."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.resources import files
from math import isqrt
from typing import Final

import msgspec

from service.sampling.countries import COUNTRIES
from service.sampling.postal import postal_patterns
from service.sampling.seeded_random import Pattern, Weighted

_FILES: Final = ("cities-west.csv", "cities-east.csv")


class City(msgspec.Struct, frozen=True):
    """A city: where it is, its population in thousands, its postal codes, and the tongue of its streets and shops."""

    country: str
    province: str
    name: str
    latitude: float
    longitude: float
    population: int
    postal: tuple[Pattern, ...]

    @property
    def tongue(self) -> str:
        """The country's code, but for the one province that speaks another language."""
        return "QC" if (self.country, self.province) == ("CA", "QC") else self.country

    @property
    def weight(self) -> int:
        """100 times the population to the power of 3/4, in whole numbers, which are the same on every machine.

        The power below 1 is what is believable: a city of ten times the people has less than ten times the stores.
        """
        return isqrt(isqrt(self.population**3 * 10**8))


Cities = Weighted[City]


class Gazetteer(msgspec.Struct, frozen=True):
    """All cities: together by country, by country alone, and by country and province."""

    everywhere: Weighted[Cities]
    countries: dict[str, Cities]
    provinces: dict[tuple[str, str], Cities]

    @classmethod
    def of(cls, cities: Iterable[City]) -> "Gazetteer":
        """Arrange cities."""
        countries: dict[str, list[City]] = defaultdict(list)
        provinces: dict[tuple[str, str], list[City]] = defaultdict(list)
        for city in cities:
            countries[city.country].append(city)
            provinces[city.country, city.province].append(city)
        by_country = {country: _weighed(members) for country, members in countries.items()}
        return cls(
            Weighted.of((members, COUNTRIES[country].weight) for country, members in by_country.items()),
            by_country,
            {province: _weighed(members) for province, members in provinces.items()},
        )


def _weighed(cities: Iterable[City]) -> Cities:
    return Weighted.of((city, city.weight) for city in cities)


def read_gazetteer() -> Gazetteer:
    """Read the cities that come with the program."""
    return Gazetteer.of(_cities())


def _cities() -> Iterator[City]:
    places: dict[str, int] = defaultdict(int)
    for name in _FILES:
        text = files(__package__).joinpath(name).read_text("utf-8")
        for country, province, city, latitude, longitude, population in list(csv.reader(text.splitlines()))[1:]:
            postal = postal_patterns(country=country, province=province, city=city, place=places[country])
            places[country] += 1
            yield City(country, province, city, float(latitude), float(longitude), int(population), postal)
