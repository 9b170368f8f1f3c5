"""The key file: read and changed atomically."""

import fcntl
import os
import signal
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from service.access.key_file import KeyFileError, add_key, change_keys, is_open_to_others, read_content, read_keys
from tests.access.example_keys import entry
from tests.killed import killable
from tests.program import SECONDS, exit_code, forked
from tests.sampling.test_sample import small_disk

FILE = "keys[1].json"


def add(file: Path, name: str = "shop") -> None:
    change_keys(file, partial(add_key, entry=entry(name=name)), timeout_seconds=SECONDS)


def add_other(folder: str) -> None:
    """Add a key to the file in a folder; see `tests.killed`."""
    add(Path(folder, FILE), "other")


def names(file: Path) -> list[str]:
    return [each.name for each in read_keys(read_content(file))]


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    folder.mkdir()
    return folder / FILE


@pytest.mark.parametrize("group", [os.getgid(), *os.getgroups()[:1]])
def test_a_new_file_is_private_and_a_change_keeps_owner_and_group_but_no_permissions_of_others(
    file: Path, group: int
) -> None:
    add(file)
    assert names(file) == ["shop"]
    assert mode(file) == 0o600
    assert list(file.parent.iterdir()) == [file]  # and no temporary file
    os.chown(file, -1, group)
    file.chmod(0o644)
    assert is_open_to_others(file)
    before = file.stat()
    add(file, "other")
    assert mode(file) == 0o640
    assert not is_open_to_others(file)
    assert (file.stat().st_uid, file.stat().st_gid) == (before.st_uid, before.st_gid)


def test_a_link_stays_and_its_target_changes(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    add(link)
    add(link, "other")
    assert link.is_symlink()
    assert names(file) == names(link) == ["shop", "other"]


@pytest.mark.process
def test_concurrent_changes_of_processes_and_threads_are_all_applied(file: Path) -> None:
    def add_many(name: str) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(partial(add, file), [f"{name}-{number}" for number in range(20)]))

    with ExitStack() as processes:
        children = [processes.enter_context(forked(partial(add_many, name))) for name in "abc"]
        assert list(map(exit_code, children)) == [0, 0, 0]
    assert sorted(names(file)) == sorted(f"{name}-{number}" for name in "abc" for number in range(20))


def test_waiting_for_a_lock_of_another_process_times_out(file: Path) -> None:
    add(file)
    before = file.read_bytes()
    holder = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(KeyFileError, match="another process holds the lock of the folder"):
        change_keys(file, partial(add_key, entry=entry(name="other")), timeout_seconds=0.1)
    assert file.read_bytes() == before
    os.close(holder)
    add(file, "other")
    assert names(file) == ["shop", "other"]


@pytest.mark.process
def test_a_change_killed_at_any_step_leaves_a_valid_file_and_nothing_that_the_next_does_not_remove(file: Path) -> None:
    keys = []
    with killable("tests.access.test_key_file:add_other", file.parent) as run:
        for step in count(1):
            file.unlink(missing_ok=True)
            add(file)
            killed = run(step)
            keys.append(names(file))
            add(file, "last")
            assert names(file) == [*keys[-1], "last"]
            assert list(file.parent.iterdir()) == [file]
            if not killed:
                break
    assert keys == sorted(keys)
    assert (keys[0], keys[-1]) == (["shop"], ["shop", "other"])


def test_a_full_disk_or_a_damaged_file_leaves_the_file_unchanged(file: Path) -> None:
    add(file)
    before = file.read_bytes()
    handled = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with small_disk(len(before) + 10), pytest.raises(KeyFileError, match="File too large"):
            add(file, "other")
    finally:
        signal.signal(signal.SIGXFSZ, handled)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]
    file.write_bytes(before[:-9])
    with pytest.raises(KeyFileError, match="it is cut off"):
        add(file, "other")
    assert file.read_bytes() == before[:-9]


def big(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate((16 << 20) + 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda file: file, "No such file or directory"),
        (Path.mkdir, "Is a directory"),
        (os.mkfifo, "it is not a regular file"),
        (lambda file: file.symlink_to(file), "Too many levels of symbolic links"),
        (big, "it is larger than 16 MiB"),
    ],
)
def test_what_is_not_a_key_file_is_rejected_without_blocking(
    file: Path, make: Callable[[Path], object], message: str
) -> None:
    make(file)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(KeyFileError, match=message):
        read_content(file)
    assert len(list(Path("/proc/self/fd").iterdir())) == opened


def test_an_invalid_path_is_rejected() -> None:
    for work in (read_content, is_open_to_others, add):
        with pytest.raises(KeyFileError, match="it is not a valid path"):
            work(Path("a\0b"))
