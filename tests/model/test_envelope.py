"""The envelope of a page."""

import json
from typing import Any

import msgspec
from hypothesis import given, strategies as st

from service.model.envelope import Facet, FacetValue, PaginatedResponse, opening, wrap
from service.model.query import Query


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
