"""The benchmark over HTTP: its shapes of location and text searches, how results are compared, what is made of them."""

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from bench import shapes
from bench.load import Comparison, Pair, Run, Workload
from bench.peers.contenders import PEERS
from bench.report import README, RESULTS, fill
from bench.servers import Failed, Response
from bench.shapes import REPEATED, UNREPEATED, Bound, Shape
from bench.wire import locator
from bench.wire.__main__ import COMPARED_RESPONSES, check_same_stores, main
from bench.wire.http_report import PLAN_PAGE, Report, markdown, plan
from bench.wire.variants import LOCATED_FROM, choose_shapes
from service.model.query import QueryParser, query_pairs
from service.model.records import STORES
from service.sampling.sample_dataset import write_sample

pytestmark = pytest.mark.ci

PLACES = ("radius", "nearest", "box", "words", "facets", "clusters", "clusters-dense")
QUERIES = ("company", "city", "city-open", "page", "dense", "scattered")
PAGE = README.read_text("utf-8")


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


@pytest.mark.parametrize("slug", [*QUERIES, *PLACES])
def test_each_shape_is_measured_repeated_and_hardly_ever_repeated(every: dict[str, Shape], slug: str) -> None:
    repeated, other = every[slug], every[f"{slug}-unrepeated"]
    assert (repeated.is_plain, other.is_plain) == (True, False)
    assert len(set(repeated.requests)) == len(repeated.requests) <= REPEATED
    assert len(set(other.requests)) == len(other.requests) == UNREPEATED


def test_each_request_has_a_filter_and_is_valid(every: dict[str, Shape]) -> None:
    parser = QueryParser(STORES)
    for slug in ("radius", "nearest", "box", "words", "facets", "clusters-dense"):
        for request in (*every[slug].requests, *every[f"{slug}-unrepeated"].requests[:100]):
            assert {"country", "is_open"} & dict(request.params).keys()
            if "clusters" not in slug:
                parser.parse(query_pairs(request.target.partition("?")[2]), strict=False)


def test_places_and_words_are_measured_on_many_stores_or_by_name(
    folder: Path, every: dict[str, Shape], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (shapes, locator):
        monkeypatch.setattr(module, "UNREPEATED", 1000)  # of which there are enough, as above
    few = choose_shapes(folder, (), stores=LOCATED_FROM - 1, seed=1)
    named = choose_shapes(folder, ("city", "radius"), stores=1000, seed=1)
    assert not any(shape.is_located for shape in few)
    assert {*PLACES, *(shape.slug for shape in few)} < every.keys()
    assert [shape.slug for shape in named] == ["city", "radius"]
    with pytest.raises(ValueError, match=r"company, city, .*radius, .*company-own-fields"):
        choose_shapes(folder, ("cities",), stores=1000, seed=1)


def test_the_page_has_the_figures_and_the_names_of_the_code(every: dict[str, Shape]) -> None:
    shapes, peers = (set(re.findall(rf"^ .*--{what} ([a-z-]+)", PAGE, re.MULTILINE)) for what in ("shape", "peer"))
    assert {"radius"} <= shapes <= every.keys()
    assert {"fastapi"} <= peers <= {*PEERS, "none"}
    page = " ".join(PAGE.split())
    assert f"*repeated*, {REPEATED:,} distinct requests" in page
    assert f"*hardly ever repeated*, {UNREPEATED:,}" in page
    assert f"in runs with {LOCATED_FROM:,} stores" in page
    assert f"With fewer than {LOCATED_FROM:,} stores" in (main.help or "")
    assert f"{COMPARED_RESPONSES} responses are compared" in page


class Answered(msgspec.Struct):
    """A server with one page."""

    page: bytes

    def fetch(self, _: str) -> Response:
        return Response(200, body=self.page)


def workload(ids: Sequence[str], total: int) -> Workload:
    """Return a request that finds some stores, in this order."""
    page = {"total_count": total, "data": [{"store_id": each, "name": None} for each in ids]}
    return Workload(Answered(msgspec.json.encode(page)), ["/stores"], 200, "")  # type: ignore[arg-type]


@pytest.mark.parametrize(("ids", "total"), [("ba", 2), ("ab", 3), ("ac", 2), ("a", 2)])
def test_a_peer_is_measured_if_it_finds_the_same_stores(ids: str, total: int) -> None:
    check_same_stores(workload("ab", 2), workload("ab", 2))
    with pytest.raises(Failed, match="have other stores, first /stores"):
        check_same_stores(workload("ab", 2), workload(ids, total))


@pytest.mark.parametrize(
    ("bound", "missed"),
    [
        (None, ""),
        (Bound("cpu_ratio", 0.5), ""),
        (Bound("cpu_ratio", 0.75), "bare over service is 0.50, at least 0.75"),
        (Bound("rate_ratio", 3), "service over bare is 2.00, at least 3.00"),
        (Bound("cpu_microseconds", 20, is_upper=True), ""),
        (Bound("cpu_microseconds", 19, is_upper=True), "CPU µs is 20.00, at most 19 µs"),
    ],
)
def test_a_bound_is_on_the_median_of_a_figure(bound: Bound | None, missed: str) -> None:
    pairs = [Pair(Run(20, 200, 1), Run(theirs, 100, 1)) for theirs in (40, 10, 8)]
    assert Comparison("city", "bare", pairs, bound).missed == missed


@pytest.mark.parametrize("stores", [100_000, 1_000_000])
def test_the_tables_are_those_of_the_results(stores: int) -> None:
    """If not, `python -m bench.wire` was changed: make them again of `bench/results`."""
    report = msgspec.json.decode((RESULTS / f"{stores}.json").read_bytes(), type=Report)
    assert fill(PAGE, str(stores), markdown(report)) == PAGE
    if stores == LOCATED_FROM:
        page = PLAN_PAGE.read_text("utf-8")
        assert fill(page, "plan", plan(report)) == page
