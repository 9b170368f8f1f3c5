"""The number of Python calls of a request has a budget: it is the same on every machine, and most of the cost."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import service
from service.snapshot.snapshot import SnapshotHolder
from service.web.site import make_site
from tests.loaded import Data, serve
from tests.web.connections.harness import Wire
from tests.web.live import HEADERS, KEY, POLICY, authentication

SERVICE = str(Path(service.__file__).parent)
# At most; 70 is the limit for any of them.
BUDGETS = {
    "/companies/acme": 45,
    "/stores?city=ottawa&limit=50": 55,
    "/stores?limit=1000": 55,
    "/stores?country=CA&is_open=true&sort_by=name&limit=50": 55,
    "/stores?q=main&limit=50": 55,
    "/stores?bbox=-80,43,-79,44&limit=50": 55,
}


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


async def calls(snapshots: SnapshotHolder, target: str, *fields: str) -> Calls:
    """Return the calls of a request that was sent before on the connection."""
    wire = Wire(make_site(snapshots, authentication([KEY]), POLICY).public)
    lines = (
        f"GET {target} HTTP/1.1",
        "Host: t",
        *(f"{name}: {value}" for name, value in HEADERS.items()),
        *fields,
        "",
        "",
    )
    request = "\r\n".join(lines).encode()
    await wire.send(request, request)
    counted = Calls()
    with counted.counting():
        await wire.send(request)
    assert len(set(wire.statuses)) == 1
    return counted


@pytest.mark.parametrize("target", BUDGETS)
async def test_a_request_takes_at_most_its_budget_of_calls(snapshots: SnapshotHolder, data: Data, target: str) -> None:
    await serve(snapshots, data)
    counted = await calls(snapshots, target)
    assert counted.count <= BUDGETS[target]


async def test_a_company_takes_at_most_14_files(snapshots: SnapshotHolder, data: Data) -> None:
    await serve(snapshots, data)
    counted = await calls(snapshots, "/companies/acme")
    assert len(counted.files) <= 14, sorted(counted.files)


async def test_a_kept_compressed_page_takes_fewer_calls_than_a_new_one(snapshots: SnapshotHolder, data: Data) -> None:
    await serve(snapshots, data)
    plain = await calls(snapshots, "/stores?limit=1000")
    kept = await calls(snapshots, "/stores?limit=1000", "Accept-Encoding: zstd")
    assert kept.count < plain.count


async def test_a_304_runs_no_query(snapshots: SnapshotHolder, data: Data) -> None:
    await serve(snapshots, data)
    plain = await calls(snapshots, "/stores?limit=1000")
    unchanged = await calls(snapshots, "/stores?limit=1000", "If-None-Match: *")
    assert any("engine" in file for file in plain.files)
    assert not any("engine" in Path(file).parts for file in unchanged.files if "bounded_cache" not in file)


async def test_a_request_with_fields_of_its_own_takes_at_most_a_few_calls_more(
    snapshots: SnapshotHolder, data: Data
) -> None:
    await serve(snapshots, data)
    wire = Wire(make_site(snapshots, authentication([KEY]), POLICY).public)
    counted = Calls()
    for number in range(3):
        request = (
            f"GET /companies/acme HTTP/1.1\r\nHost: t\r\nx-api-key: {KEY}\r\nX-Request-Id: {number}\r\n\r\n".encode()
        )
        counted = Calls()
        with counted.counting():
            await wire.send(request)
    assert counted.count <= 70
