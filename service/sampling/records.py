"""Fictional records: firms, and the stores of each."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from service.model.records import Company, Store
from service.sampling.reference_data import (
    COUNTRIES,
    Cities,
    City,
    Draw,
    Gazetteer,
    Weighted,
    draw_created_at,
    draw_timestamps,
    fill,
    pick,
    read_toml,
    slug,
)


class Brands(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words and name forms of one locale, as `data/brands.toml` describes them."""

    stems: tuple[str, ...]
    trades: tuple[str, ...]
    forms: tuple[str, ...]
    groups: tuple[str, ...]
    legal: tuple[str, ...]
    branches: tuple[str, ...]


BRANDS: Final = read_toml("brands.toml", dict[str, Brands])


_MAJORS: Final = 20
_FIRMS_PER_MAJOR: Final = 5  # at least: a small market has fewer majors
_MAJORS_SHARE: Final = 9  # of twenty
_FLATNESS: Final = 16  # the largest has about twice as many stores as the last of the majors
_UNIT: Final = 10**9


def majors_among(firms: int) -> int:
    """Return how many of a number of firms are majors."""
    return min(_MAJORS, firms // _FIRMS_PER_MAJOR)


def sizes(*, stores: int, firms: int) -> Sequence[int]:
    """Return the number of stores of each firm, in descending order.

    The majors share 45 % of the stores, each at least 1.5 % if there are 20 of them. The sizes of the others are
    proportional to 1 / rank. The arithmetic is in integers, so that the sum is exact and the same on every machine.
    """
    majors = majors_among(firms)
    large = [_UNIT // (_FLATNESS + rank) for rank in range(majors)]
    small = [_UNIT // (1 + rank) for rank in range(majors, firms)]
    weights = [weight * _MAJORS_SHARE * sum(small) for weight in large] if majors else []
    weights += [weight * (20 - _MAJORS_SHARE) * (sum(large) or 1) for weight in small]
    sums = list(accumulate(weights))
    ends = [stores * partial // sums[-1] for partial in sums]
    return [end - start for start, end in pairwise([0, *ends])]


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
    names, independent, holdings = Counter[str](), list[str](), defaultdict[str, list[str]](list)  # by country
    count = (companies + _FIRMS_PER_HOLDING - _FIRMS_PER_HOLDING // 5) // _FIRMS_PER_HOLDING
    for number in range(count):
        home, is_independent = gazetteer.everywhere.pick(draw).pick(draw), number < (count + 1) // 2
        brand, company = _company(home, BRANDS[home.locale].groups, () if is_independent else independent, names, draw)
        if is_independent:
            independent.append(company.company_id)
        holdings[home.country].append(company.company_id)
        yield Firm(company, brand, 0, ())
    firms = companies - count
    majors = majors_among(firms)
    for rank, size in enumerate(sizes(stores=stores, firms=firms)):
        home = gazetteer.everywhere.pick(draw).pick(draw)
        owners = holdings.get(home.country) or independent
        brand, company = _company(home, BRANDS[home.locale].forms, owners, names, draw)
        is_large = rank <= majors or size >= _LARGE_STORES
        yield Firm(company, brand, size, _markets(home, gazetteer, draw, stores=size, is_large=is_large))


def _company(
    home: City, forms: Sequence[str], owners: Sequence[str], names: Counter[str], draw: Draw
) -> tuple[str, CompanyEntry]:
    """Return a company with the name of its brand in one of some forms; a repeated name has a number in identifiers."""
    country, brands = COUNTRIES[home.country], BRANDS[home.locale]
    index = int(draw() * len(brands.stems))
    others = brands.stems[:index] + brands.stems[index + 1 :]
    form, other, trade = pick(forms, draw), pick(others, draw), pick(brands.trades, draw)
    brand = form.format(stem=brands.stems[index], other=other, trade=trade)
    name = slug(brand)
    names[name] += 1
    identifier = name if names[name] == 1 else f"{name}-{names[name]}"
    label = pick((identifier, identifier.replace("-", "")), draw)
    suffix = pick(brands.legal, draw)
    return brand, CompanyEntry(
        company_id=identifier,
        name=f"{brand} {suffix}" if draw() < _REGISTERED_NAME else brand,
        domain=label + pick(country.domains, draw) if draw() < _DOMAIN else None,
        parent_company_id=pick(owners, draw) if owners and draw() < _OWNED else None,
        created_at=draw_created_at(country.offsets, draw),
    )


def _markets(home: City, gazetteer: Gazetteer, draw: Draw, *, stores: int, is_large: bool) -> tuple[Cities, ...]:
    # Countries are drawn by weight and the home market counts three times, so each country keeps its share.
    domestic, abroad = gazetteer.groups[home.country,], gazetteer.everywhere
    if is_large:
        return (domestic, domestic, domestic, *(abroad.pick(draw) for _ in range(3 + int(draw() * 10))))
    if draw() < _SMALL_AND_ABROAD:
        return (domestic, domestic, domestic, abroad.pick(draw))
    return (gazetteer.groups[home.country, home.province] if stores <= _LOCAL_STORES else domestic,)


class Streets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The street names and address forms of one locale, as `data/streets.toml` describes them."""

    names: tuple[str, ...]
    forms: tuple[str, ...]
    max_number: int
    second_lines: tuple[str, ...]

    def first_line(self, draw: Draw) -> str:
        """Return a first address line; low house numbers are likelier than high ones."""
        share = draw()
        return pick(self.forms, draw).format(
            street=pick(self.names, draw), number=1 + int(self.max_number * share * share), part=1 + int(draw() * 30)
        )


STREETS: Final = read_toml("streets.toml", dict[str, Streets])


_NAMES: Final = Weighted.of(
    [
        ("{brand} {city}", 40),
        ("{brand} {branch}", 30),
        ("{brand} {city} {branch}", 18),
        ("{brand} #{number}", 12),
    ]
)
_SPREAD: Final = 0.05  # maximum distance from the centre of the city, in degrees
_DECIMALS: Final = (4, 5, 5, 6, 6)
_OPEN: Final = 0.96  # the probability that a store is open
# The probability that a field has a value.
_NAME_KNOWN: Final = 0.97
_SECOND_LINE: Final = 0.3
_PROVINCE_KNOWN: Final = 0.98
_POSTAL_KNOWN: Final = 0.98
_PHONE_KNOWN: Final = 0.94
_POSITION_KNOWN: Final = 0.97


def stores_of(firm: Firm, draw: Draw) -> Iterator[Store]:
    """Yield the stores of a firm."""
    for number in range(1, firm.stores + 1):
        yield _store(firm, number, pick(firm.markets, draw).pick(draw), draw)


def _store(firm: Firm, number: int, city: City, draw: Draw) -> Store:
    country, streets = COUNTRIES[city.country], STREETS[city.locale]
    latitude, longitude = _position(city, draw)
    created_at, updated_at = draw_timestamps(country.offsets, draw)
    return Store(
        store_id=f"{firm.company.company_id}-{number:05}",
        company_id=firm.company.company_id,
        parent_company_id=firm.company.parent_company_id,
        name=_name(firm, number, city, draw) if draw() < _NAME_KNOWN else None,
        address_1=streets.first_line(draw),
        address_2=fill(pick(streets.second_lines, draw), draw) if draw() < _SECOND_LINE else None,
        city=city.name,
        province=city.province if draw() < _PROVINCE_KNOWN else None,
        country=city.country,
        postal_code=fill(pick(city.postal_patterns, draw), draw) if draw() < _POSTAL_KNOWN else None,
        phone_number=fill(pick(country.phones, draw), draw) if draw() < _PHONE_KNOWN else None,
        is_open=draw() < _OPEN,
        latitude=latitude,
        longitude=longitude,
        created_at=created_at,
        updated_at=updated_at,
    )


def _name(firm: Firm, number: int, city: City, draw: Draw) -> str:
    branch = pick(BRANDS[city.locale].branches, draw)
    return _NAMES.pick(draw).format(brand=firm.brand, city=city.name, branch=branch, number=number)


def _position(city: City, draw: Draw) -> tuple[str, str] | tuple[None, None]:
    """Return a position in the city, likelier near its centre: the sum of two draws has a triangular distribution."""
    if draw() >= _POSITION_KNOWN:
        return None, None
    decimals = pick(_DECIMALS, draw)
    latitude = city.latitude + (draw() + draw() - 1) * _SPREAD
    longitude = city.longitude + (draw() + draw() - 1) * _SPREAD
    return f"{latitude:.{decimals}f}", f"{longitude:.{decimals}f}"
