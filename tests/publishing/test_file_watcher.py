"""A look at a source shows each change of its files, whatever causes it, and wakes the publisher."""

import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from service.publishing.local_source import BakedFileSource, FolderSource
from service.publishing.workspace import workspace
from service.settings import Settings
from tests.publishing.scripted import Published, Script, fetched
from tests.run.generations import put, swap_link


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "parent" / "data"
    folder.mkdir(parents=True)
    (folder / "stores.csv").write_text("one")
    return folder


def changes(path: Path, *causes: Callable[[], object]) -> list[bool]:
    """Return whether a look at a path shows each of some changes."""
    source = FolderSource(path, Settings())
    looks = [source.look()]
    for cause in causes:
        cause()
        looks.append(source.look())
    return [one != other for one, other in pairwise(looks)]


def test_a_file_or_folder_that_is_written_replaced_added_or_removed_is_a_change(folder: Path, tmp_path: Path) -> None:
    file, other = folder / "stores.csv", folder / "companies.csv"
    causes = (lambda: file.write_text("three"), lambda: put(b"3", file), other.touch, other.unlink)
    assert changes(folder, *causes) == [True] * 4
    assert changes(file, *causes[:2], file.unlink) == [True] * 3
    of_folder = (lambda: replace_folder(folder), lambda: file.write_text("three"), lambda: shutil.rmtree(folder))
    assert changes(folder, *of_folder, folder.mkdir) == [True] * 4
    baked, looks = BakedFileSource(folder / "stores.baked", tmp_path), {""}
    for content in (b"one", b"two"):
        put(content, folder / "stores.baked")
        looks.add(baked.look())
    assert len(looks) == 3


def test_a_swapped_link_behind_a_link_is_a_change_and_circular_links_are_no_error(folder: Path) -> None:
    first, link, other = folder.parents[1] / "first" / "link", folder.parent / "link", folder.parent / "other"
    other.mkdir()
    first.parent.mkdir()
    first.symlink_to("../parent/link")
    link.symlink_to("data")
    causes = (
        lambda: swap_link(link, Path("other")),
        lambda: (other / "stores.csv").write_text("two"),
        lambda: swap_link(link, Path("link")),
        lambda: swap_link(link, Path("data")),
    )
    assert changes(first, *causes) == [True] * 4


async def test_a_change_wakes_the_publisher(tmp_path: Path) -> None:
    script = Script(fetched("one"), None, fetched("two"))
    script.seen = "one"
    with workspace(tmp_path) as work:
        async with Published(script, work, poll_seconds=3600).running() as published:
            await published.until(2)  # the second fetch follows the first look
            script.seen = "two"
            assert (await published.until(3))[-1].fingerprint == "two"


def replace_folder(folder: Path) -> None:
    """Replace a folder with another one."""
    replacement = folder.with_name("replacement")
    replacement.mkdir()
    (replacement / "stores.csv").write_text("two")
    folder.rename(folder.with_name("replaced"))
    replacement.rename(folder)
