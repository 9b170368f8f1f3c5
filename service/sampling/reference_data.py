"""The reference data that ships with the package, in `data/`: words and patterns in TOML, cities in CSV; choices."""

import csv
import random
import re
import unicodedata
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from itertools import accumulate
from math import isqrt
from typing import Final, Generic, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

Item = TypeVar("Item")
_FOLDER: Final = files(__package__) / "data"


def read_toml(name: str, shape: type[Item]) -> Item:
    """Return a TOML file of `data/`, converted to a type."""
    return msgspec.toml.decode((_FOLDER / name).read_bytes(), type=shape)


# Returns the next number of the stream, in [0, 1).
Draw = Callable[[], float]

# Letters that Britain, Canada and the Netherlands all use at the end of their postal codes.
_LETTERS: Final = "ABEGHJLNPRTWXYZ"
_SYMBOLS: Final = {"#": "0123456789", "*": "23456789", "@": _LETTERS}


def stream(seed: int) -> Draw:
    """Return the stream of a seed, 0 or more.

    Of the `random` module only `random()` is guaranteed to repeat across Python versions, so nothing else is used.
    """
    return random.Random(seed).random


def pick(items: Sequence[Item], draw: Draw) -> Item:
    """Return one of the items, all equally likely."""
    return items[int(draw() * len(items))]


def shuffled(items: Iterable[Item], draw: Draw) -> list[Item]:
    """Return the items in random order."""
    return [item for _, _, item in sorted((draw(), index, item) for index, item in enumerate(items))]


def fill(pattern: str, draw: Draw) -> str:
    """Return a pattern filled in: `#` is any digit, `*` a digit from 2 to 9, `@` a letter, all else is literal."""
    template, alphabets = _parse_pattern(pattern)
    return template % tuple([alphabet[int(draw() * len(alphabet))] for alphabet in alphabets])


@cache
def _parse_pattern(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Return a template for `%`, and the alphabet of each placeholder in it."""
    return re.sub("[#*@]", "%s", pattern), tuple(_SYMBOLS[symbol] for symbol in pattern if symbol in _SYMBOLS)


class Weighted(msgspec.Struct, Generic[Item], frozen=True):
    """Items, and the running sums of their weights: integers, below 2^53 in all, so that no sum is rounded."""

    items: tuple[Item, ...]
    sums: tuple[int, ...]

    @classmethod
    def of(cls, weights: Iterable[tuple[Item, int]]) -> "Weighted[Item]":
        """Return items with their weights."""
        items, numbers = zip(*weights, strict=True)
        return cls(items, tuple(accumulate(numbers)))

    def pick(self, draw: Draw) -> Item:
        """Return one of the items, with a probability proportional to its weight."""
        return self.items[bisect(self.sums, draw() * self.sums[-1])]


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
    """All cities: grouped by country; by the code of a country, and by that and a province."""

    everywhere: Weighted[Cities]
    groups: dict[tuple[str, ...], Cities]


def read_gazetteer() -> Gazetteer:
    """Return the cities that ship with the package."""
    groups, counts = defaultdict[tuple[str, ...], list[City]](list), Counter[str]()
    lines = (line for name in _FILES for line in (_FOLDER / name).read_text("utf-8").splitlines()[1:])
    for country, province, name, latitude, longitude, population in csv.reader(lines):
        patterns = COUNTRIES[country].city_postal_patterns(province=province, city=name, index=counts[country])
        counts[country] += 1
        city = City(country, province, name, float(latitude), float(longitude), int(population), patterns)
        groups[country,].append(city)
        groups[country, province].append(city)
    cities = {key: Weighted.of((city, city.weight) for city in group) for key, group in groups.items()}
    countries = ((group, COUNTRIES[country].weight) for (country, *province), group in cities.items() if not province)
    return Gazetteer(Weighted.of(countries), cities)


# Letters without a decomposition into a Latin letter and a mark.
_SPELLED: Final = str.maketrans({"ß": "ss", "ł": "l", "Ł": "L", "ı": "i", "ø": "o", "æ": "ae", "'": None, "’": None})  # noqa: RUF001 - Turkish has a dotless i
_ROMAJI: Final = read_toml("romaji.toml", dict[str, str])
_JAPANESE: Final = re.compile("|".join(sorted(_ROMAJI, key=len, reverse=True)))
_SEPARATORS: Final = re.compile("[^a-z0-9]+")


def slug(name: str) -> str:
    """Return a name in lower-case Latin letters, digits and hyphens: `Bäckerei Groß & Co` → `backerei-gross-co`."""
    latin = _JAPANESE.sub(lambda match: f" {_ROMAJI[match[0]]} ", name).translate(_SPELLED)
    ascii_only = unicodedata.normalize("NFKD", latin).encode("ascii", "ignore").decode()
    return _SEPARATORS.sub("-", ascii_only.lower()).strip("-")


_LAST_CREATED_DAY: Final = 6940
# A timestamp two days later is later whatever the offsets of both, and even if one of them is a bare date.
_MIN_DAYS_BETWEEN: Final = 2
_DAYS: Final = tuple(
    str(date(2006, 11, 1) + timedelta(days=number)) for number in range(_LAST_CREATED_DAY + _MIN_DAYS_BETWEEN + 1)
)
_FORMATS: Final = Weighted.of(
    [
        ("{day}T{clock}Z", 40),
        ("{day}T{clock}{offset}", 25),
        ("{day}", 9),
        ("{day}T{clock}.{fraction:.3}Z", 9),
        ("{day}T{clock}.{fraction}{offset}", 7),
        ("{day} {clock}", 6),
        ("{day}T{clock:.5}{offset}", 2),
        ("{day} {clock}.{fraction:.1}", 2),
    ]
)
# Probabilities.
_UNCHANGED: Final = 0.12
_CREATED_UNKNOWN: Final = 0.04
_UPDATED_UNKNOWN: Final = 0.1


def _timestamp(day: int, offsets: tuple[str, ...], draw: Draw) -> str:
    """Return a random time of a day, in a random format, with one of the offsets."""
    second = int(draw() * 86_400)
    return _FORMATS.pick(draw).format(
        day=_DAYS[day],
        clock=f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}",
        fraction=f"{int(draw() * 1_000_000):06}",
        offset=pick(offsets, draw),
    )


def draw_created_at(offsets: tuple[str, ...], draw: Draw) -> str | UnsetType:
    """Return a random creation time, UNSET if unknown."""
    return _unless_unknown(_timestamp(int(draw() * _LAST_CREATED_DAY), offsets, draw), _CREATED_UNKNOWN, draw)


def draw_timestamps(offsets: tuple[str, ...], draw: Draw) -> tuple[str | UnsetType, str | UnsetType]:
    """Return a random creation time and a random time of the last update, not before it; UNSET if unknown."""
    day = int(draw() * _LAST_CREATED_DAY)
    created = updated = _timestamp(day, offsets, draw)
    if draw() >= _UNCHANGED:
        updated = _timestamp(day + _MIN_DAYS_BETWEEN + int(draw() * (_LAST_CREATED_DAY - day)), offsets, draw)
    return _unless_unknown(created, _CREATED_UNKNOWN, draw), _unless_unknown(updated, _UPDATED_UNKNOWN, draw)


def _unless_unknown(text: str, probability: float, draw: Draw) -> str | UnsetType:
    return UNSET if draw() < probability else text
