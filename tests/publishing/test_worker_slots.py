"""Worker slots: counters in memory that all workers can read."""

from collections.abc import Callable

import pytest

from service.publishing.worker_slots import SLOT_BYTES, WorkerSlot, single_slot
from service.publishing.workspace import Workspace
from tests.program import exit_code, forked


def in_a_worker(work: Workspace, act: Callable[[WorkerSlot], object]) -> int:
    """Run a process that claims a slot, acts on it and ends; return its exit code."""
    with forked(lambda: act(work.slots.claim())) as child:
        return exit_code(child)


def count_seven(slot: WorkerSlot) -> None:
    slot.set_generation(3)
    slot.counts[0] += 7


def open_three(slot: WorkerSlot) -> None:
    count_seven(slot)
    for _ in range(3):
        slot.count_connection(1)
    assert slot.open_connections() == 4


def sums(slot: WorkerSlot) -> int:
    return sum(counts[0] for counts in slot.all_counts())


def test_a_single_process_has_a_slot_of_its_own() -> None:
    slot = single_slot()
    slot.counts[0] += 2
    assert (sums(slot), len(slot.living()), slot.alone) == (2, 1, True)


def test_each_worker_has_a_slot_and_reads_all_of_them(work: Workspace) -> None:
    one, other = work.slots.claim(), work.slots.claim()
    one.counts[0] += 1
    other.counts[0] += 2
    other.set_generation(5)
    assert (sums(one), sums(other)) == (3, 3)
    assert (len(one.living()), one.alone, sorted(work.slots.generations())) == (2, False, [0, 5])


@pytest.mark.process
def test_the_counters_of_a_worker_outlive_it_and_the_next_one_continues_them_but_serves_nothing(
    work: Workspace,
) -> None:
    mine = work.slots.claim()
    for ended in (1, 2, 3):
        assert in_a_worker(work, count_seven) == 0
        assert sums(mine) == ended * 7
        assert (len(mine.living()), work.slots.generations()) == (1, [0])
    assert len(list(work.folder.glob("slot-*"))) == 2
    slot = work.slots.claim()
    assert (slot.numbers[0], slot.counts[0]) == (0, 21)


@pytest.mark.process
def test_the_connections_of_a_worker_end_with_it(work: Workspace) -> None:
    mine = work.slots.claim()
    mine.count_connection(1)
    assert in_a_worker(work, open_three) == 0
    assert mine.open_connections() == 1  # before another worker claims its slot
    successor = work.slots.claim()
    assert (mine.open_connections(), successor.counts[0]) == (1, 7)
    successor.count_connection(1)
    mine.count_connection(-1)
    assert mine.open_connections() == 1


def test_a_slot_is_fully_allocated_so_that_counting_never_needs_disk_space(work: Workspace) -> None:
    work.slots.claim()
    stat = (work.folder / "slot-0").stat()
    assert stat.st_size == SLOT_BYTES
    assert stat.st_blocks * 512 >= SLOT_BYTES
