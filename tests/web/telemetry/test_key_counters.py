"""Counters of requests by key."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from service.publishing.snapshot import SnapshotHolder
from service.publishing.worker_slots import SLOT_BYTES, WorkerSlots, single_slot
from service.web.pipeline.counters import KeyCounters
from service.web.site import make_site
from tests.web.conftest import Listeners
from tests.web.live import WITH_ADMIN, Client, authentication

_NAME = "store_directory_key_requests_total"


def totals(key_counters: KeyCounters) -> dict[tuple[str, str], int]:
    return {
        (sample.labels["key"], sample.labels["result"]): int(sample.value)
        for family in key_counters.collect()
        for sample in family.samples
        if sample.name == _NAME
    }


def single_worker() -> KeyCounters:
    slot = single_slot()
    return KeyCounters(slot.counts, slot.all_counts)


def test_each_key_has_its_own_counters() -> None:
    key_counters = single_worker()
    for name, limited in (("a", False), ("b", False), ("a", True), ("a", False)):
        key_counters.count(name, limited=limited)
    assert totals(key_counters) == {("a", "answered"): 2, ("a", "limited"): 1, ("b", "answered"): 1}


def test_workers_are_summed_and_a_successor_continues_its_slot(tmp_path: Path) -> None:
    slots = WorkerSlots(tmp_path)
    first, second = slots.claim(), slots.claim()
    for slot in (first, second, first):  # the third time, as the successor of the first
        key_counters = KeyCounters(slot.counts, slot.all_counts)
        key_counters.count("a", limited=False)
        key_counters.count("ü" if slot is first else "b", limited=False)
    assert totals(key_counters) == {("a", "answered"): 3, ("ü", "answered"): 2, ("b", "answered"): 1}


def test_keys_beyond_the_limit_are_counted_together() -> None:
    key_counters = single_worker()
    for number in range(600):
        key_counters.count(f"key {number}", limited=False)
        key_counters.count(f"key {number}", limited=False)
    counted = totals(key_counters)
    assert counted["key 0", "answered"] == counted["key 510", "answered"] == 2
    assert counted["(others)", "answered"] == 2 * (600 - 511)
    assert sum(counted.values()) == 1200


@pytest.mark.parametrize("name", ["x" * 300, "ü" * 65, 'quote " and \\ and\nline'])
def test_any_name_gives_valid_metrics(name: str) -> None:
    key_counters = single_worker()
    key_counters.count(name, limited=False)
    registry = CollectorRegistry()
    registry.register(key_counters)
    assert f"{_NAME}{{".encode() in generate_latest(registry)
    ((key, _),) = totals(key_counters)
    assert name.startswith(key)


def test_all_counts_fit_into_a_slot() -> None:
    site = make_site(SnapshotHolder(), authentication(["one"]), WITH_ADMIN)
    assert site.public.traffic.length * 8 + (511 + 1) * 18 * 8 < SLOT_BYTES


async def test_only_the_admin_listener_has_counters_by_key(listeners: Listeners, client: Client) -> None:
    public, admin = await listeners("one", "two")
    for key, target in (("two", "/stores"), ("two", "/stores?limit=0"), ("wrong", "/stores"), ("one", "/docs")):
        async with public.get(target, headers={"x-api-key": key}):
            pass
    async with admin.get("/metrics") as response:
        lines = [line for line in (await response.text()).splitlines() if line.startswith(_NAME)]
    assert lines == [f'{_NAME}{{key="key 2",result="answered"}} 2.0']
    async with client.get("/metrics") as response:
        assert _NAME not in await response.text()
