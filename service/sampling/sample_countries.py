"""The countries of stores: their weights, offsets from UTC, domains, telephone numbers and postal codes."""

from typing import Final

import msgspec

from service.sampling.reference_data import read_toml


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
