"""Advisory locks between processes; two descriptors of one file conflict as two processes do."""

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from service.files import is_locked, lock, locked, locked_folder, try_lock
from tests.program import SECONDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "lock"
    file.touch()
    return file


@pytest.fixture
def descriptors(path: Path) -> Iterator[tuple[int, int]]:
    one, other = (os.open(path, os.O_RDWR) for _ in range(2))
    yield one, other
    os.close(one)
    os.close(other)


@pytest.mark.parametrize(("held", "wanted", "allowed"), [(0, 0, False), (0, 1, False), (1, 0, False), (1, 1, True)])
def test_only_shared_locks_are_held_together(
    path: Path, descriptors: tuple[int, int], *, held: int, wanted: int, allowed: bool
) -> None:
    one, other = descriptors
    assert try_lock(one, shared=bool(held))
    assert is_locked(path, shared=bool(wanted)) is not allowed
    assert try_lock(other, shared=bool(wanted)) is allowed


def test_a_file_is_not_locked_if_it_is_unlocked_or_missing_and_may_be_if_it_cannot_be_opened(path: Path) -> None:
    assert not is_locked(path)
    assert not is_locked(path.with_name("missing"))
    assert is_locked(path / "not a folder")


def test_a_lock_is_waited_for(descriptors: tuple[int, int]) -> None:
    one, other = descriptors
    done = Event()

    def wait() -> None:
        lock(other)
        done.set()

    with locked(one):
        thread = Thread(target=wait)
        thread.start()
        assert not done.wait(0.05)
    assert done.wait(SECONDS)
    thread.join()


def test_the_lock_of_a_folder_is_released_at_the_end_and_waiting_for_it_times_out(tmp_path: Path) -> None:
    for _ in range(2):
        with locked_folder(tmp_path):
            assert is_locked(tmp_path)
            with pytest.raises(TimeoutError, match="another process holds the lock"), locked_folder(tmp_path, 0):
                pass
    assert not is_locked(tmp_path)


@pytest.mark.process
def test_a_lock_ends_with_the_process_that_holds_it(path: Path) -> None:
    child = os.fork()
    if not child:
        os._exit(not try_lock(os.open(path, os.O_RDWR)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not is_locked(path)
