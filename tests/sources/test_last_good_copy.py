"""The last good copy: served at the next start, complete or not at all, and never an obstacle."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import msgspec
import pytest

from service.data_set import Rejected
from service.safeguards import Safeguards
from service.sources.last_good_copy import CopyEntry, LastGoodCopy
from tests.baking.made_up import baked_file
from tests.directory import store, write_directory
from tests.killed import killable
from tests.sampling.test_sample import small_disk
from tests.sources.fetching import Fetcher
from tests.sources.origin import Origin, alternating, serving, status, unframed

pytestmark = pytest.mark.process


def entry_of(folder: Path) -> tuple[Path, CopyEntry]:
    (file,) = folder.glob("*.json")
    return file, msgspec.json.decode(file.read_bytes(), type=CopyEntry)


async def warm(origin: Origin, folder: Path) -> Fetcher:
    """Fetch once, and return the next process."""
    await Fetcher(origin, folder).fetch()
    origin.requests.clear()
    return Fetcher(origin, folder)


def demanding(origin: Origin, folder: Path) -> Fetcher:
    """Return a process that serves only files of 500 stores."""
    fetcher = Fetcher(origin, folder)
    fetcher.check = Safeguards(min_stores=500).check
    return fetcher


@pytest.fixture
def few(tmp_path: Path) -> bytes:
    """Return a baked file of one store."""
    folder = write_directory(tmp_path / "few", [store("s1")])
    return baked_file(folder, tmp_path / "few.baked").read_bytes()


async def test_the_last_good_copy_is_fetched_at_a_start_without_the_origin(tmp_path: Path, one: bytes) -> None:
    async with serving(Origin(one)) as origin:
        fetcher = await warm(origin, tmp_path)
    assert await fetcher.fetched() == ('"one"', one)
    assert await fetcher.unavailable('"one"') == "cannot connect: Connection refused"


async def test_the_first_fetch_returns_the_copy_without_a_request_and_the_next_one_asks_the_origin(
    origin: Origin, tmp_path: Path, one: bytes, other: bytes
) -> None:
    fetcher = await warm(origin, tmp_path)
    assert await fetcher.fetched() == ('"one"', one)
    assert origin.requests == []
    assert await fetcher.fetch('"one"') is None
    origin.hold(other, '"two"')
    assert await fetcher.fetched('"one"') == ('"two"', other)
    assert [asked["If-None-Match"] for asked in origin.requests] == ['"one"', '"one"']


async def test_the_copy_is_fetched_once_per_process_and_only_if_nothing_is_known(
    origin: Origin, tmp_path: Path
) -> None:
    fetcher = await warm(origin, tmp_path)
    await fetcher.fetch()
    await fetcher.fetch()
    assert len(origin.requests) == 1
    await Fetcher(origin, tmp_path).fetch('"none"')
    assert len(origin.requests) == 2


async def test_data_that_fails_the_check_does_not_replace_the_copy(
    origin: Origin, tmp_path: Path, one: bytes, few: bytes
) -> None:
    await warm(origin, tmp_path)
    origin.hold(few, '"few"')
    with pytest.raises(Rejected, match=r"^1 stores, at least 500 needed; ") as caught:
        await demanding(origin, tmp_path).fetch('"one"')
    assert caught.value.rejection.fingerprint == '"few"'
    assert await demanding(origin, tmp_path).fetch('"few"') is None
    assert await demanding(origin, tmp_path).fetched() == ('"one"', one)


async def test_a_copy_that_fails_the_check_is_kept_and_the_origin_asked(
    origin: Origin, tmp_path: Path, one: bytes, few: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    origin.hold(few, '"few"')
    await warm(origin, tmp_path)
    origin.hold(one, '"one"')
    origin.will(status("500 Internal Server Error"))
    fetcher = demanding(origin, tmp_path)
    assert await fetcher.unavailable() == "500 Internal Server Error"
    assert caplog.messages == [
        "the cached copy is not served: 1 stores, at least 500 needed; --min-stores 1 allows that"
    ]
    assert entry_of(fetcher.cache)[1].fingerprint == '"few"'
    assert await fetcher.fetched() == ('"one"', one)
    assert entry_of(fetcher.cache)[1].fingerprint == '"one"'


async def test_after_a_fetch_from_the_origin_the_copy_is_not_used(origin: Origin, tmp_path: Path) -> None:
    fetcher = Fetcher(origin, tmp_path)
    await fetcher.fetch()
    await fetcher.fetch()
    assert len(origin.requests) == 2


async def test_the_copy_has_the_time_of_its_last_confirmation(origin: Origin, tmp_path: Path) -> None:
    moments = [datetime.now(UTC)]
    fetcher = await warm(origin, tmp_path)
    fetched = await fetcher.fetch()
    for _ in range(2):
        assert fetched is not None
        assert fetched.confirmed_at is not None
        assert moments[-1] <= fetched.confirmed_at <= datetime.now(UTC)
        moments.append(datetime.now(UTC))
        assert await fetcher.fetch('"one"') is None
        fetched = await Fetcher(origin, tmp_path).fetch()


async def test_a_fetch_from_the_origin_has_no_time_of_confirmation(origin: Origin, tmp_path: Path) -> None:
    fetched = await Fetcher(origin, tmp_path).fetch()
    assert fetched is not None
    assert fetched.confirmed_at is None


async def test_each_url_has_one_private_copy(origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes]) -> None:
    origin.usual = alternating(*editions)
    fetcher = Fetcher(origin, tmp_path)
    for _ in range(5):
        _, fetched = await fetcher.fetched()
    file, entry = entry_of(fetcher.cache)
    assert sorted(path.name for path in fetcher.cache.iterdir()) == sorted([file.name, entry.file])
    assert (fetcher.cache / entry.file).read_bytes() == fetched
    assert [path.stat().st_mode & 0o777 for path in (fetcher.cache, *fetcher.cache.iterdir())] == [0o700, 0o600, 0o600]


async def test_the_copy_is_hard_linked(origin: Origin, tmp_path: Path) -> None:
    fetcher = await warm(origin, tmp_path)
    await fetcher.fetch()
    assert fetcher.to.samefile(fetcher.cache / entry_of(fetcher.cache)[1].file)


async def test_files_that_cannot_be_linked_are_copied(
    origin: Origin, tmp_path: Path, one: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object) -> None:  # patched, as a machine may have one file system only
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", no_link)
    fetcher = await warm(origin, tmp_path)
    assert await fetcher.fetched() == ('"one"', one)
    assert origin.requests == []
    assert {path.stat().st_nlink for path in (fetcher.to, *fetcher.cache.iterdir())} == {1}
    assert {path.stat().st_mode & 0o777 for path in (fetcher.to, *fetcher.cache.iterdir())} == {0o600}


async def test_urls_with_different_queries_have_different_copies(
    origin: Origin, tmp_path: Path, one: bytes, other: bytes
) -> None:
    await Fetcher(origin, tmp_path, url=f"{origin.url}?set=1").fetch()
    origin.hold(other, '"two"')
    await Fetcher(origin, tmp_path, url=f"{origin.url}?set=2").fetch()
    origin.requests.clear()
    assert await Fetcher(origin, tmp_path, url=f"{origin.url}?set=1").fetched() == ('"one"', one)
    assert await Fetcher(origin, tmp_path, url=f"{origin.url}?set=2").fetched() == ('"two"', other)
    assert origin.requests == []


async def test_rejected_and_unavailable_files_keep_the_copy(origin: Origin, tmp_path: Path, one: bytes) -> None:
    fetcher = await warm(origin, tmp_path)
    origin.will(unframed(b"<html>"), unframed(b"<html>"), status("503 Service Unavailable"))
    await Fetcher(origin, tmp_path).rejected('"none"')
    await Fetcher(origin, tmp_path).unavailable('"none"')
    assert await fetcher.fetched() == ('"one"', one)


# Damage


def changed_byte(cache: Path) -> None:
    file = cache / entry_of(cache)[1].file
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def cut_short(cache: Path) -> None:
    os.truncate(cache / entry_of(cache)[1].file, 100_000)


def missing(cache: Path) -> None:
    (cache / entry_of(cache)[1].file).unlink()


def cut_entry(cache: Path) -> None:
    os.truncate(entry_of(cache)[0], 30)


def empty_entry(cache: Path) -> None:
    os.truncate(entry_of(cache)[0], 0)


def no_text(cache: Path) -> None:
    entry_of(cache)[0].write_bytes(b'{"url":"\xff"}')


def replaced(**fields: str) -> Callable[[Path], None]:
    def replace(cache: Path) -> None:
        file, entry = entry_of(cache)
        file.write_bytes(msgspec.json.encode(msgspec.structs.replace(entry, **fields)))

    return replace


@pytest.mark.parametrize(
    "damage",
    [
        changed_byte,
        cut_short,
        missing,
        cut_entry,
        empty_entry,
        no_text,
        replaced(url="http://elsewhere/"),
        replaced(file="entry.baked"),
    ],
)
async def test_a_damaged_copy_is_discarded_with_one_log_line_and_the_origin_asked(
    origin: Origin, tmp_path: Path, one: bytes, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = await warm(origin, tmp_path)
    damage(fetcher.cache)
    assert await fetcher.fetched() == ('"one"', one)
    assert len(origin.requests) == 1
    (line,) = caplog.messages
    assert line.startswith(f"{origin.url}: the cached copy is discarded: ")
    origin.requests.clear()
    assert await Fetcher(origin, tmp_path).fetched() == ('"one"', one)
    assert origin.requests == []


@pytest.mark.parametrize("name", ["../beside", "{folder}/beside"])
async def test_an_entry_with_a_path_outside_the_cache_neither_serves_nor_removes_that_file(
    origin: Origin, tmp_path: Path, one: bytes, other: bytes, name: str
) -> None:
    fetcher = await warm(origin, tmp_path)
    (tmp_path / "beside").write_bytes(other)
    replaced(file=name.format(folder=tmp_path))(fetcher.cache)
    assert await fetcher.fetched() == ('"one"', one)
    assert (tmp_path / "beside").read_bytes() == other


async def test_a_target_that_cannot_be_written_keeps_the_copy(origin: Origin, tmp_path: Path, one: bytes) -> None:
    fetcher = await warm(origin, tmp_path)
    fetcher.to = tmp_path / "nowhere" / "file"
    assert await fetcher.unavailable() == "No such file or directory"
    assert await Fetcher(origin, tmp_path).fetched() == ('"one"', one)
    assert len(origin.requests) == 0


async def test_a_confirmation_of_another_fingerprint_changes_nothing(origin: Origin, tmp_path: Path) -> None:
    fetcher = await warm(origin, tmp_path)
    before = entry_of(fetcher.cache)
    LastGoodCopy(fetcher.cache, origin.url, name=origin.url).confirm('"none"', datetime.now(UTC))
    assert entry_of(fetcher.cache) == before


# Write errors


async def test_a_cache_that_cannot_be_written_is_logged_once_and_otherwise_ignored(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    origin.usual = alternating(*editions)
    (tmp_path / "cache").write_bytes(b"no folder")
    fetcher = Fetcher(origin, tmp_path)
    caplog.clear()
    assert [await fetcher.fetched('"none"') for _ in range(2)] == [('"0"', editions[0]), ('"1"', editions[1])]
    assert caplog.messages == [f"{origin.url}: the last good copy cannot be saved: File exists"]


async def test_a_cache_that_cannot_be_read_is_logged_and_the_origin_asked(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = await warm(origin, tmp_path)
    file, _ = entry_of(fetcher.cache)
    file.unlink()
    file.mkdir()
    assert await fetcher.fetched() == ('"one"', one)
    assert caplog.messages[0] == f"{origin.url}: the cached copy cannot be read: Is a directory"


async def test_a_full_disk_keeps_the_copy_and_leaves_no_temporary_file(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = await warm(origin, tmp_path)
    before = sorted(fetcher.cache.iterdir())
    new = tmp_path / "new"
    new.write_bytes(b"new")
    cache = LastGoodCopy(fetcher.cache, origin.url, name=origin.url)
    with small_disk(10):
        cache.save(new, fingerprint='"two"', confirmed_at=datetime.now(UTC))
        cache.confirm('"one"', datetime.now(UTC))
    assert caplog.messages == [f"{origin.url}: the last good copy cannot be saved: File too large"]
    assert sorted(fetcher.cache.iterdir()) == before
    assert await fetcher.fetched() == ('"one"', one)


# Concurrent and killed processes


async def test_old_files_of_killed_processes_are_removed(origin: Origin, tmp_path: Path) -> None:
    fetcher = await warm(origin, tmp_path)
    file, _ = entry_of(fetcher.cache)
    key, now = file.stem, time.time()
    left = {name: age for age in (60, 7200) for name in (f"{key}.{age}.baked", f".{key}.json.{age}.part")}
    for name, age in {**left, "other.0.baked": 7200}.items():
        (fetcher.cache / name).write_bytes(b"left")
        os.utime(fetcher.cache / name, (now - age, now - age))
    await Fetcher(origin, tmp_path).fetch('"none"')
    names = {path.name for path in fetcher.cache.iterdir()}
    assert names & {*left, "other.0.baked"} == {f"{key}.60.baked", f".{key}.json.60.part", "other.0.baked"}


async def test_processes_that_renew_one_copy_concurrently_leave_a_valid_one(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    origin.usual = alternating(*editions)

    async def start_often(folder: Path) -> None:
        for _ in range(5):
            fetcher = Fetcher(origin, folder)
            for _ in range(3):
                assert (await fetcher.fetched())[1] in editions

    (tmp_path / "cache").mkdir()
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
        (folder / "cache").symlink_to(tmp_path / "cache")
    await asyncio.gather(*map(start_often, folders))
    origin.requests.clear()
    assert (await Fetcher(origin, tmp_path).fetched())[1] in editions
    assert (origin.requests, caplog.messages) == ([], [])


async def test_a_process_killed_at_any_step_leaves_a_valid_copy_or_none(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    origin.usual = alternating(*editions)
    cache, fetched, found = tmp_path / "cache", tmp_path / "fetched", []
    with killable("tests.sources.killed:fetch_twice", cache, origin.url) as run:
        for step in count(1):
            killed = await asyncio.to_thread(run, step)
            entry = LastGoodCopy(cache, origin.url, name=origin.url).load(fetched)
            found.append(entry is not None)
            assert entry is None or fetched.read_bytes() == editions[int(entry.fingerprint.strip('"'))]
            if not killed:
                break
            shutil.rmtree(cache, ignore_errors=True)
    assert found == sorted(found)  # from some step on there is a copy
    assert (found[0], found[-1]) == (False, True)
    assert caplog.messages == []
