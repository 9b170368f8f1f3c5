"""The records: their fields, filters and sort fields, and their JSON."""

from collections.abc import Iterator
from itertools import product

import msgspec
import pytest

from service.model.records import COMPANIES, STORES, Company, Field, Resource, Store, partial
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Fields, members, names

STORE = Store(store_id="s1", company_id="c1", address_1="1 Main St", city="Örebro", country="SE")


each_resource = pytest.mark.parametrize(
    ("resource", "fields"), [(STORES, STORE_FIELDS), (COMPANIES, COMPANY_FIELDS)], ids=["stores", "companies"]
)


def uses(field: Field) -> Iterator[str]:
    """Yield what a field is, in the words of `interface_fields`."""
    yield from (name for name in ("required", "filters", "facets", "searched") if getattr(field, name))
    yield from () if field.served else ("unserved",)


@each_resource
def test_a_resource_has_the_fields_of_the_interface_in_its_order(resource: Resource, fields: Fields) -> None:
    assert [(field.name, field.kind.name, frozenset(uses(field))) for field in resource.fields] == list(fields)


def test_each_resource_has_its_identifier() -> None:
    assert (STORES.name, STORES.identifier) == ("stores", "store_id")
    assert (COMPANIES.name, COMPANIES.identifier) == ("companies", "company_id")


@each_resource
def test_each_use_has_its_fields(resource: Resource, fields: Fields) -> None:
    assert [field.name for field in resource.filters] == names(fields, "filters")
    assert [field.name for field in resource.searched] == names(fields, "searched")
    assert list(resource.facets) == names(fields, "facets")
    assert list(resource.members) == members(fields)


@pytest.mark.parametrize("record", [Store, Company])
def test_every_member_of_a_partial_record_may_be_missing(record: type[Store | Company]) -> None:
    assert msgspec.json.encode(msgspec.json.decode(b'{"name":"x"}', type=partial(record, record))) == b'{"name":"x"}'
    assert partial(record, record).__struct_fields__ == record.__struct_fields__


def test_a_store_of_a_list_may_have_a_distance_whether_or_not_it_is_whole() -> None:
    required = b'"store_id":"s","company_id":"c","address_1":"a","city":"c","country":"CA"'
    whole, some = STORES.items
    for given, kind in product(
        (required, b'"distance":5.0,' + required, b'"distance":null,' + required), (whole, some)
    ):
        decoded = msgspec.json.decode(b"{" + given + b"}")
        assert msgspec.to_builtins(msgspec.convert(decoded, kind)).items() >= decoded.items()
    assert [kind.__name__ for kind in COMPANIES.items] == ["Company", "PartialCompany"]


@each_resource
def test_every_field_sorts(resource: Resource, fields: Fields) -> None:
    assert list(resource.sort_keys) == names(fields)


@pytest.mark.parametrize(
    "record", [STORE, Company(company_id="c1", name="Acme")], ids=lambda record: type(record).__name__
)
def test_a_record_cannot_be_changed(record: Store | Company) -> None:
    with pytest.raises(AttributeError):
        record.company_id = "other"  # type: ignore[misc]


@pytest.mark.parametrize("resource", [STORES, COMPANIES], ids=["stores", "companies"])
def test_every_field_is_described_in_a_sentence(resource: Resource) -> None:
    assert all(field.description.endswith(".") for field in resource.fields)
