"""A folder of data files as a source: compiled by a process of its own."""

import asyncio
import os
import signal
from pathlib import Path

import orjson
import pytest

from service.baking.baked_file import load_baked
from service.loading.acceptance import Cause, InvalidRecords, Safeguards
from service.loading.dataset import load
from service.progress import silent
from service.sources.folder_source import FolderSource
from service.sources.source import Check, Fetched, Rejected, Unavailable
from tests.baking.made_up import contents
from tests.directory import store
from tests.program import SECONDS, compilers, has_ended
from tests.run.generations import COMPANIES, MANIFEST, ORDER, STORES, Generation, put

CHECK = Safeguards().check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Generation(1).write(tmp_path / "data")


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "taken.baked"


async def take(
    folder: Path, to: Path, seen: str = "", *, invalid: InvalidRecords = InvalidRecords.REFUSE, check: Check = CHECK
) -> Fetched | None:
    source = FolderSource(folder, invalid=invalid, timeout=SECONDS)
    async with asyncio.timeout(SECONDS):
        return await source.fetch(to, known=seen, check=check, progress=silent)


async def compiler() -> int:
    """Wait for a compiler to be started, and return it."""
    while not (found := compilers(os.getpid())):  # noqa: ASYNC110 - no child tells of its start
        await asyncio.sleep(0.01)
    return found[0]


async def test_what_is_taken_is_what_the_files_hold_and_an_unchanged_folder_is_not_taken(
    folder: Path, to: Path
) -> None:
    steps: list[str] = []
    taken = await FolderSource(folder, invalid=InvalidRecords.REFUSE, timeout=SECONDS).fetch(
        to, known="", check=CHECK, progress=lambda step, *_: steps.append(step)
    )
    assert taken is not None
    compiled, expected = load_baked(to).dataset, load(folder).dataset
    assert compiled is not None
    assert expected is not None
    assert contents(compiled) == contents(expected)
    assert {"Reading stores.json", "Indexing stores"} <= set(steps)
    assert taken.notes == ()
    assert await take(folder, to, taken.fingerprint) is None


async def test_files_at_fault_are_rejected_with_the_first_fault_or_left_out_and_counted(folder: Path, to: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "stores.json").write_bytes(orjson.dumps([store("s1"), {"store_id": "s2"}]))
    with pytest.raises(Rejected, match=r"stores.json:1: ") as caught:
        await take(folder, to)
    assert caught.value.cause is Cause.RECORDS
    assert not await asyncio.to_thread(to.exists)
    taken = await take(folder, to, invalid=InvalidRecords.SKIP)
    assert taken is not None
    assert taken.notes[0] == "left out 1 records at fault"
    assert taken.notes[1].startswith("missing: 4 faults, the first: stores.json:1: ")
    assert taken.notes[2:] == (f"`store-directory check {folder}` reports every error and warning",)


async def test_counts_that_are_not_to_be_served_are_rejected(folder: Path, to: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "stores.json").write_bytes(b"[]")
    with pytest.raises(Rejected, match=r"^0 stores, at least 1 needed; --min-stores 0 allows that$") as caught:
        await take(folder, to)
    assert caught.value.cause is Cause.LIMIT
    taken = await take(folder, to, check=Safeguards(min_stores=0).check)
    assert taken is not None
    assert (taken.summary.totals.stores, taken.fingerprint) == (0, caught.value.fingerprint)


async def test_a_compiler_that_is_killed_leaves_the_folder_unavailable(folder: Path, to: Path) -> None:
    taking = asyncio.create_task(take(folder, to))
    os.kill(await compiler(), signal.SIGKILL)
    with pytest.raises(Unavailable, match="the compiler was killed by SIGKILL"):
        await taking


async def test_a_compiler_that_takes_too_long_is_killed_and_leaves_the_folder_unavailable(
    folder: Path, to: Path
) -> None:
    source = FolderSource(folder, invalid=InvalidRecords.REFUSE, timeout=0.5)
    taking = asyncio.create_task(source.fetch(to, known="", check=CHECK, progress=silent))
    os.kill(started := await compiler(), signal.SIGSTOP)  # as one that reads from a file server that is gone
    with pytest.raises(Unavailable, match=r"compiling took longer than --compile-timeout 0\.5 s"):
        await taking
    assert has_ended(started)


async def test_a_compiler_ends_with_who_waits_for_it(folder: Path, to: Path) -> None:
    taking = asyncio.create_task(take(folder, to))
    started = await compiler()
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    assert has_ended(started)
    assert not await asyncio.to_thread(to.exists)


async def test_files_with_a_manifest_that_change_while_they_are_compiled_are_taken_as_they_are_then(
    folder: Path, to: Path
) -> None:
    taking = asyncio.create_task(take(folder, to))
    await compiler()
    for name, content in Generation(2).files().items():
        await asyncio.to_thread(put, content, folder / name)
    taken = await taking
    assert taken is not None
    dataset = load_baked(to).dataset
    assert dataset is not None
    assert len(dataset.stores) == Generation(2).stores


async def test_files_whose_manifest_goes_while_they_are_compiled_are_not_taken_mixed(folder: Path, to: Path) -> None:
    stores, companies, manifest = (Generation(2).files()[name] for name in ORDER)
    taking = asyncio.create_task(take(folder, to))
    compiling = await compiler()
    await asyncio.to_thread((folder / MANIFEST).unlink)
    await asyncio.to_thread(put, stores, folder / STORES)
    while not has_ended(compiling):  # noqa: ASYNC110 - another's child tells nobody
        await asyncio.sleep(0.01)
    await asyncio.to_thread(put, companies, folder / COMPANIES)
    await asyncio.to_thread(put, manifest, folder / MANIFEST)
    assert await taking is not None
    dataset = load_baked(to).dataset
    assert dataset is not None
    assert (len(dataset.stores), len(dataset.companies)) == (Generation(2).stores, Generation(2).companies)


async def test_where_it_cannot_be_written_it_is_unavailable(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="the data cannot be compiled: No such file"):
        await take(folder, tmp_path / "nowhere" / "taken.baked")
