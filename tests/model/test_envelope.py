"""The envelope of a page."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from service.model.envelope import Facet, FacetValue, PaginatedResponse, opening, wrap
from service.model.query import Query


def wrapped(query: Query, *, total_count: int = 0, rows: bytes = b"") -> Any:
    return json.loads(b"".join(wrap(opening(query, total_count), [rows])))


def test_the_keys_come_in_the_order_of_the_interface() -> None:
    keys = ["limit", "num_pages", "page_num", "sort_order", "sort_by", "total_count", "data"]
    assert list(wrapped(Query())) == keys
    assert list(wrapped(Query(limit=3, sort_by="name"), total_count=7, rows=b"{}")) == keys


def test_the_envelope_repeats_paging_and_sorting_of_the_query() -> None:
    query = Query(sort_by="name", sort_order="desc", limit=2, page_num=3)
    assert wrapped(query, total_count=6, rows=b'{"name":"a"},{"name":"b"}') == {
        "limit": 2,
        "num_pages": 3,
        "page_num": 3,
        "sort_order": "desc",
        "sort_by": "name",
        "total_count": 6,
        "data": [{"name": "a"}, {"name": "b"}],
    }


def test_the_envelope_contains_the_defaults() -> None:
    assert wrapped(Query()) == {
        "limit": 1000,
        "num_pages": 0,
        "page_num": 1,
        "sort_order": "asc",
        "sort_by": "created_at",
        "total_count": 0,
        "data": [],
    }


@pytest.mark.parametrize(
    ("total", "limit", "pages"),
    [(0, 1, 0), (0, 1000, 0), (1, 1000, 1), (1000, 1000, 1), (1001, 1000, 2), (7, 1, 7), (7, 3, 3), (9, 3, 3)],
)
def test_num_pages_is_total_count_divided_by_limit_rounded_up(total: int, limit: int, pages: int) -> None:
    assert wrapped(Query(limit=limit), total_count=total)["num_pages"] == pages


@given(st.integers(0, 10**12), st.integers(1, 1000))
def test_the_last_page_has_at_least_one_record(total: int, limit: int) -> None:
    pages = wrapped(Query(limit=limit), total_count=total)["num_pages"]
    assert (pages - 1) * limit < total <= pages * limit or (total == pages == 0)


@pytest.mark.parametrize(
    "page_num", [2**53 + 1, 2**63, 2**64, 10**4300 - 1], ids=["2**53", "2**63", "2**64", "longest"]
)
def test_a_large_page_number_keeps_all_digits(page_num: int) -> None:
    assert f'"page_num":{page_num},'.encode() in b"".join(wrap(opening(Query(page_num=page_num), 5), []))


def test_rows_are_embedded_byte_for_byte() -> None:
    rows = '{"name":"Örebro \\u2028","latitude":"43.70"}'.encode()
    assert b"".join(wrap(opening(Query(), 1), [rows])).endswith(b'"data":[' + rows + b"]}")


def test_facets_follow_the_data_in_the_given_order() -> None:
    facets = {"b": Facet(1, [FacetValue("x", 2), FacetValue(None, 1)]), "a": Facet(0, [])}
    encoded = {name: msgspec.Raw(msgspec.json.encode(facet)) for name, facet in facets.items()}
    body = b"".join(wrap(opening(Query(), 3), [b'{"b":"x"}'], encoded))
    assert body == msgspec.json.encode(PaginatedResponse(num_pages=1, total_count=3, data=[{"b": "x"}], facets=facets))
    assert body.endswith(
        b'"data":[{"b":"x"}],"facets":{"b":{"distinct":1,"values":[{"value":"x","count":2},{"value":null,"count":1}]},'
        b'"a":{"distinct":0,"values":[]}}}'
    )
