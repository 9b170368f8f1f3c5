"""Every cache of a serving process has a bound in bytes, and the documentation has the sum of them."""

import functools
import gc
import importlib
import json
import pkgutil
import re
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from math import ceil
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import HttpVersion11
from multidict import CIMultiDict, CIMultiDictProxy

import service
from bench.sizing import Rule
from service.access.token_bucket import MAX_BUCKETS, MemoryLimiter, Rate, RateDecision
from service.engine import places, text_index
from service.engine.columns import bounded_cache
from service.engine.columns.bounded_cache import BoundedCache
from service.engine.geography import locations
from service.engine.results import page
from service.model.coordinates import Coordinates
from service.model.errors import UnprocessableContent
from service.model.operation import GEO_JSON
from service.model.query import QueryParser, query_pairs
from service.model.records import STORES
from service.publishing.snapshot import SnapshotHolder
from service.settings import MAX_CONNECTIONS, Settings
from service.web.connections.limits import MAX_ADMIN_HELD_BYTES, MAX_HELD_BYTES
from service.web.endpoints.resources import ServedData, record_routes
from service.web.http import content_coding, cors, header_fields as media_types, response, response as problems
from service.web.http.forwarded import client_network
from service.web.http.request import Request, RequestFields
from service.web.http.response import Answer
from service.web.pipeline import access_log, answers, auth as rate_limiting
from service.web.pipeline.answers import Answers
from service.web.pipeline.app import SHORT_BYTES
from tests.baking.random_datasets import loaded, random_dataset
from tests.directory import store, write_directory
from tests.loaded import snapshot

pytestmark = pytest.mark.ci

TEXT = str(bounded_cache.__doc__)
MIB = 1 << 20
ROWS = [(paths.split(), int(most)) for most, paths in re.findall(r"^ *(\d+)  ((?: ?\S+\.py)+)$", TEXT, re.MULTILINE)]
# Caches of what the program itself declares, each once: their keys do not come from clients.
OF_CONSTANTS = {
    *("service.engine.row_csv", "service.loading.opening_hours", "service.model.attributes", "service.model.envelope"),
    *("service.model.openapi", "service.reading.columns.field_names", "service.reading.characters"),
    "service.reading.mapping.toml",
    *("service.sampling.reference_data", "service.web.endpoints.documents"),
}
# Those of an application: header lines of origins, and of the last two data sets.
OF_OBJECTS = {
    *("service.web.http.cors", "service.web.endpoints.locations"),
    *("service.web.endpoints.resources", "service.web.endpoints.whole_results"),
}
# Those of the process that compiles data files.
OF_COMPILING = {
    *("service.reading.columns.countries", "service.reading.columns.dates"),
    *("service.reading.hours.reader", "service.reading.mapping.conversions"),
}
FIELDS = [str(number).zfill(10) for number in range(97)]  # as many fields of one name as are read, and as long


def modules() -> Iterable[ModuleType]:
    for each in pkgutil.walk_packages(service.__path__, "service."):
        if not each.name.endswith(("__main__", ".process", ".compiler_process")):
            yield importlib.import_module(each.name)


def path_of(module: str) -> str:
    return module.removeprefix("service.").replace(".", "/") + ".py"


def growth(fill: Callable[[], object]) -> int:
    """Return the memory in bytes that a call leaves behind."""
    gc.collect()
    tracemalloc.start()
    try:
        fill()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_the_bounds_in_the_table_are_those_of_the_sum() -> None:
    (total,) = re.findall(r"^Together at most (\d+) MiB", TEXT, re.MULTILINE)
    assert sum(most for _, most in ROWS) == int(total)


def test_the_sum_of_the_bounds_of_a_process_is_documented() -> None:
    page = (Path(__file__).parents[1] / "SECURITY.md").read_text()
    memory = page.partition("## Memory of a process")[2].partition("\n## ")[0]
    terms = [int(each) for each in re.findall(r"^\| .* \| (\d+) \| `tests/", memory, re.MULTILINE)]
    caches = sum(most for _, most in ROWS)
    rule = Rule(**json.loads((Path(__file__).parents[1] / "deploy/helm/store-directory/files/sizing.json").read_text()))
    of_stores = rule.worker_mib + 1_000_000 * rule.worker_bytes_per_store / MIB
    of_connections = [MAX_CONNECTIONS * each / MIB for each in (rule.bytes_per_connection, SHORT_BYTES)]
    held = (MAX_HELD_BYTES + MAX_ADMIN_HELD_BYTES) // MIB
    assert terms == [ceil(of_stores), caches, held, *map(ceil, of_connections)]
    assert f"Together {sum(terms):,} MiB" in memory
    assert sum(terms) <= 1536
    assert f"at most {caches} MiB in a process, by default" in page


def test_every_cache_is_in_the_table() -> None:
    named = {path for paths, _ in ROWS for path in paths}
    for module in modules():
        source = Path(str(module.__file__)).read_text()
        if "lru_cache" in source or re.search(r"BoundedCache\[.*\]\(", source):
            assert path_of(module.__name__) in named or module.__name__ in OF_COMPILING, module.__name__
        elif "@cache\n" in source or "@cache " in source:
            assert module.__name__ in OF_CONSTANTS, module.__name__


LARGEST: Mapping[Any, Callable[[int], tuple[Any, ...]]] = {
    locations.vector_of: lambda number: (Coordinates(number / 7, number / 3),),
    problems._wants_problem: lambda number: (*FIELDS, str(number)),  # noqa: SLF001
    problems._lines: lambda number: (("Retry-After", str(number)), ("RateLimit", "x" * 100)),  # noqa: SLF001
    rate_limiting._fields: lambda number: (Rate(number + 1, 60, 5), RateDecision(True, 10**9, number)),
    media_types.prefers_geo_json: lambda number: (*FIELDS, str(number)),
    content_coding.acceptable: lambda number: (*FIELDS, str(number)),
    response._date: lambda number: (number,),  # noqa: SLF001
    access_log._second: lambda number: (number,),  # noqa: SLF001
    cors.Cors(frozenset({"*"})).lines: lambda number: (
        "Accept, Accept-Encoding, x-api-key",
        f"{number}é{'x' * 8000}\udc80",
    ),
}


def bound_of(module: str) -> int:
    return sum(most * MIB for paths, most in ROWS if path_of(module) in paths)


@pytest.mark.parametrize("cached", LARGEST, ids=lambda cached: cached.__wrapped__.__qualname__)
def test_a_cache_with_a_number_of_entries_is_bounded(cached: Any) -> None:
    cached.cache_clear()
    entries, arguments = cached.cache_parameters()["maxsize"], LARGEST[cached]
    some = max(entries // 4, 1)  # each is as large as the others
    taken = growth(lambda: [cached(*arguments(number)) for number in range(some)][:0])
    assert taken * entries <= some * bound_of(cached.__wrapped__.__module__)
    assert cached.cache_info().currsize == some
    cached.cache_clear()


def test_no_other_cache_has_a_number_of_entries() -> None:
    list(modules())
    found = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]  # noqa: SLF001
    ours = {each.__wrapped__.__module__ for each in found if each.__wrapped__.__module__.startswith("service.")}
    assert ours <= OF_CONSTANTS | OF_OBJECTS | OF_COMPILING | {each.__wrapped__.__module__ for each in LARGEST}


SQUARES = "".join(map(chr, range(0x3300, 0x3318)))  # each becomes several words
QUERIES = {
    "a value": "city=town{0}&limit=50",
    "many values": "page_num={0}&" + "&".join(f"city={letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
    "many filters": "page_num={0}&city=a&country=b&province=c&postal_code=d&store_id=e&is_open=1&latitude=1&near=1,2",
    "many terms": "page_num={0}&q=" + quote(SQUARES),
    "long texts": "page_num={0}&city=" + quote("\ufdfa" * 24),
    "long links": "page_num={0}&x=" + "'\"<>[]^`{{|}}" * 20,
    "a box": "bbox=1,-1,2,{0}e-4&near=1,{0}e-4&radius=1",
    "nothing": "limit=1&page_num={0}",
}


FIELDS_WITHOUT = RequestFields(CIMultiDictProxy(CIMultiDict()))
COMPRESSED = RequestFields(CIMultiDictProxy(CIMultiDict({"Accept-Encoding": "br", "Accept": GEO_JSON})))


class Asked:
    """The recent answers of a small data set, and the route of its stores."""

    def __init__(self, folder: Path, stores: int = 50) -> None:
        snapshots = SnapshotHolder()
        records = [store(f"s{number:04}", name=f"{number * 7919 % 10_007:05}") for number in range(stores)]
        snapshots.current = snapshot(write_directory(folder, records))
        self._route = record_routes(ServedData(snapshots, Settings()))[0]
        self._recent = Answers(snapshots, 1 << 30, lambda _: None)

    @property
    def counted(self) -> int:
        """The bytes that the answers are counted as."""
        return int(self._recent.data._bytes)  # noqa: SLF001

    def ask(self, query: str, fields: RequestFields = FIELDS_WITHOUT) -> None:
        line = f"GET /stores?{query} HTTP/1.1".encode()
        request = Request(line, "GET", "/stores", query, HttpVersion11, fields, None)
        for _ in range(2):
            answer = self._recent.answer(self._route, "", request)
            assert isinstance(answer, Answer)


@pytest.mark.parametrize("fields", [FIELDS_WITHOUT, COMPRESSED], ids=["plain", "compressed"])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_recent_answers_take_no_more_than_what_they_are_counted_as(
    tmp_path: Path, query: str, fields: RequestFields
) -> None:
    asked = Asked(tmp_path / "data")

    def fill() -> None:
        for number in range(1, 121):
            asked.ask(query.format(number), fields)

    asked.ask(query.format(0) if "page_num={0}" not in query else "limit=1", fields)  # what is made once
    # The tables' own caches grow as well, by at most this for each query.
    assert growth(fill) <= asked.counted + 120 * (4 << 10) + (64 << 10)
    assert asked.counted > 120 * (4 << 10)


def test_pages_that_are_copies_of_scattered_rows_are_counted(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "data", stores=600)

    def fill() -> None:
        for number in range(40):
            asked.ask(f"sort_by=name&limit=500&x={number}")

    asked.ask("sort_by=name&limit=500")  # what is made once
    assert growth(fill) <= asked.counted + (64 << 10)
    assert asked.counted > 40 * 500 * 100


def test_errors_are_as_if_they_had_not_been() -> None:
    parser = QueryParser(STORES)

    def fill() -> None:
        for number in range(300):
            with pytest.raises(UnprocessableContent):
                parser.parse([(f"{number}", ""), *((f"x{name}", "") for name in range(40))], strict=True)

    assert growth(fill) < (64 << 10)


def test_what_requests_leave_in_a_table_is_bounded(tmp_path: Path) -> None:
    dataset = loaded(random_dataset((40, 12, 5, 4)).write(tmp_path / "data"))
    table, parser = dataset.stores, QueryParser(STORES)
    caches = [each for each in vars(table).values() if isinstance(each, BoundedCache)]
    assert len(caches) == 5
    assert 2 * sum(cache.max_bytes for cache in caches) == bound_of("service.engine.table")
    for cache in caches:
        cache.max_bytes = 128 << 10

    def fill() -> None:
        for number in range(400):
            for query in (
                f"city=x{number}&facets=city",
                f"near=1,{number}e-3&radius=9e6",
                f"country=CA&city=y{number}",
            ):
                page(table, parser.parse(query_pairs(query), strict=True))

    fill()  # what is made once
    assert growth(fill) <= len(caches) * (128 << 10) + (64 << 10)


def test_the_buckets_of_clients_are_bounded_with_the_longest_names() -> None:
    clients, rate = MemoryLimiter(), Rate(120, 60, 120)

    def fill() -> None:
        for number in range(2 * MAX_BUCKETS):
            clients.take(f"{'k' * 64} {client_network(f'2001:db8:{number >> 16:x}:{number & 0xFFFF:x}::')}", rate)

    assert MAX_BUCKETS * 200 < growth(fill) <= bound_of("service.access.token_bucket")


_hashes: set[int] = set()


def test_other_bounded_caches_have_the_bounds_of_the_table() -> None:
    # Of stores and of companies, and of the two indexes of places.
    of_words = 2 * text_index._CACHE_BYTES + 2 * places.CACHE_BYTES  # noqa: SLF001
    assert bound_of("service.engine.text_index") == of_words
    settings = Settings(data=".")
    response_cache = (settings.response_cache << 20) + answers._DOCUMENT_BYTES  # noqa: SLF001
    most = answers._MOST_ONCE  # noqa: SLF001
    hashes = growth(lambda: _hashes.update(hash(b"%d" % number) for number in range(most)))
    assert response_cache < response_cache + hashes <= bound_of("service.web.pipeline.answers")
    assert response_cache + 2 * MIB == bound_of("service.web.pipeline.answers")


def test_what_is_kept_of_an_answer_is_nothing_to_the_garbage_collector(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "data")
    asked.ask("")
    gc.collect()
    before = len(gc.get_objects())
    for number in range(2, 202):
        asked.ask(f"city=x&country=a&country=b&q=c+d&fields=name,city&page_num={number}")
    gc.collect()
    gc.collect()  # only then a tuple of tuples is forgotten
    assert len(gc.get_objects()) - before < 20


def test_the_garbage_collector_finds_few_objects_of_an_answer_before_it_has_run(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "data", stores=202)
    asked.ask("limit=1&v=0")
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for number in range(2, 202):
            asked.ask(f"limit=1&page_num={number}&v={number}")
        assert len(gc.get_objects()) - before < 200 * 3
    finally:
        gc.enable()
