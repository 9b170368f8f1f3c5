"""The stores of a firm."""

from collections.abc import Iterator
from typing import Final

from service.model.records import Store
from service.sampling.brands import BRANDS
from service.sampling.companies import Firm
from service.sampling.gazetteer import City
from service.sampling.sample_countries import COUNTRIES
from service.sampling.seeded_random import Draw, Weighted, fill, pick
from service.sampling.streets import STREETS
from service.sampling.timestamps import draw_timestamps

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
        address_2=streets.second_line(draw) if draw() < _SECOND_LINE else None,
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
