"""Following a key file."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from inspect import signature
from itertools import repeat
from pathlib import Path
from time import time

import pytest

from service.access.api_key import Principal, static_principals
from service.access.key_file import add_key, change_keys, encode_keys, revoke_key
from service.access.keyring import Keyring
from service.model.errors import Unauthorized
from service.web.pipeline.auth import KeyAuthentication
from tests.access.example_keys import entry
from tests.program import SECONDS
from tests.run.generations import put, swap_link
from tests.web.live import with_keys

SECOND = timedelta(seconds=1)
POLL_SECONDS = 0.02


class Followed:
    """A key file, a keyring that follows it, and further ones on demand."""

    def __init__(self, folder: Path) -> None:
        self.file, self.backup = folder / "keys.json", folder / "backup"
        static = static_principals(["given"])
        self.keyring = Keyring(static, self.file, self.backup, poll_seconds=POLL_SECONDS)

    def add(self, key: str, expires_at: datetime | None = None) -> None:
        change_keys(self.file, partial(add_key, entry=entry(key, name=key, expires_at=expires_at)))

    def revoke(self, name: str) -> None:
        change_keys(self.file, partial(revoke_key, name=name))

    def accepts(self, key: str, clock: Callable[[], float] = time) -> bool:
        try:
            KeyAuthentication(self.keyring, clock)(with_keys(key))
        except Unauthorized:
            return False
        return True

    async def successor(self) -> Keyring:
        """Return the keyring of a process that starts now."""
        keyring = Keyring({}, self.file, self.backup)
        await keyring.start()
        return keyring


@asynccontextmanager
async def following(folder: Path, expires_at: datetime | None = None) -> AsyncIterator[Followed]:
    made = Followed(folder)
    made.add("old", expires_at)
    await made.keyring.start()
    task = asyncio.create_task(made.keyring.run())
    yield made
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
async def followed(tmp_path: Path) -> AsyncIterator[Followed]:
    async with following(tmp_path) as made:
        yield made


async def soon(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(SECONDS):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)


async def polls(count: int = 5) -> None:
    """Wait for this many polls of the file."""
    await asyncio.sleep(POLL_SECONDS * count)


async def test_a_new_key_is_accepted_and_a_revoked_one_rejected_soon(followed: Followed) -> None:
    assert (followed.accepts("old"), followed.accepts("new")) == (True, False)
    await polls()
    followed.add("new")
    await soon(lambda: followed.accepts("new"))
    assert followed.accepts("old")
    await polls()
    followed.revoke("old")
    await soon(lambda: not followed.accepts("old"))


def test_the_file_is_polled_more_than_once_a_second() -> None:
    assert signature(Keyring).parameters["poll_seconds"].default < 1


async def test_a_key_is_rejected_once_it_expires(tmp_path: Path) -> None:
    expires_at = datetime.now(UTC) + SECOND
    async with following(tmp_path, expires_at) as followed:
        assert followed.accepts("old")
        await soon(lambda: not followed.accepts("old"))
    assert datetime.now(UTC) >= expires_at


async def test_a_key_is_valid_again_when_the_clock_is_set_back_from_after_its_expiry(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    async with following(tmp_path, now + 60 * SECOND) as followed:
        for ahead, accepted in ((0, True), (59, True), (60, False), (3600, False), (59, True)):
            assert followed.accepts("old", repeat(now.timestamp() + ahead).__next__) == accepted


async def test_a_key_given_by_option_stays_valid_whatever_the_file_says(followed: Followed) -> None:
    expires_at = datetime.now(UTC) + SECOND / 4
    for key in ("given", "short"):
        followed.add(key, expires_at)
    await soon(lambda: datetime.now(UTC) > expires_at and not followed.accepts("short"))
    assert KeyAuthentication(followed.keyring)(with_keys("given")) == Principal("key 1")


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "emptied": (lambda file: put(b"", file), "it is empty"),
    "zeros": (lambda file: put(bytes(100), file), "JSON is malformed"),
    "cut": (lambda file: put(file.read_bytes()[:-9], file), "it is cut off"),
    "gone": (Path.unlink, "No such file or directory"),
    "a link to a folder": (lambda file: swap_link(file, file.parent), "Is a directory"),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_file_keeps_the_previous_keys_and_is_logged_once_and_again_when_it_is_valid(
    followed: Followed, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], object], message: str
) -> None:
    caplog.set_level(logging.INFO)
    before = followed.file.read_bytes()
    damage(followed.file)
    await soon(lambda: not followed.keyring.is_valid())
    await polls()
    assert followed.accepts("old")
    (line,) = caplog.messages
    assert message in line
    assert line.endswith("the previous keys stay valid")
    put(before, followed.file)
    await soon(followed.keyring.is_valid)
    assert caplog.messages[1:] == [f"the key file {followed.file} is valid again"]
    followed.revoke("old")
    await soon(lambda: not followed.accepts("old"))


async def test_a_link_swapped_as_in_kubernetes_is_followed(followed: Followed, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "keys.json").write_bytes(encode_keys([entry(f"k{number}")]))
    (tmp_path / "..data").symlink_to("..1")
    followed.file.unlink()
    followed.file.symlink_to("..data/keys.json")
    await soon(lambda: followed.accepts("k1") and not followed.accepts("old"))
    swap_link(tmp_path / "..data", Path("..2"))
    await soon(lambda: followed.accepts("k2") and not followed.accepts("k1"))


async def test_a_process_that_starts_while_the_file_is_damaged_uses_the_backup_and_without_it_accepts_no_key(
    followed: Followed,
) -> None:
    followed.add("new")
    followed.revoke("old")
    await soon(lambda: followed.accepts("new"))
    put(b"{", followed.file)
    assert (await followed.successor()).principals == {entry("new").credential: Principal("new")}
    followed.backup.unlink()
    assert (await followed.successor()).principals == {}


async def test_a_backup_that_cannot_be_written_is_removed_rather_than_left_outdated(followed: Followed) -> None:
    followed.backup.unlink()
    followed.backup.mkdir()
    followed.revoke("old")
    await soon(lambda: not followed.accepts("old"))
    followed.file.unlink()
    assert (await followed.successor()).principals == {}
