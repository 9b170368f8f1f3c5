"""What keys were answered, in numbers."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from pytest_aiohttp import AiohttpClient

from service.snapshot.snapshot import SnapshotHolder
from service.snapshot.worker_slots import SLOT_BYTES, WorkerSlots, single_slot
from service.web.auth import keyring
from service.web.site import make_site
from service.web.telemetry.key_counters import KeyCounters
from tests.loaded import serve
from tests.web.live import POLICY, Client, ServiceServer

_NAME = "store_directory_key_requests_total"


def told(callers: KeyCounters) -> dict[tuple[str, str], int]:
    return {
        (sample.labels["key"], sample.labels["result"]): int(sample.value)
        for family in callers.collect()
        for sample in family.samples
        if sample.name == _NAME
    }


def lone() -> KeyCounters:
    slot = single_slot()
    return KeyCounters(slot.counts, slot.all_counts)


def test_each_key_is_counted_by_itself() -> None:
    callers = lone()
    for name, limited in (("a", False), ("b", False), ("a", True), ("a", False)):
        callers.count(name, limited=limited)
    assert told(callers) == {("a", "answered"): 2, ("a", "limited"): 1, ("b", "answered"): 1}


def test_workers_are_counted_together_and_a_successor_goes_on(tmp_path: Path) -> None:
    slots = WorkerSlots(tmp_path)
    first, second = slots.claim(), slots.claim()
    for slot in (first, second, first):  # the third time, as who takes the place of the first
        callers = KeyCounters(slot.counts, slot.all_counts)
        callers.count("a", limited=False)
        callers.count("ü" if slot is first else "b", limited=False)
    assert told(callers) == {("a", "answered"): 3, ("ü", "answered"): 2, ("b", "answered"): 1}


def test_keys_beyond_the_room_for_names_are_counted_together() -> None:
    callers = lone()
    for number in range(600):
        callers.count(f"key {number}", limited=False)
        callers.count(f"key {number}", limited=False)
    counted = told(callers)
    assert counted["key 0", "answered"] == counted["key 510", "answered"] == 2
    assert counted["(others)", "answered"] == 2 * (600 - 511)
    assert sum(counted.values()) == 1200


@pytest.mark.parametrize("name", ["x" * 300, "ü" * 65, 'quote " and \\ and\nline'])
def test_any_name_gives_metrics_that_can_be_read(name: str) -> None:
    callers = lone()
    callers.count(name, limited=False)
    registry = CollectorRegistry()
    registry.register(callers)
    assert f"{_NAME}{{".encode() in generate_latest(registry)
    ((key, _),) = told(callers)
    assert name.startswith(key)


def test_all_counts_fit_into_a_slot() -> None:
    site = make_site(SnapshotHolder(), keyring(["one"]), POLICY, apart=True)
    lengths = site.public.traffic.length * 8 + (511 + 1) * 18 * 8
    assert lengths < SLOT_BYTES


async def test_the_admin_listener_alone_tells_who_asked(
    replica: SnapshotHolder, data: Path, aiohttp_client: AiohttpClient
) -> None:
    await serve(replica, data)
    site = make_site(replica, keyring(["one", "two"]), POLICY, apart=True)
    assert site.admin is not None
    public: Client = await aiohttp_client(ServiceServer(site.public))
    admin: Client = await aiohttp_client(ServiceServer(site.admin))
    for key, target in (("two", "/stores"), ("two", "/stores?limit=0"), ("wrong", "/stores"), ("one", "/docs")):
        async with public.get(target, headers={"x-api-key": key}):
            pass
    async with admin.get("/metrics") as response:
        lines = [line for line in (await response.text()).splitlines() if line.startswith(_NAME)]
    assert lines == [f'{_NAME}{{key="key 2",result="answered"}} 2.0']
    alone: Client = await aiohttp_client(ServiceServer(make_site(replica, keyring(["one"]), POLICY).public))
    async with alone.get("/metrics") as response:
        assert _NAME not in await response.text()
