"""The number of Python calls of a request has a budget: it is the same on every machine, and most of the cost."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import service
from service.model.operation import KEY_HEADER
from service.publishing.snapshot import SnapshotHolder
from service.web.site import make_site
from tests.loaded import Data, serve
from tests.web.connections.harness import Wire
from tests.web.live import DEFAULTS, KEY, authentication

SERVICE = str(Path(service.__file__).parent)
# Of repeated requests.
BUDGETS = {
    ("/companies/acme",): 17,
    ("/companies/acme", "X-Request-Id: {0}", "traceparent: {0}", "X-Forwarded-For: {0}"): 19,
    ("/stores?city=ottawa&limit=50",): 17,
    ("/stores?city=ottawa&limit=50", "If-None-Match: *", "X-Request-Id: {0}"): 27,
    ("/stores?limit=1000", "Accept-Encoding: br"): 17,
    ("/clusters?bbox=-180,-90,180,90&zoom=3",): 17,
}
# Of requests whose answers are not kept, each with a number of its own, but for what the engine keeps.
NEW_BUDGETS = {
    ("/companies/acme?x={0}",): 35,
    ("/companies/acme?x={0}", "X-Request-Id: {0}", "traceparent: {0}", "X-Forwarded-For: {0}"): 37,
    ("/stores?city=ottawa&limit=5{0}",): 53,
    ("/stores?city=ottawa&limit=5{0}", "If-None-Match: *", "X-Request-Id: {0}"): 44,
    ("/stores?limit=99{0}",): 47,
    ("/stores?country=CA&is_open=true&sort_by=name&limit=5{0}",): 57,
    ("/stores?q=main&limit=5{0}",): 58,
    ("/stores?bbox=-80,43,-79,44&limit=5{0}",): 61,
    ("/stores?near=43.65,-79.38&limit=5{0}",): 80,
    ("/stores?near=43.65,-79.38&radius=50000&limit=5{0}",): 90,
    ("/clusters?bbox=-180,-90,180,8{0}&zoom=3",): 72,
    ("/clusters?bbox=-180,-90,180,8{0}&zoom=3&is_open=true",): 87,
}
# An answer that took more than a millisecond is kept at once, which any may do on a slow machine.
KEEPING = 4


class Calls:
    """Counts calls of functions of the service."""

    def __init__(self) -> None:
        self.count = 0
        self.files: set[str] = set()

    @contextmanager
    def counting(self) -> Iterator[None]:
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SERVICE):
            self.count += 1
            self.files.add(frame.f_code.co_filename)


@pytest.fixture
def data(folder: Path) -> Data:
    """Return a data set of the test's own: its caches have nothing of other tests."""
    return folder


async def calls(snapshots: SnapshotHolder, data: Data, target: str, *fields: str) -> Calls:
    """Return the calls of a request that was sent before on the connection, but for the numbers in it.

    It is sent again and the fewest calls count: the first response of a second takes one more, for its Date.
    """
    await serve(snapshots, data)
    wire = Wire(make_site(snapshots, authentication([KEY]), DEFAULTS).public)
    lines = (f"GET {target} HTTP/1.1", "Host: t", f"{KEY_HEADER}: {KEY}", *fields, "", "")
    first, second, *others = ("\r\n".join(lines).format(number).encode() for number in range(4))
    await wire.send(first, second)
    counts = []
    for request in others:
        counted = Calls()
        with counted.counting():
            await wire.send(request)
        counts.append(counted)
    assert len(set(wire.statuses)) == 1
    return min(counts, key=lambda counted: counted.count)


@pytest.mark.parametrize("request_parts", BUDGETS)
async def test_a_request_takes_at_most_its_budget_of_calls(
    snapshots: SnapshotHolder, data: Data, request_parts: tuple[str, ...]
) -> None:
    counted = await calls(snapshots, data, *request_parts)
    assert counted.count <= BUDGETS[request_parts]


@pytest.mark.parametrize(
    ("target", "files"),
    [  # one of them if it is kept
        ("/companies/acme?x={0}", 17),
        ("/stores?city=ottawa&limit=5{0}", 23),
        ("/stores?city=ottawa&near=43.65,-79.38&limit=5{0}", 27),
        ("/clusters?bbox=-180,-90,180,8{0}&zoom=3", 24),
    ],
)
async def test_a_new_request_enters_at_most_so_many_modules(
    snapshots: SnapshotHolder, data: Data, target: str, files: int
) -> None:
    counted = await calls(snapshots, data, target)
    assert len(counted.files) <= files, sorted(counted.files)


@pytest.mark.parametrize("fields", [(), ("Accept-Encoding: zstd",), ("If-None-Match: *",)])
async def test_a_repeated_request_runs_no_query(snapshots: SnapshotHolder, data: Data, fields: tuple[str, ...]) -> None:
    repeated = await calls(snapshots, data, "/stores?limit=1000", *fields)
    assert not any("engine" in Path(file).relative_to(SERVICE).parts for file in repeated.files)


@pytest.mark.parametrize("request_parts", NEW_BUDGETS)
async def test_a_new_request_takes_at_most_its_budget_of_calls(
    snapshots: SnapshotHolder, data: Data, request_parts: tuple[str, ...]
) -> None:
    counted = await calls(snapshots, data, *request_parts)
    assert counted.count <= NEW_BUDGETS[request_parts] + KEEPING
