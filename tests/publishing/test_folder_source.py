"""A folder of data files as a source: compiled by a separate process."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.background import Progress, silent
from service.baking.baked_file import load_baked
from service.dataset import InvalidRecords, Rejected, Safeguards
from service.loading.dataset import load
from service.publishing.local_source import FolderSource
from service.publishing.source import Fetched, Unavailable
from service.settings import Settings
from tests.baking.random_datasets import contents
from tests.directory import store, write_directory
from tests.loop_clock import advance
from tests.program import SECONDS, has_ended
from tests.run.generations import COMPANIES, MANIFEST, ORDER, STORES, Generation, put
from tests.zip_archives import zipped

pytestmark = pytest.mark.process

CHECK = Safeguards().check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Generation(1).write(tmp_path / "data")


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "fetched.baked"


async def fetch(source: FolderSource | Path, to: Path, known: str = "") -> Fetched | None:
    made = FolderSource(source, Settings()) if isinstance(source, Path) else source
    async with asyncio.timeout(SECONDS):
        return await made.fetch(to, known=known, check=CHECK, progress=silent)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> asyncio.Queue[int]:
    """Return the process ids of compilers, each as soon as it is started: one that looks for them may miss it."""
    ids, start = asyncio.Queue[int](), asyncio.create_subprocess_exec

    async def recorded(*command: str, **options: Any) -> asyncio.subprocess.Process:
        process = await start(*command, **options)
        ids.put_nowait(process.pid)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", recorded)
    return ids


async def test_the_compiled_data_equals_that_of_the_files_and_an_unchanged_folder_is_not_fetched(
    folder: Path, to: Path
) -> None:
    steps: list[str] = []
    progress: Progress = lambda step, *_: steps.append(step)  # noqa: E731 - of one line
    fetched = await FolderSource(folder, Settings()).fetch(to, known="", check=CHECK, progress=progress)
    assert fetched is not None
    expected = load(folder).dataset
    assert expected is not None
    assert contents(load_baked(to)) == contents(expected)
    assert {"Reading stores.json", "Indexing stores"} <= set(steps)
    assert fetched.notes == ()
    assert await fetch(folder, to, fetched.fingerprint) is None


@pytest.mark.usefixtures("_compiled_here")
async def test_invalid_records_are_rejected_or_skipped_and_counted(folder: Path, to: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "stores.json").write_bytes(orjson.dumps([store("s1"), {"store_id": "s2"}]))
    with pytest.raises(Rejected, match=r"stores.json:1: ") as caught:
        await fetch(folder, to)
    skip = "`--invalid skip` skips invalid records"
    assert caught.value.rejection.hint == f"`store-directory check {folder}` reports every error; {skip}"
    assert not await asyncio.to_thread(to.exists)
    fetched = await fetch(FolderSource(folder, Settings(invalid=InvalidRecords.SKIP)), to)
    assert fetched is not None
    assert fetched.notes[0] == "skipped 1 invalid record"
    assert fetched.notes[1].startswith("missing: 4 errors, the first: stores.json:1: ")
    assert fetched.notes[2:] == (f"`store-directory check {folder}` reports every error and warning",)


async def test_a_killed_compiler_makes_the_folder_unavailable(
    folder: Path, to: Path, started: asyncio.Queue[int]
) -> None:
    fetching = asyncio.create_task(fetch(folder, to))
    os.kill(await started.get(), signal.SIGKILL)
    with pytest.raises(Unavailable, match="the compiler was killed by SIGKILL"):
        await fetching


async def test_a_compiler_that_takes_too_long_is_killed_and_makes_the_folder_unavailable(
    folder: Path, to: Path, started: asyncio.Queue[int]
) -> None:
    source = FolderSource(folder, Settings(compile_timeout=SECONDS))
    fetching = asyncio.create_task(source.fetch(to, known="", check=CHECK, progress=silent))
    os.kill(compiler := await started.get(), signal.SIGSTOP)  # like reading from a file server that is down
    while not fetching.done():  # the timeout begins a little later than the process
        advance(SECONDS)
        await asyncio.sleep(0.01)
    with pytest.raises(Unavailable, match=rf"compiling took longer than --compile-timeout {SECONDS} s"):
        await fetching
    assert has_ended(compiler)


async def test_a_cancelled_fetch_ends_the_compiler(folder: Path, to: Path, started: asyncio.Queue[int]) -> None:
    fetching = asyncio.create_task(fetch(folder, to))
    compiler = await started.get()
    await asyncio.sleep(0)  # it is read from
    fetching.cancel()
    await asyncio.gather(fetching, return_exceptions=True)
    assert has_ended(compiler)
    assert not await asyncio.to_thread(to.exists)


async def test_files_whose_manifest_is_removed_while_compiling_are_not_mixed(
    folder: Path, to: Path, started: asyncio.Queue[int]
) -> None:
    stores, companies, manifest = (Generation(2).files()[name] for name in ORDER)
    fetching = asyncio.create_task(fetch(folder, to))
    compiling = await started.get()
    await asyncio.to_thread((folder / MANIFEST).unlink)
    await asyncio.to_thread(put, stores, folder / STORES)
    while not has_ended(compiling):  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)
    await asyncio.to_thread(put, companies, folder / COMPANIES)
    await asyncio.to_thread(put, manifest, folder / MANIFEST)
    assert await fetching is not None
    dataset = load_baked(to)
    assert (len(dataset.stores), len(dataset.companies)) == (Generation(2).stores, Generation(2).companies)


@pytest.mark.usefixtures("_compiled_here")
async def test_a_target_that_cannot_be_written_makes_the_folder_unavailable(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="the data cannot be compiled: No such file"):
        await fetch(folder, tmp_path / "nowhere" / "fetched.baked")


@pytest.mark.usefixtures("_compiled_here")
async def test_a_single_file_and_an_archive_are_compiled_with_notes_of_what_was_assumed(
    tmp_path: Path, to: Path
) -> None:
    stores = b"store_id,company_id,address_1,city,country\ns1,acme,1 Main St,K\xf6ln,DE\n"
    for name, content in (("filialen.csv", stores), ("data.zip", zipped({"filialen.csv": stores}))):
        put(content, tmp_path / name)
        fetched = await fetch(FolderSource(tmp_path / name, Settings(encoding="windows-1252")), to)
        assert fetched is not None
        assert fetched.assumed == ("filialen.csv: companies: from company_id, named by company_name if there is one",)
        assert fetched.summary.totals.companies == 1
        assert "Köln".encode() in bytes(load_baked(to).stores.rows[0])


@pytest.mark.usefixtures("_compiled_here")
async def test_a_changed_list_of_places_is_fetched_and_a_wrong_one_rejected(tmp_path: Path, to: Path) -> None:
    data, listed = write_directory(tmp_path / "data", [store("s1")]), tmp_path / "list.csv"
    header = b"name,kind,country,latitude,longitude\n"
    source, known, seen, versions = FolderSource(data, Settings(places=str(listed))), "", "", set()
    for row in (b"Ulm,city,DE,48.4,9.98\n", b"Ulm,city,DE,48.5,9.98\n"):
        put(header + row, listed)
        assert source.look() != seen
        seen = source.look()
        fetched = await fetch(source, to, known)
        assert fetched is not None
        known = fetched.fingerprint
        assert await fetch(source, to, known) is None
        versions.add(fetched.summary.version)
    assert len(versions) == 2
    put(header + b"Ulm,town,DE,48.4,9.98\n", listed)
    assert source.look() != seen
    with pytest.raises(Rejected, match=r"list\.csv:2: the kind must be city or postal_code"):
        await fetch(source, to, known)


@pytest.mark.usefixtures("_compiled_here")
async def test_a_changed_mapping_is_fetched_and_a_wrong_one_rejected_wherever_it_is(tmp_path: Path, to: Path) -> None:
    data, mapping = tmp_path / "data", tmp_path / "mappings" / "mapping.toml"
    for folder in (data, mapping.parent):
        folder.mkdir()
    put(b"store_id,company_id,address_1,city,country\ns1,acme,1 Main St,Ulm,DE\n", data / "stores.csv")
    put(b'[companies]\nfrom = "stores"\n', mapping)
    source = FolderSource(data, Settings(mapping=str(mapping)))
    seen = source.look()
    fetched = await fetch(source, to)
    assert fetched is not None
    assert await fetch(source, to, fetched.fingerprint) is None
    for wrong, where, options in ((mapping, data, str(mapping)), (data / "mapping.toml", data, "")):
        put(b"[companies", wrong)
        assert source.look() != seen
        with pytest.raises(Rejected, match=r"mapping\.toml: not valid TOML") as caught:
            await fetch(FolderSource(where, Settings(mapping=options)), to, fetched.fingerprint)
        assert caught.value.rejection.fingerprint != fetched.fingerprint
