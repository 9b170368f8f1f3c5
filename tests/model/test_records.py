"""The records: their fields, filters and sort fields, and their JSON."""

import json
from itertools import product

import msgspec
import pytest

from service.model.records import COMPANIES, STORES, Company, Resource, Store, partial

STORE_FIELDS = [
    "store_id",
    "company_id",
    "parent_company_id",
    "name",
    "address_1",
    "address_2",
    "city",
    "province",
    "country",
    "postal_code",
    "phone_number",
    "is_open",
    "latitude",
    "longitude",
    "created_at",
    "updated_at",
]
COMPANY_FIELDS = ["company_id", "name", "domain", "parent_company_id"]
STORE = Store(store_id="s1", company_id="c1", address_1="1 Main St", city="Örebro", country="SE")


def names(resource: Resource, kind: str) -> list[str]:
    return [field.name for field in resource.fields if field.kind.name == kind]


def required(resource: Resource) -> list[str]:
    return [field.name for field in resource.fields if field.required]


def test_a_store_has_the_fields_of_the_interface_in_its_order() -> None:
    assert [field.name for field in STORES.fields] == STORE_FIELDS
    assert all(field.served for field in STORES.fields)


def test_a_company_has_the_fields_of_the_interface_and_a_date_that_is_not_served() -> None:
    assert [field.name for field in COMPANIES.fields] == [*COMPANY_FIELDS, "created_at"]
    assert [field.name for field in COMPANIES.fields if field.served] == COMPANY_FIELDS


def test_each_resource_has_its_identifier() -> None:
    assert (STORES.name, STORES.identifier) == ("stores", "store_id")
    assert (COMPANIES.name, COMPANIES.identifier) == ("companies", "company_id")


def test_the_required_fields_are_those_of_the_interface() -> None:
    required = {
        resource.name: [field.name for field in resource.fields if field.required] for resource in (STORES, COMPANIES)
    }
    assert required["stores"] == ["store_id", "company_id", "address_1", "city", "country"]
    assert required["companies"] == ["company_id", "name"]


def test_stores_are_filtered_by_the_parameters_of_the_interface() -> None:
    assert [field.name for field in STORES.filters] == (
        [
            "store_id",
            "company_id",
            "parent_company_id",
            "city",
            "province",
            "country",
            "postal_code",
            "is_open",
            "latitude",
            "longitude",
        ]
    )


def test_companies_are_filtered_by_every_served_field() -> None:
    assert [field.name for field in COMPANIES.filters] == COMPANY_FIELDS


def test_values_are_counted_of_the_fields_of_the_interface() -> None:
    assert STORES.facets == (
        *("company_id", "parent_company_id", "city", "province", "country", "postal_code", "is_open"),
    )
    assert COMPANIES.facets == ("domain", "parent_company_id")


@pytest.mark.parametrize("record", [Store, Company])
def test_every_member_of_a_partial_record_may_be_missing(record: type[Store | Company]) -> None:
    assert msgspec.json.encode(msgspec.json.decode(b'{"name":"x"}', type=partial(record, record))) == b'{"name":"x"}'
    assert partial(record, record).__struct_fields__ == record.__struct_fields__


def test_a_store_of_a_list_may_have_a_distance_whether_or_not_it_is_whole() -> None:
    required = b'"store_id":"s","company_id":"c","address_1":"a","city":"c","country":"CA"'
    whole, some = STORES.items
    for members, kind in product(
        (required, b'"distance":5.0,' + required, b'"distance":null,' + required), (whole, some)
    ):
        given = msgspec.json.decode(b"{" + members + b"}")
        assert msgspec.to_builtins(msgspec.convert(given, kind)).items() >= given.items()
    assert [kind.__name__ for kind in COMPANIES.items] == ["Company", "PartialCompany"]


def test_every_field_sorts() -> None:
    assert list(STORES.sort_keys) == STORE_FIELDS
    assert list(COMPANIES.sort_keys) == [*COMPANY_FIELDS, "created_at"]


def test_every_field_has_the_kind_of_the_interface() -> None:
    assert names(STORES, "identifier") == ["store_id", "company_id", "parent_company_id"]
    assert names(STORES, "words") == ["name", "address_1", "address_2", "city", "province", "country", "phone_number"]
    assert names(STORES, "postal") == ["postal_code"]
    assert names(STORES, "number") == ["latitude", "longitude"]
    assert names(STORES, "flag") == ["is_open"]
    assert names(STORES, "instant") == ["created_at", "updated_at"]
    assert names(COMPANIES, "identifier") == ["company_id", "parent_company_id"]
    assert names(COMPANIES, "words") == ["name", "domain"]
    assert names(COMPANIES, "instant") == ["created_at"]


def test_a_store_has_null_for_missing_values_and_omits_unknown_dates() -> None:
    answered = json.loads(msgspec.json.encode(STORE))
    assert list(answered) == STORE_FIELDS[:-2]
    assert answered == {
        "store_id": "s1",
        "company_id": "c1",
        "parent_company_id": None,
        "name": None,
        "address_1": "1 Main St",
        "address_2": None,
        "city": "Örebro",
        "province": None,
        "country": "SE",
        "postal_code": None,
        "phone_number": None,
        "is_open": True,
        "latitude": None,
        "longitude": None,
    }


def test_a_store_has_its_known_dates() -> None:
    dates = {"created_at": "2024-01-02T03:04:05Z", "updated_at": "2024-01-02T03:04:05.000001+02:00"}
    answered = json.loads(msgspec.json.encode(msgspec.structs.replace(STORE, **dates)))
    assert list(answered) == STORE_FIELDS
    assert {name: answered[name] for name in dates} == dates


def test_numbers_keep_the_digits_of_the_data() -> None:
    answered = json.loads(msgspec.json.encode(msgspec.structs.replace(STORE, latitude="43.70", longitude="-79.400")))
    assert (answered["latitude"], answered["longitude"]) == ("43.70", "-79.400")


def test_a_company_has_four_fields() -> None:
    answered = json.loads(msgspec.json.encode(Company(company_id="c1", name="Acme")))
    assert list(answered) == COMPANY_FIELDS
    assert answered == {"company_id": "c1", "name": "Acme", "domain": None, "parent_company_id": None}


@pytest.mark.parametrize(
    "record", [STORE, Company(company_id="c1", name="Acme")], ids=lambda record: type(record).__name__
)
def test_a_record_cannot_be_changed(record: Store | Company) -> None:
    with pytest.raises(AttributeError):
        record.company_id = "other"  # type: ignore[misc]


@pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=["stores", "companies"])
def test_every_field_is_described_in_a_sentence(resource: Resource) -> None:
    assert all(field.description.endswith(".") for field in resource.fields)
