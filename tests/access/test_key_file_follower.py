"""A key file that is followed."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from inspect import signature
from pathlib import Path

import pytest

from service.access.key_entries import with_key, without_key, write_keys
from service.access.key_file import change_keys
from service.access.key_file_follower import KeyFileFollower
from service.access.keyring import Keyring
from service.access.principal import Principal, given_principals
from service.model.errors import Unauthorized
from service.web.auth import api_key_authentication
from tests.access.made_up_keys import entry
from tests.program import SECONDS
from tests.run.generations import put, turn

SECOND = timedelta(seconds=1)
LOOK = 0.02


class Followed:
    """A key file, the ring that follows it, and another follower of it when that is asked for."""

    def __init__(self, folder: Path, **times: float) -> None:
        self.file, self.copy = folder / "keys.json", folder / "copy"
        self.ring = Keyring(given_principals(["given"]))
        self.follower = KeyFileFollower(self.file, self.copy, self.ring, look_seconds=LOOK, **times)

    def add(self, key: str, expires_at: datetime | None = None) -> None:
        change_keys(self.file, partial(with_key, entry=entry(key, name=key, expires_at=expires_at)))

    def revoke(self, name: str) -> None:
        change_keys(self.file, partial(without_key, name=name))

    def lets_in(self, key: str) -> bool:
        try:
            api_key_authentication(self.ring)([key])
        except Unauthorized:
            return False
        return True

    async def begin(self) -> None:
        await self.follower.begin()

    async def successor(self) -> Keyring:
        """Return the ring of a process that begins now."""
        ring = Keyring({})
        await KeyFileFollower(self.file, self.copy, ring).begin()
        return ring


@asynccontextmanager
async def following(folder: Path, expires_at: datetime | None = None, **times: float) -> AsyncIterator[Followed]:
    made = Followed(folder, **times)
    made.add("old", expires_at)
    await made.begin()
    task = asyncio.create_task(made.follower.run())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def followed(tmp_path: Path) -> AsyncIterator[Followed]:
    async with following(tmp_path) as made:
        yield made


async def soon(look: Callable[[], bool]) -> None:
    """Wait until a look is true."""
    async with asyncio.timeout(SECONDS):
        while not look():  # noqa: ASYNC110 - what is looked at wakes nobody
            await asyncio.sleep(0.01)


async def looks(count: int = 5) -> None:
    """Wait until a file was looked at so many times."""
    await asyncio.sleep(LOOK * count)


async def test_a_new_key_counts_soon(followed: Followed) -> None:
    assert followed.lets_in("old")
    assert not followed.lets_in("new")
    followed.add("new")
    await soon(lambda: followed.lets_in("new"))
    assert followed.lets_in("old")


async def test_a_file_that_was_left_alone_for_long_is_followed_as_before(tmp_path: Path) -> None:
    async with following(tmp_path, new_seconds=0) as followed:
        await looks()
        followed.add("new")
        await soon(lambda: followed.lets_in("new"))
        await looks()
        followed.revoke("old")
        await soon(lambda: not followed.lets_in("old"))


async def test_a_revoked_key_is_refused_soon(followed: Followed) -> None:
    followed.revoke("old")
    await soon(lambda: not followed.lets_in("old"))


def test_a_file_is_looked_at_more_often_than_every_second() -> None:
    assert signature(KeyFileFollower).parameters["look_seconds"].default < 1


async def test_a_key_that_expires_is_refused_from_that_moment_on(tmp_path: Path) -> None:
    expires_at = datetime.now(UTC) + SECOND
    async with following(tmp_path, expires_at) as followed:
        assert followed.lets_in("old")
        await soon(lambda: not followed.lets_in("old"))
    assert datetime.now(UTC) >= expires_at


async def test_a_key_that_is_given_to_the_run_stays_whatever_the_file_says(followed: Followed) -> None:
    expires_at = datetime.now(UTC) + SECOND / 4
    for key in ("given", "short"):
        followed.add(key, expires_at)
    await soon(lambda: datetime.now(UTC) > expires_at and not followed.lets_in("short"))
    assert api_key_authentication(followed.ring)(["given"]) == Principal("key 1")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda file: put(b"", file), "it is empty"),
    "zeros": (lambda file: put(bytes(100), file), "JSON is malformed"),
    "cut": (lambda file: put(file.read_bytes()[:-9], file), "it is cut off"),
    "gone": (Path.unlink, "No such file or directory"),
    "a link to a folder": (lambda file: turn(file, file.parent), "it is no regular file"),
}


@pytest.mark.parametrize(("damage", "told"), DAMAGES.values(), ids=DAMAGES)
async def test_a_file_that_is_damaged_leaves_the_keys_of_before_and_is_told_once_and_when_it_is_good_again(
    followed: Followed, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], object], told: str
) -> None:
    caplog.set_level(logging.INFO)
    before = followed.file.read_bytes()
    damage(followed.file)
    await soon(lambda: not followed.follower.is_sound())
    await looks()
    assert followed.lets_in("old")
    (line,) = caplog.messages
    assert told in line
    assert line.endswith("the keys of before stay")
    put(before, followed.file)
    await soon(followed.follower.is_sound)
    assert caplog.messages[1:] == [f"the key file {followed.file} is in order again"]
    followed.revoke("old")
    await soon(lambda: not followed.lets_in("old"))


async def test_a_link_that_turns_as_kubernetes_turns_it_is_followed(followed: Followed, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "keys.json").write_bytes(write_keys([entry(f"k{number}")]))
    (tmp_path / "..data").symlink_to("..1")
    followed.file.unlink()
    followed.file.symlink_to("..data/keys.json")
    await soon(lambda: followed.lets_in("k1") and not followed.lets_in("old"))
    turn(tmp_path / "..data", Path("..2"))
    await soon(lambda: followed.lets_in("k2") and not followed.lets_in("k1"))


async def test_a_process_that_begins_while_the_file_is_damaged_has_its_last_good_keys(followed: Followed) -> None:
    followed.add("new")
    followed.revoke("old")
    await soon(lambda: followed.lets_in("new"))
    put(b"{", followed.file)
    assert (await followed.successor()).principals == {entry("new").digest: Principal("new")}


async def test_a_process_that_begins_with_neither_file_nor_copy_lets_nobody_in(followed: Followed) -> None:
    followed.file.unlink()
    followed.copy.unlink()
    assert (await followed.successor()).principals == {}


async def test_a_copy_that_cannot_be_renewed_is_none_rather_than_an_old_one(followed: Followed) -> None:
    followed.copy.unlink()
    followed.copy.mkdir()
    followed.revoke("old")
    await soon(lambda: not followed.lets_in("old"))
    followed.file.unlink()
    assert (await followed.successor()).principals == {}
