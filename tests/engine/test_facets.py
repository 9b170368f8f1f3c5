"""Facets, compared with a naive count: ways to count, ties, the limit of values, spellings."""

from random import Random

import pytest

from service.engine.table import Table
from service.model.records import COMPANIES
from tests.engine.oracle import COMPANIES as COLLECTION, Pairs, Record, answer
from tests.engine.random_records import ask, build

pytestmark = pytest.mark.slow

COUNT = 3000


def companies() -> list[Record]:
    """Return companies of three parents, some without, and of many domains, of which some are frequent."""
    random = Random(1)
    domains = [random.choice(["a", "B", "b", *map(str, range(150)), None]) for _ in range(COUNT)]
    return [
        {
            "company_id": f"c{number}",
            "name": random.choice(["x", "y", "z", "Z"]),
            "domain": domain if number % 3 else f"rare {number % 1700}",
            "parent_company_id": random.choice(["p", "q", None]),
            "created_at": random.choice(["2024-01-01", "2024-01-02", None]),
        }
        for number, domain in enumerate(domains)
    ]


MADE = companies()


@pytest.fixture(scope="module")
def table() -> Table:
    return build(COMPANIES, MADE)


@pytest.mark.parametrize(
    "filters",
    [
        [],
        [("name", "x")],
        [("name", "x"), ("parent_company_id", "q")],
        [("name", "x"), ("name", "y")],
        [("name", "x"), ("name", "y"), ("name", "z"), ("parent_company_id", "p"), ("parent_company_id", "q")],
        [("name", name) for name in "xyz"],
        [("company_id", f"c{number}") for number in range(0, COUNT, 7)],
        [("company_id", f"c{number}") for number in range(0, COUNT, 700)],
        [("domain", "b"), ("name", "z")],
        [("domain", "5")],
        [("name", "nowhere")],
    ],
    ids=lambda filters: str(filters)[:60],
)
@pytest.mark.parametrize("sort_by", ["name", "created_at"])
def test_facets_equal_a_naive_count_whatever_is_cached(table: Table, filters: Pairs, sort_by: str) -> None:
    pairs = [*filters, ("facets", "domain,parent_company_id"), ("limit", "1"), ("sort_by", sort_by)]
    expected = answer(COLLECTION, MADE, pairs)
    page_alone = [pair for pair in pairs if pair[0] != "facets"]
    for _ in range(2):
        assert ask(table, COMPANIES, pairs) == expected
        table.facets.clear()  # the rows found are kept
        assert ask(table, COMPANIES, pairs) == expected
        table.facets.clear()
        table.matches.clear()  # those in the order are kept
        assert ask(table, COMPANIES, pairs) == expected
        assert ask(table, COMPANIES, page_alone).data == expected.data
        for cache in (table.facets, table.matches, table.selections):
            cache.clear()
