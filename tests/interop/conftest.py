"""A service with each cache in front of it, in turn; visits of a browser to the explorer."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

import pytest
from playwright.sync_api import Browser, ViewportSize

from tests.directory import Record, company, write_directory
from tests.interop.cache_client import FIRST, SECOND, CachedService
from tests.interop.caching_proxies import NGINX, VARNISH, CacheKind
from tests.interop.explored import DESKTOP, Visit, chromium
from tests.program import Running, eventually, serving
from tests.run.generations import Generation

Records = Iterable[Record]
ACME: Records = (company(),)
KEYS = ("--api-key", FIRST[1], "--api-key", SECOND[1])
# Cache-Control for shared caches: fresh for ten minutes, or for a second.
FRESH = ("--cache-control", "max-age=0, s-maxage=600")
BRIEF = ("--cache-control", "max-age=0, s-maxage=1")
# Makes each answer long enough to be worth a coding.
WEIGHT = 500


class Served(Protocol):
    """Serves some stores, and companies, without keys unless options say so, until the test ends."""

    def __call__(
        self, stores: Records, *options: str | Path, mapping: str = "", companies: Records = ACME
    ) -> Running: ...


class Look(Protocol):
    """Opens a path of the service of all stores in a new browser."""

    def __call__(self, path: str, viewport: ViewportSize = DESKTOP) -> Visit: ...


class SetUp(Protocol):
    """Runs a service, with options, and a cache in front of it, with changes of its file, until the test ends."""

    def __call__(
        self, *options: str, keys: Sequence[str] = KEYS, changes: Sequence[tuple[str, str]] = ()
    ) -> CachedService: ...


def write(folder: Path, number: int) -> Path:
    """Write a data set, of seven stores or as many as its number says, into a folder."""
    return Generation(number, weight=WEIGHT).write(folder)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "data", 5)


@pytest.fixture(params=[NGINX, VARNISH], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> CacheKind:
    found: CacheKind = request.param
    return found


@pytest.fixture
def set_up(kind: CacheKind, data: Path, tmp_path: Path, unused_tcp_port_factory: Callable[[], int]) -> Iterator[SetUp]:
    with ExitStack() as runs:

        def start(*options: str, keys: Sequence[str] = KEYS, changes: Sequence[tuple[str, str]] = ()) -> CachedService:
            cache = ("--cache", tmp_path / "cache")
            service = runs.enter_context(serving("--data", data, *cache, *keys, *options, log=tmp_path / "service.log"))
            proxy = kind.serving(service.address, tmp_path / kind.name, unused_tcp_port_factory(), *changes)
            return CachedService(service, runs.enter_context(proxy))

        yield start


def no_longer_fresh() -> None:
    """Wait until a response with a lifetime of one second is stale in every cache."""
    end = monotonic() + 3
    eventually(lambda: monotonic() > end)


@contextmanager
def withdrawn(cached: CachedService, data: Path) -> Iterator[None]:
    """Restart the service at its address, without the first key."""
    assert cached.service.end() == 0
    port = cached.service.address.rpartition(":")[2]
    with serving("--data", data, "--port", port, "--api-key", SECOND[1], *BRIEF):
        yield


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with ExitStack() as runs:

        def serve(stores: Records, *options: str | Path, mapping: str = "", companies: Records = ACME) -> Running:
            return runs.enter_context(serving_stores(tmp_path, stores, *options, mapping=mapping, companies=companies))

        yield serve


def serving_stores(
    folder: Path, stores: Records, *options: str | Path, mapping: str = "", companies: Records = ACME
) -> AbstractContextManager[Running]:
    """Serve stores from a folder inside the block."""
    data = write_directory(folder / "data", stores, companies)
    if mapping:
        (data / "mapping.toml").write_text(mapping)
    keys = () if any("key" in str(option) for option in options) else ("--no-auth",)
    return serving("--data", data, "--cache", folder / "cache", *keys, *options)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running_browser:
        yield running_browser


@pytest.fixture
def visits(browser: Browser) -> Iterator[Any]:
    """Return what opens the page in a new browser; no visit may report an error."""
    with ExitStack() as contexts:
        made: list[Visit] = []

        def visit(
            origin: str, *allowed: int, viewport: ViewportSize | None = None, also: str = "", **options: Any
        ) -> Visit:
            context = browser.new_context(viewport=viewport or DESKTOP, locale="en-CA", **options)
            contexts.callback(context.close)
            made.append(Visit(context, origin, *allowed, also=also))
            return made[-1]

        yield visit
        assert [error for each in made for error in each.errors] == []


@pytest.fixture
def look(visits: Any, service: Running) -> Look:
    def opened(path: str, viewport: ViewportSize = DESKTOP) -> Visit:
        visit: Visit = visits(service.address, viewport=viewport, reduced_motion="reduce")
        return visit.open(path)

    return opened
