"""Changes of folders are reported, whatever causes them."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from service.publishing.publisher import changes
from service.reading.files.data_signature import watched_folders
from tests.program import SECONDS
from tests.run.generations import put, swap_link

pytestmark = pytest.mark.slow


class Watch:
    """Waits for changes of a path."""

    def __init__(self, path: Path) -> None:
        self._changed = asyncio.Event()
        self._changes = changes(lambda: watched_folders(path))

    async def run(self) -> None:
        async for _ in self._changes:
            self._changed.set()

    async def changed(self) -> None:
        """Wait for a change."""
        async with asyncio.timeout(SECONDS):
            await self._changed.wait()
        self._changed.clear()


@asynccontextmanager
async def watching(path: Path) -> AsyncIterator[Watch]:
    """Watch a path; the watch has begun."""
    watch = Watch(path)
    task = asyncio.create_task(watch.run())
    try:
        await watch.changed()
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "parent" / "data"
    folder.mkdir(parents=True)
    (folder / "stores.csv").write_text("one")
    return folder


async def test_a_file_that_is_written_replaced_added_or_removed_is_a_change(folder: Path) -> None:
    async with watching(folder / "stores.csv") as watch:
        await asyncio.to_thread((folder / "stores.csv").write_text, "two")
        await watch.changed()
        await asyncio.to_thread(put, b"three", folder / "stores.csv")
        await watch.changed()
        await asyncio.to_thread((folder / "companies.csv").touch)
        await watch.changed()
        await asyncio.to_thread((folder / "companies.csv").unlink)
        await watch.changed()


async def test_a_folder_that_is_replaced_removed_or_created_is_a_change_and_then_watched(folder: Path) -> None:
    async with watching(folder) as watch:
        await asyncio.to_thread(replace_folder, folder)
        await watch.changed()
        await asyncio.to_thread((folder / "stores.csv").write_text, "three")
        await watch.changed()
        await asyncio.to_thread(shutil.rmtree, folder)
        await watch.changed()
        await asyncio.to_thread(folder.mkdir)
        await watch.changed()


async def test_a_swapped_link_behind_a_link_is_a_change_and_its_new_target_is_watched(folder: Path) -> None:
    first, link, other = folder.parents[1] / "first" / "link", folder.parent / "link", folder.parent / "other"
    other.mkdir()
    first.parent.mkdir()
    first.symlink_to("../parent/link")
    link.symlink_to("data")
    async with watching(first) as watch:
        await asyncio.to_thread(swap_link, link, Path("other"))
        await watch.changed()
        await asyncio.to_thread((other / "stores.csv").write_text, "two")
        await watch.changed()


async def test_circular_links_do_not_end_the_watch(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to("data")
    async with watching(link) as watch:
        await asyncio.to_thread(swap_link, link, Path("link"))
        await watch.changed()
        assert await asyncio.to_thread(watched_folders, link) == [folder.parent]
        await asyncio.to_thread(swap_link, link, Path("data"))
        await watch.changed()


def replace_folder(folder: Path) -> None:
    """Replace a folder with another one."""
    replacement = folder.with_name("replacement")
    replacement.mkdir()
    (replacement / "stores.csv").write_text("two")
    folder.rename(folder.with_name("replaced"))
    replacement.rename(folder)
