"""The last good copy: there at the next start, whole or not at all, and in nobody's way."""

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

from service.loading.acceptance import Safeguards
from service.sources.last_good_copy import CopyEntry, LastGoodCopy
from service.sources.source import Rejected
from tests.baking.made_up import baked_file
from tests.directory import store, write_directory
from tests.killed import killable
from tests.sampling.test_sample import small_disk
from tests.sources.origin import Origin, alternating, serving, status, unmarked
from tests.sources.taking import Taker


def entry_of(folder: Path) -> tuple[Path, CopyEntry]:
    (file,) = folder.glob("*.json")
    return file, msgspec.json.decode(file.read_bytes(), type=CopyEntry)


async def warm(origin: Origin, folder: Path) -> Taker:
    """Take once, and return the process that starts next."""
    await Taker(origin, folder).take()
    origin.asked.clear()
    return Taker(origin, folder)


def demanding(origin: Origin, folder: Path) -> Taker:
    """Return a process that serves nothing but files of 500 stores."""
    taker = Taker(origin, folder)
    taker.check = Safeguards(min_stores=500).check
    return taker


@pytest.fixture
def few(tmp_path: Path) -> bytes:
    """Return a baked file of one store."""
    folder = write_directory(tmp_path / "few", [store("s1")])
    return baked_file(folder, tmp_path / "few.baked").read_bytes()


async def test_the_last_good_copy_is_served_when_the_origin_is_gone_at_the_next_start(
    tmp_path: Path, one: bytes
) -> None:
    async with serving(Origin(one)) as origin:
        taker = await warm(origin, tmp_path)
    assert await taker.taken() == ('"one"', one)
    assert await taker.unavailable('"one"') == "cannot connect: Connection refused"


async def test_the_first_time_the_copy_is_taken_unasked_and_then_the_origin_is_asked_for_another(
    origin: Origin, tmp_path: Path, one: bytes, other: bytes
) -> None:
    taker = await warm(origin, tmp_path)
    assert await taker.taken() == ('"one"', one)
    assert origin.asked == []
    assert await taker.take('"one"') is None
    origin.hold(other, '"two"')
    assert await taker.taken('"one"') == ('"two"', other)
    assert [asked["If-None-Match"] for asked in origin.asked] == ['"one"', '"one"']


async def test_the_copy_is_taken_once_in_a_process_and_only_by_who_has_nothing(origin: Origin, tmp_path: Path) -> None:
    taker = await warm(origin, tmp_path)
    await taker.take()
    await taker.take()
    assert len(origin.asked) == 1
    await Taker(origin, tmp_path).take('"none"')
    assert len(origin.asked) == 2


async def test_data_whose_counts_are_not_to_be_served_does_not_take_the_place_of_the_copy(
    origin: Origin, tmp_path: Path, one: bytes, few: bytes
) -> None:
    await warm(origin, tmp_path)
    origin.hold(few, '"few"')
    with pytest.raises(Rejected, match=r"^1 stores, at least 500 needed; ") as caught:
        await demanding(origin, tmp_path).take('"one"')
    assert caught.value.fingerprint == '"few"'
    assert await demanding(origin, tmp_path).take('"few"') is None
    assert await demanding(origin, tmp_path).taken() == ('"one"', one)


async def test_a_copy_whose_counts_are_not_to_be_served_is_left_and_the_origin_asked(
    origin: Origin, tmp_path: Path, one: bytes, few: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    origin.hold(few, '"few"')
    await warm(origin, tmp_path)
    origin.hold(one, '"one"')
    origin.will(status("500 Internal Server Error"))
    taker = demanding(origin, tmp_path)
    assert await taker.unavailable() == "500 Internal Server Error"
    assert caplog.messages == [
        "the cached copy is not served: 1 stores, at least 500 needed; --min-stores 1 allows that"
    ]
    assert entry_of(taker.cache)[1].fingerprint == '"few"'
    assert await taker.taken() == ('"one"', one)
    assert entry_of(taker.cache)[1].fingerprint == '"one"'


async def test_what_was_taken_from_the_origin_is_not_taken_from_the_cache_later(origin: Origin, tmp_path: Path) -> None:
    taker = Taker(origin, tmp_path)
    await taker.take()
    await taker.take()
    assert len(origin.asked) == 2


async def test_the_copy_tells_when_the_origin_last_confirmed_it(origin: Origin, tmp_path: Path) -> None:
    moments = [datetime.now(UTC)]
    taker = await warm(origin, tmp_path)
    taken = await taker.take()
    for _ in range(2):
        assert taken is not None
        assert taken.confirmed_at is not None
        assert moments[-1] <= taken.confirmed_at <= datetime.now(UTC)
        moments.append(datetime.now(UTC))
        assert await taker.take('"one"') is None
        taken = await Taker(origin, tmp_path).take()


async def test_what_comes_from_the_origin_has_no_time_of_its_own(origin: Origin, tmp_path: Path) -> None:
    taken = await Taker(origin, tmp_path).take()
    assert taken is not None
    assert taken.confirmed_at is None


async def test_of_one_address_one_copy_is_kept_for_its_owner_alone(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes]
) -> None:
    origin.usual = alternating(*editions)
    taker = Taker(origin, tmp_path)
    for _ in range(5):
        _, taken = await taker.taken()
    file, entry = entry_of(taker.cache)
    assert sorted(path.name for path in taker.cache.iterdir()) == sorted([file.name, entry.file])
    assert (taker.cache / entry.file).read_bytes() == taken
    assert [path.stat().st_mode & 0o777 for path in (taker.cache, *taker.cache.iterdir())] == [0o700, 0o600, 0o600]


async def test_the_copy_takes_no_room_of_its_own(origin: Origin, tmp_path: Path) -> None:
    taker = await warm(origin, tmp_path)
    await taker.take()
    assert taker.to.samefile(taker.cache / entry_of(taker.cache)[1].file)


async def test_where_files_cannot_be_linked_they_are_copied(
    origin: Origin, tmp_path: Path, one: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_link(*_: object) -> None:  # patched, as a machine need not have two disks
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", no_link)
    taker = await warm(origin, tmp_path)
    assert await taker.taken() == ('"one"', one)
    assert origin.asked == []
    assert {path.stat().st_nlink for path in (taker.to, *taker.cache.iterdir())} == {1}
    assert {path.stat().st_mode & 0o777 for path in (taker.to, *taker.cache.iterdir())} == {0o600}


async def test_addresses_that_differ_in_their_query_have_a_copy_each(
    origin: Origin, tmp_path: Path, one: bytes, other: bytes
) -> None:
    await Taker(origin, tmp_path, url=f"{origin.url}?set=1").take()
    origin.hold(other, '"two"')
    await Taker(origin, tmp_path, url=f"{origin.url}?set=2").take()
    origin.asked.clear()
    assert await Taker(origin, tmp_path, url=f"{origin.url}?set=1").taken() == ('"one"', one)
    assert await Taker(origin, tmp_path, url=f"{origin.url}?set=2").taken() == ('"two"', other)
    assert origin.asked == []


async def test_what_is_refused_or_cannot_be_had_leaves_the_copy(origin: Origin, tmp_path: Path, one: bytes) -> None:
    taker = await warm(origin, tmp_path)
    origin.will(unmarked(b"<html>"), unmarked(b"<html>"), status("503 Service Unavailable"))
    await Taker(origin, tmp_path).rejected('"none"')
    await Taker(origin, tmp_path).unavailable('"none"')
    assert await taker.taken() == ('"one"', one)


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
async def test_a_damaged_copy_is_dropped_with_one_line_and_the_origin_is_asked(
    origin: Origin, tmp_path: Path, one: bytes, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    taker = await warm(origin, tmp_path)
    damage(taker.cache)
    assert await taker.taken() == ('"one"', one)
    assert len(origin.asked) == 1
    (line,) = caplog.messages
    assert line.startswith(f"{origin.url}: the cached copy is discarded: ")
    origin.asked.clear()
    assert await Taker(origin, tmp_path).taken() == ('"one"', one)
    assert origin.asked == []


@pytest.mark.parametrize("name", ["../beside", "{folder}/beside"])
async def test_an_entry_that_names_a_file_outside_the_cache_neither_serves_nor_removes_it(
    origin: Origin, tmp_path: Path, one: bytes, other: bytes, name: str
) -> None:
    taker = await warm(origin, tmp_path)
    (tmp_path / "beside").write_bytes(other)
    replaced(file=name.format(folder=tmp_path))(taker.cache)
    assert await taker.taken() == ('"one"', one)
    assert (tmp_path / "beside").read_bytes() == other


async def test_a_place_that_cannot_be_written_costs_no_copy(origin: Origin, tmp_path: Path, one: bytes) -> None:
    taker = await warm(origin, tmp_path)
    taker.to = tmp_path / "nowhere" / "file"
    assert await taker.unavailable() == "No such file or directory"
    assert await Taker(origin, tmp_path).taken() == ('"one"', one)
    assert len(origin.asked) == 0


async def test_another_copy_than_the_origin_confirmed_keeps_its_time(origin: Origin, tmp_path: Path) -> None:
    taker = await warm(origin, tmp_path)
    before = entry_of(taker.cache)
    LastGoodCopy(taker.cache, origin.url, name=origin.url).confirm('"none"', datetime.now(UTC))
    assert entry_of(taker.cache) == before


# What cannot be written


async def test_a_cache_that_cannot_be_written_is_told_once_and_stops_nobody(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    origin.usual = alternating(*editions)
    (tmp_path / "cache").write_bytes(b"no folder")
    taker = Taker(origin, tmp_path)
    caplog.clear()
    assert [await taker.taken('"none"') for _ in range(2)] == [('"0"', editions[0]), ('"1"', editions[1])]
    assert caplog.messages == [f"{origin.url}: the last good copy cannot be saved: File exists"]


async def test_a_cache_that_cannot_be_read_is_told_and_the_origin_is_asked(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    taker = await warm(origin, tmp_path)
    file, _ = entry_of(taker.cache)
    file.unlink()
    file.mkdir()
    assert await taker.taken() == ('"one"', one)
    assert caplog.messages[0] == f"{origin.url}: the cached copy cannot be read: Is a directory"


async def test_a_full_disk_leaves_the_copy_and_nothing_beside_it(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    taker = await warm(origin, tmp_path)
    before = sorted(taker.cache.iterdir())
    new = tmp_path / "new"
    new.write_bytes(b"new")
    cache = LastGoodCopy(taker.cache, origin.url, name=origin.url)
    with small_disk(10):
        cache.save(new, fingerprint='"two"', confirmed_at=datetime.now(UTC))
        cache.confirm('"one"', datetime.now(UTC))
    assert caplog.messages == [f"{origin.url}: the last good copy cannot be saved: File too large"]
    assert sorted(taker.cache.iterdir()) == before
    assert await taker.taken() == ('"one"', one)


# Several processes, and their deaths


async def test_what_killed_processes_left_is_swept_when_it_is_old(origin: Origin, tmp_path: Path) -> None:
    taker = await warm(origin, tmp_path)
    file, _ = entry_of(taker.cache)
    key, now = file.stem, time.time()
    left = {f"{key}.{age}.{kind}": age for age in (60, 7200) for kind in ("baked", "part")}
    for name, age in {**left, "other.0.baked": 7200}.items():
        (taker.cache / name).write_bytes(b"left")
        os.utime(taker.cache / name, (now - age, now - age))
    await Taker(origin, tmp_path).take('"none"')
    names = {path.name for path in taker.cache.iterdir()}
    assert names & {*left, "other.0.baked"} == {f"{key}.60.baked", f"{key}.60.part", "other.0.baked"}


async def test_several_that_renew_one_copy_at_once_leave_a_sound_one(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    origin.usual = alternating(*editions)

    async def start_often(folder: Path) -> None:
        for _ in range(5):
            taker = Taker(origin, folder)
            for _ in range(3):
                assert (await taker.taken())[1] in editions

    (tmp_path / "cache").mkdir()
    folders = [tmp_path / name for name in "abcd"]
    for folder in folders:
        folder.mkdir()
        (folder / "cache").symlink_to(tmp_path / "cache")
    await asyncio.gather(*map(start_often, folders))
    origin.asked.clear()
    assert (await Taker(origin, tmp_path).taken())[1] in editions
    assert (origin.asked, caplog.messages) == ([], [])


async def test_a_process_killed_at_any_step_leaves_a_sound_copy_or_none(
    origin: Origin, tmp_path: Path, editions: tuple[bytes, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    origin.usual = alternating(*editions)
    cache, taken, found = tmp_path / "cache", tmp_path / "taken", []
    with killable("tests.sources.killed:take_twice", cache, origin.url) as run:
        for step in count(1):
            killed = await asyncio.to_thread(run, step)
            entry = LastGoodCopy(cache, origin.url, name=origin.url).load(taken)
            found.append(entry is not None)
            assert entry is None or taken.read_bytes() == editions[int(entry.fingerprint.strip('"'))]
            if not killed:
                break
            shutil.rmtree(cache, ignore_errors=True)
    assert found == sorted(found)  # once there is a copy, there is one
    assert (found[0], found[-1]) == (False, True)
    assert caplog.messages == []
