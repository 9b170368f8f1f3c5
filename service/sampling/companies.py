"""Companies: their names, owners and markets."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from service.model.records import Company
from service.sampling.brands import BRANDS
from service.sampling.company_sizes import majors_among, sizes
from service.sampling.gazetteer import Cities, City, Gazetteer
from service.sampling.sample_countries import COUNTRIES
from service.sampling.seeded_random import Draw, pick
from service.sampling.slug import slug
from service.sampling.timestamps import draw_created_at

_FIRMS_PER_HOLDING: Final = 25
_LOCAL_STORES: Final = 12  # a firm with no more stores stays in its province
_LARGE_STORES: Final = 1000  # a firm with at least this many stores operates abroad, major or not
# Probabilities.
_OWNED: Final = 0.5
_REGISTERED_NAME: Final = 0.3  # the name has a legal suffix
_DOMAIN: Final = 0.9
_SMALL_AND_ABROAD: Final = 0.08


class CompanyEntry(Company, frozen=True, kw_only=True, gc=False):
    """A company as its file has it: with `created_at`, which the interface does not return."""

    created_at: str | UnsetType = UNSET


class Firm(msgspec.Struct, frozen=True):
    """A company, its brand, its number of stores, and the markets they are in, all equally likely."""

    company: CompanyEntry
    brand: str
    stores: int
    markets: tuple[Cities, ...]


def generate_firms(*, stores: int, companies: int, gazetteer: Gazetteer, draw: Draw) -> Iterator[Firm]:
    """Yield firms: the holdings, which have no stores, then those that share the stores, the largest first."""
    generator = _FirmGenerator(gazetteer, draw)
    holdings = (companies + _FIRMS_PER_HOLDING - _FIRMS_PER_HOLDING // 5) // _FIRMS_PER_HOLDING
    for number in range(holdings):
        yield generator.holding(independent=number < (holdings + 1) // 2)
    firms = companies - holdings
    majors = majors_among(firms)
    for rank, size in enumerate(sizes(stores=stores, firms=firms)):
        yield generator.retailer(stores=size, large=rank <= majors or size >= _LARGE_STORES)


class _FirmGenerator:
    """Generates firms one by one. Firms of the same name get a number appended to their identifiers."""

    def __init__(self, gazetteer: Gazetteer, draw: Draw) -> None:
        self._gazetteer = gazetteer
        self._draw = draw
        self._names: Counter[str] = Counter()
        self._independent: list[str] = []
        self._holdings: dict[str, list[str]] = defaultdict(list)  # by country

    def holding(self, *, independent: bool) -> Firm:
        home = self._home()
        brand = BRANDS[home.locale].group_name(self._draw)
        company = self._company(brand, home, owners=[] if independent else self._independent)
        if independent:
            self._independent.append(company.company_id)
        self._holdings[home.country].append(company.company_id)
        return Firm(company, brand, 0, ())

    def retailer(self, *, stores: int, large: bool) -> Firm:
        home = self._home()
        brand = BRANDS[home.locale].shop_name(self._draw)
        company = self._company(brand, home, owners=self._holdings.get(home.country) or self._independent)
        return Firm(company, brand, stores, self._markets(home, stores=stores, large=large))

    def _home(self) -> City:
        return self._gazetteer.everywhere.pick(self._draw).pick(self._draw)

    def _company(self, brand: str, home: City, *, owners: list[str]) -> CompanyEntry:
        draw, country = self._draw, COUNTRIES[home.country]
        identifier = self._identifier(brand)
        label = pick((identifier, identifier.replace("-", "")), draw)
        suffix = pick(BRANDS[home.locale].legal, draw)
        return CompanyEntry(
            company_id=identifier,
            name=f"{brand} {suffix}" if draw() < _REGISTERED_NAME else brand,
            domain=label + pick(country.domains, draw) if draw() < _DOMAIN else None,
            parent_company_id=pick(owners, draw) if owners and draw() < _OWNED else None,
            created_at=draw_created_at(country.offsets, draw),
        )

    def _identifier(self, brand: str) -> str:
        name = slug(brand)
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name}-{self._names[name]}"

    def _markets(self, home: City, *, stores: int, large: bool) -> tuple[Cities, ...]:
        # Countries are drawn by weight and the home market counts three times, so each country keeps its share.
        draw = self._draw
        domestic, abroad = self._gazetteer.countries[home.country], self._gazetteer.everywhere
        if large:
            return (domestic, domestic, domestic, *(abroad.pick(draw) for _ in range(3 + int(draw() * 10))))
        if draw() < _SMALL_AND_ABROAD:
            return (domestic, domestic, domestic, abroad.pick(draw))
        return (self._gazetteer.provinces[home.country, home.province] if stores <= _LOCAL_STORES else domestic,)
