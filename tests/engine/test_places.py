"""Stores near a point, in a circle, in a box and with words, compared with a naive scan: each way to find them."""

from functools import cache
from itertools import combinations, product
from random import Random

import pytest
from hypothesis import given, strategies as st

from service.engine import select as engine
from service.engine.columns.selection import UnsortedRows
from service.engine.results import page
from service.engine.select import select
from service.engine.table import Table
from service.model.intervals import LAST_KEY, Interval
from service.model.query import Criteria, Filter, QueryParser
from service.model.records import STORES
from tests.engine.oracle import STORES as COLLECTION, Answer, Pairs, Record, answer
from tests.engine.random_records import OWNERS, ask, build, queries
from tests.engine.test_locations import made as coordinates

pytestmark = pytest.mark.slow

COUNT = 700
FACETS = "city,is_open,company_id,postal_code"
_CITIES = ["Toronto", "Örebro", "東京", "Ottawa"]
_NAMES = ["Corner Shop", "Shop of Wonders", "Großmarkt", "McDonald's", "駅前ストア", "Café Ole"]


def stores(seed: int) -> list[Record]:
    """Return stores everywhere, in clusters, at poles, on the antimeridian, many at one point, and some nowhere."""
    random = Random(seed)
    return [
        dict.fromkeys(COLLECTION.forms)
        | {"store_id": f"s{number}", "company_id": random.choice(["a", "A", "Z", "none"]), "address_1": "1 Main St"}
        | {"city": random.choice([*_CITIES, "Toronto"]), "country": random.choice(["CA"] * 30 + ["SE"])}
        | {"name": random.choice([*_NAMES, None]), "is_open": random.choice(["true", "true", "false"])}
        | {"latitude": latitude, "longitude": longitude}
        | {"created_at": random.choice(["2024-01-01", "2024-01-02", None])}
        for number, (latitude, longitude) in enumerate(coordinates(seed, COUNT))
    ]


@cache
def served(seed: int) -> tuple[list[Record], Table]:
    records = stores(seed)
    return records, build(STORES, records)


@cache
def scanned(seed: int, pairs: tuple[tuple[str, str], ...]) -> Answer:
    """Return the answer of a naive scan."""
    return answer(COLLECTION, served(seed)[0], pairs, OWNERS)


def check(seed: int, pairs: Pairs) -> None:
    """Require the answer of a naive scan, twice: the second is from caches."""
    _, table = served(seed)
    expected = scanned(seed, tuple(pairs))
    assert ask(table, STORES, pairs) == expected, pairs
    assert ask(table, STORES, pairs) == expected, pairs


@given(st.integers(0, 3), st.data())
def test_any_combination_of_conditions_equals_a_naive_scan(seed: int, data: st.DataObject) -> None:
    made, _ = served(seed)
    for pairs in data.draw(st.lists(queries(COLLECTION, made, [3, 50, 1000]), min_size=8, max_size=8)):
        check(seed, pairs)


@pytest.mark.parametrize(
    "conditions",
    [
        [("is_open", "true")],
        [("country", "CA"), ("is_open", "true")],
        [("city", "Toronto"), ("city", "Ottawa"), ("country", "CA")],
        [("country", "SE"), ("is_open", "false")],  # few rows of common values
        [("radius", "1.2e7")],
        [("radius", "1.2e7"), ("is_open", "true")],
        [("bbox", "100,-90,-100,90"), ("is_open", "true")],
        [("q", "shop"), ("country", "CA")],
        [("q", "s"), ("radius", "1.5e7"), ("is_open", "true"), ("bbox", "-180,-80,180,90"), ("city", "Toronto")],
        [("q", "nothing"), ("radius", "1.5e7")],
    ],
    ids=str,
)
def test_an_answer_does_not_depend_on_how_it_is_found(conditions: Pairs) -> None:
    _, table = served(2)
    orders: list[Pairs] = [[("sort_by", name)] for name in ("distance", "name", "created_at")]
    for order in (*orders, *reversed(orders)):
        pairs = [("near", "45.1,135.2"), *conditions, *order]
        expected = scanned(2, (*pairs, ("facets", FACETS)))
        for clears in (True, False):
            if clears:
                for cache in (table.matches, table.selections, table.facets):
                    cache.clear()
            assert ask(table, STORES, pairs).data == expected.data
            table.selections.clear()
            assert ask(table, STORES, [*pairs, ("facets", FACETS)]) == expected
            table.selections.clear()
            assert ask(table, STORES, pairs).data == expected.data


def test_a_page_of_an_interval_is_that_of_a_scan_however_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_SORTED", 20)
    random, times = Random(7), ["2024-02-01", "2024-02-11", "2024-03-01", "2024-04-01", None]
    records: list[Record] = [{**each, "updated_at": random.choice(times)} for each in served(1)[0]]
    table = build(STORES, records)
    more: list[Pairs] = [[], [("facets", "is_open")], [("sort_by", "updated_at")], [("sort_by", "name")]]
    for interval in ("../2024-02-20", "2024-02-20/..", "../..", "2024-02-11/2024-02-12", "2025-01-01/.."):
        for number, order, others in product(("1", "2", "20"), ("asc", "desc"), more):
            pairs = [("updated_at", interval), ("sort_order", order), ("limit", "15"), ("page_num", number), *others]
            assert ask(table, STORES, pairs) == answer(COLLECTION, records, pairs, OWNERS), pairs
            if random.random() < 0.5:
                table.matches.clear()
    many = select(table, Criteria((Filter("updated_at", (Interval("2024-02-20", LAST_KEY),)),)), "created_at")
    assert isinstance(many, UnsortedRows)
    whole = many.whole()
    for part in ((0, many.total), (3, 40)):
        assert whole.slice(*part).tolist() == many.slice(*part).tolist()
        assert whole.descending(*part).tolist() == many.descending(*part).tolist()


def test_distance_is_the_last_member_with_one_decimal_or_null() -> None:
    table = build(STORES, [{**stores(1)[0], "store_id": key, "latitude": key, "longitude": "0"} for key in ("0", "x")])
    (first, second) = json_texts(table, [("near", "0,0")])
    assert first.endswith(',"distance":0.0}')
    assert second.endswith(',"distance":null}')
    assert json_texts(table, [("near", "0,0"), ("fields", "distance")]) == ['{"distance":0.0}', '{"distance":null}']
    assert json_texts(table, [("near", "0,0"), ("fields", "latitude")]) == ['{"latitude":"0"}', '{"latitude":"x"}']
    (far,) = json_texts(table, [("near", "-0.0,90"), ("fields", "distance"), ("limit", "1")])
    assert far == '{"distance":10007557.2}'


def json_texts(table: Table, pairs: Pairs) -> list[str]:
    rows = b"".join(page(table, QueryParser(STORES).parse(pairs, strict=True)).rows).decode()
    return [text if text.endswith("}") else text + "}" for text in rows.split("},")]


CONDITIONS: dict[str, list[Pairs]] = {
    "filter": [[("city", "Toronto")], [("city", "Ottawa")], [("is_open", "true")]],
    "circle": [
        [("near", "45.1,135.2"), ("radius", "1e6")],
        [("near", "45.1,135.2"), ("radius", "1e7")],
        [("near", "45.1,134.2"), ("radius", "1e6")],
        [("near", "45.1,135.2")],
    ],
    "box": [[("bbox", "0,0,180,90")], [("bbox", "0,0,180,89")], [("bbox", "180,0,0,90")]],
    "words": [[("q", "shop")], [("q", "shop ")], [("q", "sho ")], [("q", "shop corner")]],
}


def test_queries_that_differ_in_one_condition_share_no_selection_and_no_facet() -> None:
    records, table = served(3)
    asked: list[Pairs] = [[]]
    for chosen in [*combinations(CONDITIONS.values(), 1), *combinations(CONDITIONS.values(), 2)]:
        combined: list[Pairs] = [[]]
        for choices in chosen:
            combined = [[*pairs, *choice] for pairs in combined for choice in choices]
        asked += combined
    for conditions in asked:
        pairs = [*conditions, ("facets", "city,company_id"), ("fields", "store_id"), ("limit", "20")]
        assert ask(table, STORES, pairs) == answer(COLLECTION, records, pairs, OWNERS), pairs
