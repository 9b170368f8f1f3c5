"""Changes of folders are noticed, however they come about."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.loading.folder_signature import watched_folders
from service.snapshot.file_watcher import changes
from tests.program import SECONDS
from tests.run.generations import put, turn


class Watch:
    """Counts the changes that are told of a path."""

    def __init__(self, path: Path) -> None:
        self._told = asyncio.Event()
        self._changes = changes(lambda: watched_folders(path))

    async def run(self) -> None:
        async for _ in self._changes:
            self._told.set()

    async def told(self) -> None:
        """Wait until a change is told."""
        async with asyncio.timeout(SECONDS):
            await self._told.wait()
        self._told.clear()


@asynccontextmanager
async def watching(path: Path) -> AsyncIterator[Watch]:
    """Watch a path; the watch stands."""
    watch = Watch(path)
    task = asyncio.create_task(watch.run())
    try:
        await watch.told()
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "above" / "data"
    folder.mkdir(parents=True)
    (folder / "stores.csv").write_text("one")
    return folder


async def test_a_file_that_is_written_replaced_added_or_removed_is_noticed(folder: Path) -> None:
    async with watching(folder / "stores.csv") as watch:
        await asyncio.to_thread((folder / "stores.csv").write_text, "two")
        await watch.told()
        await asyncio.to_thread(put, b"three", folder / "stores.csv")
        await watch.told()
        await asyncio.to_thread((folder / "companies.csv").touch)
        await watch.told()
        await asyncio.to_thread((folder / "companies.csv").unlink)
        await watch.told()


async def test_a_folder_that_is_replaced_removed_or_made_is_noticed_and_then_watched_itself(folder: Path) -> None:
    async with watching(folder) as watch:
        await asyncio.to_thread(replace_folder, folder)
        await watch.told()
        await asyncio.to_thread((folder / "stores.csv").write_text, "three")
        await watch.told()
        await asyncio.to_thread(shutil.rmtree, folder)
        await watch.told()
        await asyncio.to_thread(folder.mkdir)
        await watch.told()


async def test_a_link_behind_a_link_that_is_turned_is_noticed_and_what_it_leads_to_then(folder: Path) -> None:
    first, link, other = folder.parents[1] / "first" / "link", folder.parent / "link", folder.parent / "other"
    other.mkdir()
    first.parent.mkdir()
    first.symlink_to("../above/link")
    link.symlink_to("data")
    async with watching(first) as watch:
        await asyncio.to_thread(turn, link, Path("other"))
        await watch.told()
        await asyncio.to_thread((other / "stores.csv").write_text, "two")
        await watch.told()


async def test_links_in_a_circle_do_not_end_the_watch(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to("data")
    async with watching(link) as watch:
        await asyncio.to_thread(turn, link, Path("link"))
        await watch.told()
        assert await asyncio.to_thread(watched_folders, link) == [folder.parent]
        await asyncio.to_thread(turn, link, Path("data"))
        await watch.told()


def replace_folder(folder: Path) -> None:
    """Put another folder in the place of one."""
    beside = folder.with_name("beside")
    beside.mkdir()
    (beside / "stores.csv").write_text("two")
    folder.rename(folder.with_name("aside"))
    beside.rename(folder)
