"""Firms: companies, the groups that they belong to, and where they trade."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from service.model.records import Company
from service.sampling.brands import BRANDS
from service.sampling.company_sizes import majors_among, sizes
from service.sampling.countries import COUNTRIES
from service.sampling.gazetteer import Cities, City, Gazetteer
from service.sampling.seeded_random import Draw, pick
from service.sampling.timestamps import creation
from service.sampling.words import slug

_FIRMS_PER_HOLDING: Final = 25
_OWNED: Final = 0.5
_REGISTERED: Final = 0.3  # go by their registered name, with its legal ending
_WITH_DOMAIN: Final = 0.9
_LOCAL: Final = 12  # a firm of no more stores keeps to its province
_LARGE: Final = 1000  # a firm of so many stores trades abroad, major or not
_SMALL_AND_ABROAD: Final = 0.08


class CompanyEntry(Company, frozen=True, kw_only=True, gc=False):
    """A company as its file has it: with the date that is not answered."""

    created_at: str | UnsetType = UNSET


class Firm(msgspec.Struct, frozen=True):
    """A company, the brand on its signs, how many stores it has, and the markets they are in, all equally likely."""

    company: CompanyEntry
    brand: str
    stores: int
    markets: tuple[Cities, ...]


def found_firms(*, stores: int, companies: int, gazetteer: Gazetteer, draw: Draw) -> Iterator[Firm]:
    """Yield firms: the holdings, which have no stores, then those that share the stores, the largest first."""
    founder = _Founder(gazetteer, draw)
    holdings = (companies + _FIRMS_PER_HOLDING - _FIRMS_PER_HOLDING // 5) // _FIRMS_PER_HOLDING
    for number in range(holdings):
        yield founder.holding(independent=number < (holdings + 1) // 2)
    firms = companies - holdings
    majors = majors_among(firms)
    for rank, size in enumerate(sizes(stores=stores, firms=firms)):
        yield founder.trading(stores=size, large=rank <= majors or size >= _LARGE)


class _Founder:
    """Makes companies one after another; an identifier goes to the first that asks, its namesakes add a number."""

    def __init__(self, gazetteer: Gazetteer, draw: Draw) -> None:
        self._gazetteer = gazetteer
        self._draw = draw
        self._namesakes: Counter[str] = Counter()
        self._independent: list[str] = []
        self._holdings: dict[str, list[str]] = defaultdict(list)  # by country

    def holding(self, *, independent: bool) -> Firm:
        home = self._home()
        brand = BRANDS[home.tongue].group_name(self._draw)
        company = self._company(brand, home, owners=[] if independent else self._independent)
        if independent:
            self._independent.append(company.company_id)
        self._holdings[home.country].append(company.company_id)
        return Firm(company, brand, 0, ())

    def trading(self, *, stores: int, large: bool) -> Firm:
        home = self._home()
        brand = BRANDS[home.tongue].shop_name(self._draw)
        company = self._company(brand, home, owners=self._holdings.get(home.country) or self._independent)
        return Firm(company, brand, stores, self._markets(home, stores=stores, large=large))

    def _home(self) -> City:
        return self._gazetteer.everywhere.pick(self._draw).pick(self._draw)

    def _company(self, brand: str, home: City, *, owners: list[str]) -> CompanyEntry:
        draw, country = self._draw, COUNTRIES[home.country]
        identifier = self._identifier(brand)
        label = pick((identifier, identifier.replace("-", "")), draw)
        ending = pick(BRANDS[home.tongue].legal, draw)
        return CompanyEntry(
            company_id=identifier,
            name=f"{brand} {ending}" if draw() < _REGISTERED else brand,
            domain=label + pick(country.endings, draw) if draw() < _WITH_DOMAIN else None,
            parent_company_id=pick(owners, draw) if owners and draw() < _OWNED else None,
            created_at=creation(country.offsets, draw),
        )

    def _identifier(self, brand: str) -> str:
        name = slug(brand)
        self._namesakes[name] += 1
        return name if self._namesakes[name] == 1 else f"{name}-{self._namesakes[name]}"

    def _markets(self, home: City, *, stores: int, large: bool) -> tuple[Cities, ...]:
        # Draws by the countries' own weights, a home market three times over: so each keeps its share of all stores.
        draw = self._draw
        domestic, abroad = self._gazetteer.countries[home.country], self._gazetteer.everywhere
        if large:
            return (domestic, domestic, domestic, *(abroad.pick(draw) for _ in range(3 + int(draw() * 10))))
        if draw() < _SMALL_AND_ABROAD:
            return (domestic, domestic, domestic, abroad.pick(draw))
        return (self._gazetteer.provinces[home.country, home.province] if stores <= _LOCAL else domestic,)
