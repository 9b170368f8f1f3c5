# ruff: noqa: RUF001 - Turkish has a dotless i
"""Companies and stores of a sample: sizes, groups and markets, plausible values, and missing ones as in real data."""

import re
from collections import Counter, defaultdict
from datetime import timedelta
from itertools import pairwise

import msgspec
import pytest
from msgspec import UNSET

from service.model.kinds import parse_instant
from service.model.records import Store
from service.sampling.records import BRANDS, CompanyEntry, sizes
from service.sampling.reference_data import Weighted, fill, pick, read_gazetteer, shuffled, slug, stream
from service.sampling.sample_dataset import write_sample


class Sample(msgspec.Struct, frozen=True):
    stores: list[Store]
    companies: list[CompanyEntry]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return 30,000 stores of 300 companies."""
    folder = tmp_path_factory.mktemp("large")
    write_sample(folder, stores=30_000, companies=300, seed=1)
    stores, companies = ((folder / f"{name}.json").read_bytes() for name in ("stores", "companies"))
    return msgspec.json.decode(b'{"stores":%b,"companies":%b}' % (stores, companies), type=Sample)


def test_every_store_has_a_company_whose_parent_and_identifier_it_shares(large: Sample) -> None:
    parents = {company.company_id: company.parent_company_id for company in large.companies}
    assert len(parents) == len(large.companies)
    assert len({store.store_id for store in large.stores}) == len(large.stores)
    for store in large.stores:
        assert parents[store.company_id] == store.parent_company_id
        assert store.store_id.rpartition("-")[0] == store.company_id


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
    assert len(shares) == firms
    assert min(shares[:20]) >= 1500
    assert shares[19] + 1 >= shares[20]


def test_stores_are_divided_without_remainder() -> None:
    for stores, firms in ((0, 0), (0, 3), (1, 1), (7, 4), (7, 100), (1000, 5), (100_000, 119)):
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


POSTAL = {
    "US": r"\d{5}(-\d{4})?",
    "CA": r"[ABCEGHJKLMNPRSTVXY]\d[A-Z] \d[A-Z]\d",
    "MX": r"\d{5}",
    "BR": r"\d{5}-?\d{3}",
    "AU": r"\d{4}",
    "GB": r"[A-Z]{2}\d{1,2} \d[ABD-HJLNP-UW-Z]{2}",
    "FR": r"\d{5}",
    "DE": r"\d{5}",
    "ES": r"[1-5]\d{4}",
    "IT": r"\d{5}",
    "NL": r"[1-9]\d{3} ?[A-Z]{2}",
    "SE": r"\d{3} \d{2}",
    "PL": r"\d{2}-\d{3}",
    "TR": r"[1-8]\d{4}",
    "JP": r"\d{3}-\d{4}",
}
ADDRESSES = {
    "US": r"\d+ ([NSWE] )?[A-Z0-9].* (St|Ave|Rd|Blvd|Dr|Street|Pkwy)",
    "CA": r"\d+(-\d+)? .+ (St|Street|Ave|Rd|Dr|Blvd)( [WE])?|\d+,? (rue|boul\.|boulevard|avenue|ch\.) .+",
    "MX": r"(Av\.|Calle|Blvd\.)? ?.+ (No\. )?\d+(, (Col\. Centro|Int\. \d+))?",
    "BR": r"(Rua|R\.|Avenida|Av\.|Travessa|Praça) .+, (nº )?\d+",
    "AU": r"(\d+/)?\d+ .+ (St|Street|Rd|Road|Pde|Ave|Tce)",
    "GB": r"\d+(-\d+)?a? .+ (Street|Road|Lane|St|Way)",
    "FR": r"\d+( bis|,)? (Rue|rue|Avenue|Boulevard|av\.|Place) .+",
    "DE": r"\w+ ?(straße|str\.|weg|allee|platz|gasse) \d+[ab]?(-\d+b)?",
    "ES": r"(Calle|C/|Avenida|Avda\.|Plaza|Paseo) .+, \d+( bis)?",
    "IT": r"(Via|Corso|Viale|Piazza) .+,? \d+(/A|/bis)?",
    "NL": r".+(straat|weg|laan|plein|kade) \d+(-\d+|a)?",
    "SE": r"\w+(gatan|vägen|gränd|allén) \d+( B)?",
    "PL": r"((ul|al|os)\. )?.+ \d+(/\d+|a)?",
    "TR": r".+ (Cad\.|Caddesi|Bulvarı|Sok\.) No: ?\d+(/\d+)?",
    "JP": r"\D+\d(丁目)?(\d+-\d+|\d+番\d+号|-\d+-\d+)|\D+\d+-\d+|\d-\d+-\d+ \D+",
}
PHONES = {
    "US": r"(\+?1[ -])?\(?[2-9]\d\d[)\-. ]* ?[2-9]\d\d?[\d.-]+",
    "GB": r"(0|\(0|\+44 )[\d() ]+",
    "FR": r"(0\d|\+33 \d)([ .]?\d\d){4}",
    "JP": r"(0|\+81 )\d*-\d+-\d+",
}
FIRST = {
    "US": {"NY": "1", "MA": "0", "FL": "3", "IL": "6", "TX": "7", "CA": "9"},
    "CA": {"QC": "GHJ", "ON": "KLMNP", "BC": "V", "AB": "T", "NS": "B"},
    "AU": {"NSW": "2", "VIC": "3", "QLD": "4", "WA": "6"},
    "BR": {"SP": "0", "RJ": "2", "RS": "9"},
}


def by_country(stores: list[Store]) -> dict[str, list[Store]]:
    countries: dict[str, list[Store]] = defaultdict(list)
    for store in stores:
        countries[store.country].append(store)
    return countries


@pytest.mark.parametrize(
    ("field", "formats"), [("postal_code", POSTAL), ("address_1", ADDRESSES), ("phone_number", PHONES)]
)
def test_values_have_the_format_of_their_country(large: Sample, field: str, formats: dict[str, str]) -> None:
    countries = by_country(large.stores)
    for country, pattern in formats.items():
        values = {getattr(store, field) for store in countries[country]} - {None}
        assert values
        assert [value for value in values if not re.fullmatch(pattern, value)] == []


def test_postal_codes_begin_as_those_of_their_province_and_telephones_have_several_formats(large: Sample) -> None:
    for country, stores in by_country(large.stores).items():
        assert len({re.sub(r"\d", "0", store.phone_number) for store in stores if store.phone_number}) >= 3
        for store in stores:
            first = FIRST.get(country, {}).get(store.province or "")
            assert not (first and store.postal_code) or store.postal_code[0] in first


def test_a_store_is_within_a_twentieth_of_a_degree_of_its_city(large: Sample) -> None:
    members = [city for each in read_gazetteer().groups.values() for city in each.items]
    cities = {(city.country, city.province, city.name): city for city in members}
    decimals = set()
    for store in large.stores:
        if store.latitude is None or store.longitude is None or store.province is None:
            continue
        city = cities[store.country, store.province, store.city]
        assert abs(float(store.latitude) - city.latitude) < 0.0501
        assert abs(float(store.longitude) - city.longitude) < 0.0501
        decimals.add(len(store.latitude.partition(".")[2]))
    assert decimals == {4, 5, 6}
    assert any(store.latitude and store.latitude.endswith("0") for store in large.stores)


def test_dates_have_several_formats_and_no_order_and_no_store_was_updated_before_it_was_created(large: Sample) -> None:
    dates = [store.created_at for store in large.stores if store.created_at is not UNSET]
    assert len({re.sub(r"[0-9]", "0", date) for date in dates}) >= 8
    assert len({date[19:] for date in dates if re.fullmatch(r".{19}[+-]\d\d:\d\d", date)}) >= 10
    assert sum(one > other for one, other in pairwise(dates)) > len(dates) * 0.4
    both = [
        (parse_instant(store.created_at), parse_instant(store.updated_at))
        for store in large.stores[::5]
        if store.created_at is not UNSET and store.updated_at is not UNSET
    ]
    differences = [updated - created for created, updated in both if created and updated]
    assert len(differences) == len(both)
    assert min(differences) == timedelta()


@pytest.mark.parametrize(
    ("field", "least", "most"),
    [
        *(("name", 0.01, 0.05), ("address_2", 0.5, 0.9), ("province", 0.01, 0.05), ("postal_code", 0.01, 0.05)),
        *(("phone_number", 0.03, 0.1), ("latitude", 0.01, 0.05), ("created_at", 0.02, 0.06)),
        *(("updated_at", 0.05, 0.15), ("parent_company_id", 0.2, 0.8), ("is_open", 0.03, 0.05)),
    ],
)
def test_a_field_that_may_be_missing_sometimes_is(large: Sample, *, field: str, least: float, most: float) -> None:
    missing = sum(getattr(store, field) in (None, UNSET, False) for store in large.stores)
    assert least < missing / len(large.stores) < most


def test_some_companies_have_no_domain_and_the_others_one_of_their_name(large: Sample) -> None:
    domains = [company.domain for company in large.companies]
    assert 0 < domains.count(None) < len(domains) * 0.2
    for company in large.companies:
        if company.domain:
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z]{2,4}){1,2}", company.domain)
            assert company.domain.replace("-", "").startswith(company.company_id.replace("-", ""))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Maple Grocers", "maple-grocers"),
        ("O'Brien & Peña", "obrien-pena"),
        ("Bäckerei Strauß", "backerei-strauss"),
        ("Złoty Kłos", "zloty-klos"),
        ("Işık Kırtasiye", "isik-kirtasiye"),
        ("さくら商店", "sakura-shoten"),
        ("日の出ホールディングス", "hinode-holdings"),
    ],
)
def test_a_slug_has_lower_case_latin_letters_and_hyphens(name: str, expected: str) -> None:
    assert slug(name) == expected


def test_every_word_of_a_brand_has_a_slug() -> None:
    words = [word for brand in BRANDS.values() for word in (*brand.stems, *brand.trades)]
    assert [word for word in words if not re.fullmatch("[a-z]+(-[a-z]+)*", slug(word))] == []


ALMOST_ONE = 1 - 2**-53


def test_items_are_drawn_in_proportion_to_their_weights_and_shuffled_without_loss() -> None:
    letters = Weighted.of([("a", 1), ("b", 0), ("c", 3)])
    draws = iter(number / 400 for number in range(400))
    assert Counter(letters.pick(lambda: next(draws)) for _ in range(400)) == {"a": 100, "c": 300}
    for draw, item in ((0.0, "a"), (ALMOST_ONE, "c")):
        assert pick("abc", lambda: draw) == item  # noqa: B023 - called at once
        assert letters.pick(lambda: draw) == item  # noqa: B023 - called at once
    mixed = shuffled(range(100), stream(1))
    assert mixed != sorted(mixed) == list(range(100))


def test_a_pattern_is_filled_with_digits_and_letters() -> None:
    assert fill("+1 *#-@ x", lambda: 0.0) == "+1 20-A x"
    assert fill("+1 *#-@ x", lambda: ALMOST_ONE) == "+1 99-Z x"
