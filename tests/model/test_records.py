"""The records: their fields, filters and sort fields, their JSON, and the envelope of a page."""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.model.envelope import Facet, FacetValue, PaginatedResponse, opening, wrap
from service.model.query import Query
from service.model.records import COMPANIES, STORES, Company, Field, Resource, Store, partial
from tests.interface_fields import COMPANY_FIELDS, STORE_FIELDS, Fields

STORE = Store(store_id="s1", company_id="c1", address_1="1 Main St", city="Örebro", country="SE")


each_resource = pytest.mark.parametrize(
    ("resource", "fields"), [(STORES, STORE_FIELDS), (COMPANIES, COMPANY_FIELDS)], ids=["stores", "companies"]
)


def uses(field: Field) -> Iterator[str]:
    """Yield what a field is, in the words of `interface_fields`."""
    yield from (name for name in ("required", "filters", "facets", "searched") if getattr(field, name))
    yield from () if field.served else ("unserved",)


@each_resource
def test_a_resource_has_the_fields_of_the_interface_each_with_a_sentence(resource: Resource, fields: Fields) -> None:
    assert [(field.name, field.kind.name, frozenset(uses(field))) for field in resource.fields] == list(fields)
    assert all(field.description.endswith(".") for field in resource.fields)


def test_each_resource_has_its_identifier() -> None:
    assert (STORES.name, STORES.identifier) == ("stores", "store_id")
    assert (COMPANIES.name, COMPANIES.identifier) == ("companies", "company_id")


@pytest.mark.parametrize("record", [Store, Company])
def test_every_member_of_a_partial_record_may_be_missing(record: type[Store | Company]) -> None:
    assert msgspec.json.encode(msgspec.json.decode(b'{"name":"x"}', type=partial(record, record))) == b'{"name":"x"}'
    assert partial(record, record).__struct_fields__ == record.__struct_fields__


def test_a_store_of_a_list_may_have_a_distance_whether_or_not_it_is_whole() -> None:
    required = b'"store_id":"s","company_id":"c","address_1":"a","city":"c","country":"CA"'
    whole, some = STORES.items
    for text, kind in product((required, b'"distance":5.0,' + required, b'"distance":null,' + required), (whole, some)):
        decoded = msgspec.json.decode(b"{" + text + b"}")
        assert msgspec.to_builtins(msgspec.convert(decoded, kind)).items() >= decoded.items()
    assert [kind.__name__ for kind in COMPANIES.items] == ["Company", "PartialCompany"]


@pytest.mark.parametrize(
    "record", [STORE, Company(company_id="c1", name="Acme")], ids=lambda record: type(record).__name__
)
def test_a_record_cannot_be_changed(record: Store | Company) -> None:
    with pytest.raises(AttributeError):
        record.company_id = "other"  # type: ignore[misc]


def wrapped(query: Query, *, total_count: int = 0, rows: bytes = b"") -> Any:
    return json.loads(b"".join(wrap(opening(query, total_count), [rows])))


@given(st.integers(0, 10**12), st.integers(1, 1000))
def test_the_last_page_has_at_least_one_record(total: int, limit: int) -> None:
    pages = wrapped(Query(limit=limit), total_count=total)["num_pages"]
    assert (pages - 1) * limit < total <= pages * limit or (total == pages == 0)


def test_facets_follow_the_data_in_the_given_order() -> None:
    facets = {"b": Facet(1, [FacetValue("x", 2), FacetValue(None, 1)]), "a": Facet(0, [])}
    encoded = {name: msgspec.Raw(msgspec.json.encode(facet)) for name, facet in facets.items()}
    body = b"".join(wrap(opening(Query(), 3), [b'{"b":"x"}'], encoded))
    assert body == msgspec.json.encode(PaginatedResponse(num_pages=1, total_count=3, data=[{"b": "x"}], facets=facets))
    assert body.endswith(
        b'"data":[{"b":"x"}],"facets":{"b":{"distinct":1,"values":[{"value":"x","count":2},{"value":null,"count":1}]},'
        b'"a":{"distinct":0,"values":[]}}}'
    )
