"""The benchmark over HTTP: its shapes of location and text searches, and the comparison of peers' results."""

import re
from pathlib import Path

import pytest

from bench.fleet import plan
from bench.markdown import fill
from bench.peers.redis import members
from bench.peers.redis_load import encode, is_complete
from bench.wire.__main__ import main
from bench.wire.bench import PEERS, PLACE_PEERS, peers_of
from bench.wire.comparison import COMPARED_RESPONSES, Comparison, Pair
from bench.wire.load import Run
from bench.wire.matches import Matches, matches_of_page
from bench.wire.shapes import REPEATED, UNREPEATED, Bound, Shape
from bench.wire.variants import LOCATED_FROM, choose_shapes
from service.model.query import QueryParser
from service.model.records import STORES
from service.sampling.sample_data_set import write_sample
from service.web.requests.request_target import query_pairs

pytestmark = pytest.mark.slow

PLACES = ("radius", "nearest", "box", "words", "facets", "clusters", "clusters-dense")
QUERIES = ("company", "city", "city-open", "page", "dense", "scattered")
FILTERED = ("radius", "nearest", "box", "words")
README = (Path(__file__).parents[1] / "bench" / "README.md").read_text("utf-8")
FOUND = b"*2\r\n*2\r\n$2\r\ns1\r\n$4\r\n10.5\r\n*2\r\n$2\r\ns2\r\n$4\r\n11.5\r\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data set with cities of more than a page."""
    data = tmp_path_factory.mktemp("bench") / "data"
    write_sample(data, stores=5000, companies=50, seed=1)
    return data


@pytest.fixture(scope="module")
def every(folder: Path) -> dict[str, Shape]:
    """Return the shapes of a large data set."""
    return {shape.slug: shape for shape in choose_shapes(folder, (), stores=LOCATED_FROM, seed=1)}


@pytest.fixture(scope="module")
def shapes(every: dict[str, Shape]) -> dict[str, Shape]:
    """Return the shapes of places and words."""
    return {slug: shape for slug, shape in every.items() if shape.is_located}


@pytest.mark.parametrize("slug", [*QUERIES, *PLACES])
def test_each_shape_is_measured_repeated_and_hardly_ever_repeated(every: dict[str, Shape], slug: str) -> None:
    repeated, other = every[slug], every[f"{slug}-unrepeated"]
    assert (repeated.is_plain, other.is_plain) == (True, False)
    assert len(set(repeated.requests)) == len(repeated.requests) <= REPEATED
    assert len(set(other.requests)) == len(other.requests) == UNREPEATED


def test_bounds_of_requests_that_are_hardly_ever_repeated_depend_on_the_number_of_stores(
    every: dict[str, Shape],
) -> None:
    bounded = {slug: shape.bound for slug, shape in every.items() if not shape.is_repeated and shape.bound}
    assert bounded == {"company-unrepeated": Bound("cpu_ratio", 1.1), "city-unrepeated": Bound("cpu_ratio", 0.55)}


@pytest.mark.parametrize("slug", FILTERED)
def test_each_request_for_a_place_or_words_has_a_filter_and_is_valid(shapes: dict[str, Shape], slug: str) -> None:
    parser = QueryParser(STORES)
    for request in (*shapes[slug].requests, *shapes[f"{slug}-unrepeated"].requests[:100]):
        assert ("is_open", "true") in request.params
        parser.parse(query_pairs(request.target.partition("?")[2]), strict=False)


@pytest.mark.parametrize("slug", ["facets", "clusters-dense"])
def test_each_request_for_counts_has_a_filter(shapes: dict[str, Shape], slug: str) -> None:
    every = (*shapes[slug].requests, *shapes[f"{slug}-unrepeated"].requests)
    assert all({"country", "is_open"} & dict(request.params).keys() for request in every)


def test_places_and_words_are_measured_on_many_stores_or_by_name(folder: Path, every: dict[str, Shape]) -> None:
    few = choose_shapes(folder, (), stores=LOCATED_FROM - 1, seed=1)
    named = choose_shapes(folder, ("city", "radius"), stores=1000, seed=1)
    assert not any(shape.is_located for shape in few)
    assert set(PLACES) < every.keys()
    assert {shape.slug for shape in few} < every.keys()
    assert [shape.slug for shape in named] == ["city", "radius"]
    assert not set(PLACE_PEERS) & set(peers_of(few))
    assert peers_of(list(every.values())) == peers_of(named) == PEERS


def test_an_unknown_shape_is_answered_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"company, city, .*radius, .*company-logged"):
        choose_shapes(folder, ("cities",), stores=1000, seed=1)


def test_every_shape_and_peer_in_a_command_of_the_page_exists(every: dict[str, Shape]) -> None:
    asked = set(re.findall(r"^ .*bench.*--shape ([a-z-]+)", README, re.MULTILINE))
    peers = set(re.findall(r"^ .*bench.*--peer ([a-z-]+)", README, re.MULTILINE))
    assert {"radius"} <= asked <= every.keys()
    assert {"redis"} <= peers <= {*PEERS, "none"}


def test_every_row_that_the_page_explains_is_in_the_table_of_steps() -> None:
    explanations, _, table = README.partition("## Growth")[0].partition("<!-- table:engine -->")
    explained = re.findall(r'^- "(\w[\w ]*)"', explanations, re.MULTILINE)
    assert [name for name in explained if name.lower() not in table] == []


def test_the_page_says_how_many_requests_there_are_and_when_places_are_measured(shapes: dict[str, Shape]) -> None:
    assert f"*repeated*, {len(shapes['radius'].requests):,} distinct\n  requests" in README
    assert f"*hardly ever repeated*, {len(shapes['radius-unrepeated'].requests):,}, of which" in README
    assert f"part of the runs with {LOCATED_FROM:,} stores" in README
    assert f"With fewer than {LOCATED_FROM:,} stores" in (main.help or "")
    assert f"{COMPARED_RESPONSES} responses are compared" in README


@pytest.mark.parametrize(
    ("ids", "total", "tolerance", "agrees"),
    [
        (["a", "b"], 2, 0, True),
        (["a", "b"], None, 0, True),
        (["b", "a"], 2, 0, False),
        (["a", "b"], 3, 0, False),
        (["a", "c"], 2, 0, False),
        (["a"], 2, 0, False),
        (["b", "a"], None, 1, True),
        (["c", "a"], None, 1, True),
        (["c", "d"], None, 1, False),
        (["a"], None, 1, False),
        (["a", "b"], 3, 1, False),
    ],
)
def test_a_peer_agrees_if_it_finds_the_same_stores(
    ids: list[str], total: int | None, tolerance: int, *, agrees: bool
) -> None:
    assert Matches(["a", "b"], 2).agrees(Matches(ids, total), tolerance) == agrees


def test_what_a_page_finds_is_read_from_it() -> None:
    page = b'{"total_count": 7, "data": [{"store_id": "a", "name": null}, {"store_id": "b", "name": "B"}]}'
    assert matches_of_page(page) == Matches(["a", "b"], 7)


def test_a_reply_of_redis_is_read_once_it_is_complete() -> None:
    assert encode("GEOSEARCH open") == b"*2\r\n$9\r\nGEOSEARCH\r\n$4\r\nopen\r\n"
    assert members(FOUND) == ["s1", "s2"]
    assert members(b"*0\r\n") == []
    assert [end for end in range(len(FOUND) + 1) if is_complete(FOUND[:end])] == [len(FOUND)]
    assert is_complete(b"+OK\r\n")
    assert not is_complete(b"+OK")


@pytest.mark.parametrize(
    ("bound", "missed"),
    [
        (None, ""),
        (Bound("cpu_ratio", 0.5), ""),
        (Bound("cpu_ratio", 0.75), "bare over service is 0.50, at least 0.75"),
        (Bound("rate_ratio", 3), "service over bare is 2.00, at least 3.00"),
        (Bound("cpu_microseconds", 20, is_upper=True), ""),
        (Bound("cpu_microseconds", 19, is_upper=True), "CPU µs is 20.00, at most 19 µs"),
        (Bound("cpu_added", -10, is_upper=True), ""),
        (Bound("cpu_added", -12.5, is_upper=True), "bare less service, µs is -10.00, at most -12.5 µs"),
    ],
)
def test_a_bound_is_on_the_median_of_a_figure(bound: Bound | None, missed: str) -> None:
    pairs = [Pair(Run(20, 200, 1, 1), Run(theirs, 100, 1, 1)) for theirs in (40, 10, 8)]
    assert Comparison("city", "bare", (1, 1), pairs, bound).missed == missed


def test_the_plan_of_a_fleet_is_of_the_latest_results() -> None:
    """If not, run `python -m bench.fleet.plan`."""
    page = plan.PAGE.read_text()
    assert page == fill(page, "plan", plan.markdown())
