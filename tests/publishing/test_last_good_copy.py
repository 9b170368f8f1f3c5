"""The last good copy: served at the next start, complete or not at all, and never an obstacle."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from service.background import silent
from service.dataset import Rejected, Safeguards
from service.publishing.cache_folder import LastGoodCopy
from service.publishing.remote_source import RemoteBakedFile
from service.publishing.source import Unavailable
from tests.killed import killable
from tests.publishing.fake_transport import FakeTransport, alternating, failing
from tests.publishing.fetching import URL, Fetcher
from tests.run.generations import bake_stores, flip
from tests.sampling.test_sample import small_disk

pytestmark = pytest.mark.process


def copy_of(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def fingerprint_of(copy: Path) -> str:
    return bytes.fromhex(copy.name.split(".")[1]).decode()


async def warm(remote: FakeTransport, folder: Path) -> Fetcher:
    """Fetch once, and return the next process."""
    await Fetcher(remote, folder).fetch()
    remote.asked.clear()
    return Fetcher(remote, folder)


def demanding(remote: FakeTransport, folder: Path) -> Fetcher:
    """Return a process that serves only files of 500 stores."""
    fetcher = Fetcher(remote, folder)
    fetcher.check = Safeguards(min_stores=500).check
    return fetcher


@pytest.fixture
def few(tmp_path: Path) -> bytes:
    """Return a baked file of one store."""
    return bake_stores(tmp_path, 1).read_bytes()


async def test_the_first_fetch_of_a_process_that_knows_nothing_returns_the_copy_and_the_next_one_asks_the_origin(
    remote: FakeTransport, tmp_path: Path, one: bytes, other: bytes
) -> None:
    fetcher = await warm(remote, tmp_path)
    assert await fetcher.fetched() == ('"one"', one)
    assert remote.asked == []
    assert await fetcher.fetch('"one"') is None
    remote.will(failing(Unavailable("cannot connect")))
    assert await fetcher.unavailable('"one"') == "cannot connect"
    remote.hold(other, '"two"')
    assert await fetcher.fetched() == ('"two"', other)
    assert remote.asked == ['"one"', '"one"', ""]
    await Fetcher(remote, tmp_path).fetch('"none"')
    assert remote.asked[3:] == ['"none"']


async def test_data_that_fails_the_check_or_cannot_be_written_does_not_replace_the_copy(
    remote: FakeTransport, tmp_path: Path, one: bytes, few: bytes
) -> None:
    fetcher = await warm(remote, tmp_path)
    fetcher.to = tmp_path / "nowhere" / "file"
    assert await fetcher.unavailable() == "No such file or directory"
    remote.hold(few, '"few"')
    with pytest.raises(Rejected, match=r"^1 stores, at least 500 needed; ") as caught:
        await demanding(remote, tmp_path).fetch('"one"')
    assert caught.value.rejection.fingerprint == '"few"'
    before = copy_of(tmp_path / "cache").stat()
    assert await demanding(remote, tmp_path).fetch('"few"') is None
    assert copy_of(tmp_path / "cache").stat() == before  # what is confirmed is another file
    assert await demanding(remote, tmp_path).fetched() == ('"one"', one)


async def test_a_copy_that_fails_the_check_is_kept_and_the_origin_asked(
    remote: FakeTransport, tmp_path: Path, one: bytes, few: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    remote.hold(few, '"few"')
    await warm(remote, tmp_path)
    remote.hold(one, '"one"')
    remote.will(failing(Unavailable("500 Internal Server Error")))
    fetcher = demanding(remote, tmp_path)
    assert await fetcher.unavailable() == "500 Internal Server Error"
    assert caplog.messages == [
        "the cached copy is not served: 1 stores, at least 500 needed; --min-stores 1 allows that"
    ]
    assert fingerprint_of(copy_of(fetcher.cache)) == '"few"'
    assert await fetcher.fetched() == ('"one"', one)
    assert fingerprint_of(copy_of(fetcher.cache)) == '"one"'


async def test_the_copy_has_the_time_of_its_last_confirmation(remote: FakeTransport, tmp_path: Path) -> None:
    fetched, moment = await Fetcher(remote, tmp_path).fetch(), datetime.now(UTC)
    assert fetched is not None
    assert fetched.confirmed_at is None  # of the origin itself
    for _ in range(2):
        assert await Fetcher(remote, tmp_path).fetch('"one"') is None
        fetched = await Fetcher(remote, tmp_path).fetch()
        assert fetched is not None
        assert fetched.confirmed_at is not None
        assert moment <= fetched.confirmed_at <= (moment := datetime.now(UTC))


async def test_each_url_has_one_private_copy_which_is_linked(
    remote: FakeTransport, tmp_path: Path, editions: tuple[bytes, bytes]
) -> None:
    remote.usual = alternating(*editions)
    fetcher = Fetcher(remote, tmp_path)
    for _ in range(5):
        _, fetched = await fetcher.fetched()
    copy = copy_of(fetcher.cache)
    assert copy.read_bytes() == fetched
    assert [path.stat().st_mode & 0o777 for path in (fetcher.cache, copy)] == [0o700, 0o600]
    assert fetcher.to.samefile(copy)


@pytest.fixture
def _no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_: object) -> None:  # patched, as a machine may have one file system only
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", no_link)


@pytest.mark.usefixtures("_no_links")
async def test_files_that_cannot_be_linked_are_copied(remote: FakeTransport, tmp_path: Path, one: bytes) -> None:
    fetcher = await warm(remote, tmp_path)
    assert await fetcher.fetched() == ('"one"', one)
    assert remote.asked == []
    assert {path.stat().st_nlink for path in (fetcher.to, *fetcher.cache.iterdir())} == {1}
    assert {path.stat().st_mode & 0o777 for path in (fetcher.to, *fetcher.cache.iterdir())} == {0o600}


async def test_urls_with_different_queries_have_different_copies(
    remote: FakeTransport, tmp_path: Path, one: bytes, other: bytes
) -> None:
    await Fetcher(remote, tmp_path, url=f"{URL}?set=1").fetch()
    remote.hold(other, '"two"')
    await Fetcher(remote, tmp_path, url=f"{URL}?set=2").fetch()
    remote.asked.clear()
    assert await Fetcher(remote, tmp_path, url=f"{URL}?set=1").fetched() == ('"one"', one)
    assert await Fetcher(remote, tmp_path, url=f"{URL}?set=2").fetched() == ('"two"', other)
    assert remote.asked == []


# Damage


def cut_short(copy: Path) -> None:
    os.truncate(copy, 100_000)


def renamed(copy: Path) -> None:
    copy.rename(copy.with_name(f"{copy.name.split('.')[0]}.xyz.baked"))


@pytest.mark.parametrize("damage", [flip, cut_short, partial(os.truncate, length=0), renamed])
async def test_a_damaged_copy_is_discarded_with_one_log_line_and_the_origin_asked(
    remote: FakeTransport, tmp_path: Path, one: bytes, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = await warm(remote, tmp_path)
    damage(copy_of(fetcher.cache))
    assert await fetcher.fetched() == ('"one"', one)
    assert len(remote.asked) == 1
    (line,) = caplog.messages
    assert line.startswith(f"{URL}: the cached copy is discarded: ")
    remote.asked.clear()
    assert await Fetcher(remote, tmp_path).fetched() == ('"one"', one)
    assert remote.asked == []


# Write errors


async def test_a_copy_that_cannot_be_saved_is_logged_once_and_saved_when_the_origin_confirms_it(
    remote: FakeTransport, tmp_path: Path, one: bytes, other: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = Fetcher(remote, tmp_path)
    fetcher.cache.write_bytes(b"no folder")
    caplog.clear()
    for content, tag in ((other, '"other"'), (one, '"one"')):
        remote.hold(content, tag)
        assert await fetcher.fetched('"none"') == (tag, content)
    assert caplog.messages == [f"{URL}: the last good copy cannot be saved: File exists"]
    fetcher.cache.unlink()
    fetcher.to = tmp_path / "next"
    remote.hold(other, '"other"')
    assert await fetcher.fetch('"other"') is None  # a file that was rejected, say: it is not what was fetched last
    assert not fetcher.cache.exists()
    remote.hold(one, '"one"')
    assert await fetcher.fetch('"one"') is None
    assert (copy_of(fetcher.cache).read_bytes(), fingerprint_of(copy_of(fetcher.cache))) == (one, '"one"')


async def test_a_cache_that_cannot_be_read_is_logged_and_the_origin_asked(
    remote: FakeTransport, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = await warm(remote, tmp_path)
    file = copy_of(fetcher.cache)
    file.unlink()
    file.mkdir()
    assert await fetcher.fetched() == ('"one"', one)
    assert caplog.messages[0] == f"{URL}: the cached copy cannot be read: Is a directory"


@pytest.mark.usefixtures("_no_links")
async def test_a_full_disk_keeps_the_copy_and_leaves_no_temporary_file(
    remote: FakeTransport, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = await warm(remote, tmp_path)
    before = sorted(fetcher.cache.iterdir())
    new = tmp_path / "new"
    new.write_bytes(bytes(100))
    cache = LastGoodCopy(fetcher.cache, URL, name=URL)
    with small_disk(10):
        cache.save(new, '"two"', datetime.now(UTC))
        cache.confirm('"one"', datetime.now(UTC))
    assert caplog.messages == [f"{URL}: the last good copy cannot be saved: File too large"]
    assert sorted(fetcher.cache.iterdir()) == before
    assert await fetcher.fetched() == ('"one"', one)


# Concurrent and killed processes


async def test_files_that_killed_processes_and_earlier_versions_left_are_removed(
    remote: FakeTransport, tmp_path: Path
) -> None:
    fetcher = await warm(remote, tmp_path)
    key, now = copy_of(fetcher.cache).name.split(".")[0], time.time()
    ages = {
        f"{key}.00.baked": 60,
        f"{key}.11.baked": -60,  # of a process whose clock was wrong
        f"{key}{key}.json": 60,
        f".{key}.0.part": 60,
        f".{key}.1.part": 7200,
        "other.0.baked": 7200,
    }
    for name, age in ages.items():
        (fetcher.cache / name).write_bytes(b"left")
        os.utime(fetcher.cache / name, (now - age, now - age))
    await Fetcher(remote, tmp_path).fetch('"none"')
    names = {path.name for path in fetcher.cache.iterdir()}
    assert names & {*ages} == {f".{key}.0.part", "other.0.baked"}


async def test_the_latest_of_several_copies_is_fetched(
    remote: FakeTransport, tmp_path: Path, one: bytes, other: bytes
) -> None:
    fetcher = await warm(remote, tmp_path)
    copy = copy_of(fetcher.cache)
    earlier = copy.with_name(f"{copy.name.split('.')[0]}.{b'earlier'.hex()}.baked")
    earlier.write_bytes(other)
    os.utime(earlier, (copy.stat().st_mtime - 1, copy.stat().st_mtime - 1))
    assert await fetcher.fetched() == ('"one"', one)
    cut_short(copy)
    assert await Fetcher(remote, tmp_path).fetched() == ("earlier", other)


async def test_processes_that_renew_one_copy_concurrently_leave_a_valid_one(
    remote: FakeTransport, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    remote.usual = alternating(*editions)

    async def start_often(folder: Path) -> None:
        for _ in range(5):
            fetcher = Fetcher(remote, folder)
            for _ in range(3):
                assert (await fetcher.fetched())[1] in editions

    (tmp_path / "cache").mkdir()
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
        (folder / "cache").symlink_to(tmp_path / "cache")
    await asyncio.gather(*map(start_often, folders))
    remote.asked.clear()
    assert (await Fetcher(remote, tmp_path).fetched())[1] in editions
    assert (remote.asked, caplog.messages) == ([], [])


def fetch_twice(cache: str, *editions: str) -> None:
    """Fetch each of two editions, as two runs of the service; see `tests.killed`."""
    to, remote = Path(cache).with_name("to-be-killed.baked"), FakeTransport(b"")
    remote.usual = alternating(*(Path(edition).read_bytes() for edition in editions))
    for _ in range(2):
        source = RemoteBakedFile(URL, Path(cache), remote)
        asyncio.run(source.fetch(to, known="none", check=Safeguards().check, progress=silent))


async def test_a_process_killed_at_any_step_leaves_a_valid_copy_or_none(
    tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    cache, fetched, found = tmp_path / "cache", tmp_path / "fetched", []
    for name, content in zip("01", editions, strict=True):
        (tmp_path / name).write_bytes(content)
    with killable("tests.publishing.test_last_good_copy:fetch_twice", cache, tmp_path / "0", tmp_path / "1") as run:
        for step in count(1):
            killed = await asyncio.to_thread(run, step)
            entry = LastGoodCopy(cache, URL, name=URL).load(fetched)
            found.append(entry is not None)
            assert entry is None or fetched.read_bytes() == editions[int(entry.fingerprint.strip('"'))]
            if not killed:
                break
            shutil.rmtree(cache, ignore_errors=True)
    assert found == sorted(found)  # from some step on there is a copy
    assert (found[0], found[-1]) == (False, True)
    assert caplog.messages == []
