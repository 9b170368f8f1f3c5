"""Countries: their names, where they are, their postal codes, and the time zone of each, or of its provinces."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

import msgspec

from service.model.coordinates import Box
from service.model.kinds import fold

_ONE_CLOCK_FROM: Final = datetime(2000, 1, 1, tzinfo=UTC)
_DAYS: Final = 38 * 365  # until the rules of today go on in all years to come


class Country(msgspec.Struct, frozen=True):
    """A country.

    names          its ISO 3166 codes of two and three letters, its English names, and those in its own languages
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


@cache
def time_zones() -> frozenset[str]:
    """Return the names of the time zones in the IANA database that mean the same on every system."""
    return frozenset(available_timezones() - {"Factory", "localtime"})


@lru_cache(1024)
def time_zone_of(country: str) -> str | None:
    """Return the time zone of a country by a name of it, None if its zones have had several clocks since 2000."""
    zones = _zones_by_country().get(_code_of(country), ())
    clocks = [ZoneInfo(name) for name in zones]
    days = (_ONE_CLOCK_FROM + timedelta(days=day) for day in range(_DAYS if len(clocks) > 1 else 0))
    have_one = all(len({day.astimezone(clock).utcoffset() for clock in clocks}) == 1 for day in days)
    return zones[0] if zones and have_one else None


def provinces_of(country: str) -> Sequence[tuple[str, str, str]]:
    """Return the code, the name and the time zone of provinces, "" for several zones, of a country with some clocks."""
    zones = _provinces().get(_code_of(country), {})
    return [(code, name, zone) for zone, names in zones.items() for code, name in names.items()]


def _code_of(country: str) -> str:
    known = countries_by_name().get(fold(country).encode())
    return known.names[0] if known else ""


@cache
def _provinces() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    stored = (files(__package__) / "provinces.json").read_bytes()
    return msgspec.json.decode(stored, type=dict[str, dict[str, dict[str, str]]])


@cache
def _zones_by_country() -> Mapping[str, Sequence[str]]:
    """Return the zones of each country by its code of two letters, the largest first: the table of the database."""
    found = defaultdict[str, list[str]](list)
    for line in (files("tzdata") / "zoneinfo" / "zone.tab").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            code, _, zone = line.split("\t")[:3]
            found[code].append(zone)
    return found
