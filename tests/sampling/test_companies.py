"""Companies: their sizes, groups and markets, and the cities that the stores are in."""

from collections import Counter, defaultdict

import pytest

from service.sampling.records import sizes
from tests.sampling.large import Sample


def test_every_store_has_a_company_and_the_parent_of_that_company(large: Sample) -> None:
    parents = {company.company_id: company.parent_company_id for company in large.companies}
    assert len(parents) == len(large.companies)
    assert all(parents[store.company_id] == store.parent_company_id for store in large.stores)


def test_the_identifier_of_a_store_is_that_of_its_company_and_a_number(large: Sample) -> None:
    assert len({store.store_id for store in large.stores}) == len(large.stores)
    assert all(store.store_id.rpartition("-")[0] == store.company_id for store in large.stores)


def test_owners_have_no_stores_and_at_most_two_levels_of_owners_are_above_a_store(large: Sample) -> None:
    parents = {company.company_id: company.parent_company_id for company in large.companies}
    with_stores = {store.company_id for store in large.stores}
    owners = {parent for parent in parents.values() if parent}
    above = {parents[owner] for owner in owners} - {None}
    assert owners <= parents.keys() - with_stores
    assert above
    assert all(parents[str(owner)] is None for owner in above)
    assert 0.3 < sum(parent is not None for parent in parents.values()) / len(parents) < 0.7


@pytest.mark.parametrize("companies", [120, 121, 500, 100_000])
def test_the_20_largest_hold_at_least_1_5_percent_each(companies: int) -> None:
    firms = companies - companies // 25 - 1
    shares = sizes(stores=100_000, firms=firms)
    assert (len(shares), sum(shares)) == (firms, 100_000)
    assert min(shares[:20]) >= 1500
    assert shares[19] + 1 >= shares[20]


@pytest.mark.parametrize(("stores", "firms"), [(0, 0), (0, 3), (1, 1), (7, 4), (7, 100), (1000, 5)])
def test_small_numbers_of_stores_are_divided_without_remainder(stores: int, firms: int) -> None:
    assert sum(sizes(stores=stores, firms=firms)) == stores


def test_most_companies_have_stores_in_one_country_and_the_largest_in_several(large: Sample) -> None:
    countries: dict[str, set[str]] = defaultdict(set)
    for store in large.stores:
        countries[store.company_id].add(store.country)
    largest = Counter(store.company_id for store in large.stores).most_common(20)
    assert sum(len(of_one) == 1 for of_one in countries.values()) > len(countries) * 0.7
    assert all(len(countries[company]) > 1 for company, _ in largest)


def test_stores_are_in_2000_cities_of_15_countries_and_the_largest_city_has_about_one_percent(large: Sample) -> None:
    cities = Counter((store.country, store.province, store.city) for store in large.stores if store.province)
    assert len(cities) >= 2000
    assert 0.007 <= cities.most_common(1)[0][1] / len(large.stores) <= 0.014
    assert len({country for country, _, _ in cities}) == 15
