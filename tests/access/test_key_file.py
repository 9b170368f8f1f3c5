"""The key file, changed so that it is always whole."""

import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from service.access.key_entries import BadKeys, read_keys, with_key, write_keys
from service.access.key_file import change_keys, is_open_to_all, read_stored, signature
from tests.access.made_up_keys import entry
from tests.killed import killable
from tests.program import SECONDS

FILE = "keys[1].json"
# Adds so many keys, one after the other, each under a name of its own that begins with the first argument.
ADDS = """
import sys
from functools import partial
from pathlib import Path
from service.access.key_file import change_keys
from service.access.key_entries import with_key
from tests.access.made_up_keys import entry
for number in range(int(sys.argv[3])):
    change_keys(Path(sys.argv[2]), partial(with_key, entry=entry(name=f"{sys.argv[1]}-{number}")))
"""


def adding(name: str, file: Path, count: int) -> subprocess.Popen[bytes]:
    """Start a process that adds keys to a file."""
    return subprocess.Popen([sys.executable, "-c", ADDS, name, str(file), str(count)], cwd=Path(__file__).parents[2])


def add(file: Path, name: str = "shop") -> None:
    change_keys(file, partial(with_key, entry=entry(name=name)))


def add_other(folder: str) -> None:
    """Add a key to the file in a folder; see `tests.killed`."""
    add(Path(folder, FILE), "other")


def names(file: Path) -> list[str]:
    return [each.name for each in read_keys(read_stored(file)[0])]


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    folder.mkdir()
    return folder / FILE


def test_a_file_is_made_for_its_owner_alone_and_nothing_lies_beside_it(file: Path) -> None:
    add(file)
    assert names(file) == ["shop"]
    assert mode(file) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_a_change_leaves_the_group_what_it_may_and_takes_from_others_what_they_may(file: Path) -> None:
    add(file)
    file.chmod(0o644)
    assert is_open_to_all(file)
    add(file, "other")
    assert mode(file) == 0o640
    assert not is_open_to_all(file)


@pytest.mark.parametrize("group", [os.getgid(), *os.getgroups()[:1]])
def test_a_change_leaves_owner_and_group(file: Path, group: int) -> None:
    add(file)
    os.chown(file, -1, group)
    before = file.stat()
    add(file, "other")
    assert (file.stat().st_uid, file.stat().st_gid) == (before.st_uid, before.st_gid)


def test_what_a_killed_change_left_beside_the_file_goes_with_the_next_one(file: Path) -> None:
    left = file.with_name(f".{file.name}.killed.new")
    left.write_text("half of it")
    add(file)
    assert not left.exists()


def test_a_link_stays_and_what_it_leads_to_changes(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(file)
    add(link)
    add(link, "other")
    assert link.is_symlink()
    assert names(file) == names(link) == ["shop", "other"]


def test_processes_that_change_a_file_at_once_lose_nothing(file: Path) -> None:
    processes = [adding(name, file, 20) for name in ("a", "b", "c")]
    assert [process.wait(SECONDS) for process in processes] == [0, 0, 0]
    assert sorted(names(file)) == sorted(f"{name}-{number}" for name in "abc" for number in range(20))


def test_threads_that_change_a_file_at_once_lose_nothing(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(add, file), [f"k{number}" for number in range(40)]))
    assert len(names(file)) == 40


def test_a_lock_that_another_process_keeps_is_told_and_not_waited_for_without_end(file: Path) -> None:
    add(file)
    before = file.read_bytes()
    holder = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(BadKeys, match="another process holds the lock of the folder"):
        change_keys(file, partial(with_key, entry=entry(name="other")), wait_seconds=0.1)
    assert file.read_bytes() == before
    os.close(holder)
    add(file, "other")
    assert names(file) == ["shop", "other"]


def test_a_change_that_is_killed_at_any_step_leaves_a_whole_file_and_nothing_for_good(file: Path) -> None:
    found = []
    with killable("tests.access.test_key_file:add_other", file.parent) as run:
        for step in count(1):
            file.unlink(missing_ok=True)
            add(file)
            killed = run(step)
            found.append(names(file))
            add(file, "last")
            assert names(file) == [*found[-1], "last"]
            assert list(file.parent.iterdir()) == [file]
            if not killed:
                break
    assert found == sorted(found)
    assert (found[0], found[-1]) == (["shop"], ["shop", "other"])


def test_a_disk_that_is_full_leaves_the_file_as_it_was(file: Path) -> None:
    add(file)
    before = file.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handled = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(BadKeys, match="File too large"):
            add(file, "other")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handled)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_damaged_file_is_not_changed(file: Path) -> None:
    file.write_bytes(write_keys([entry()])[:-9])
    before = file.read_bytes()
    with pytest.raises(BadKeys, match="it is cut off"):
        add(file, "other")
    assert file.read_bytes() == before


def big(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate((16 << 20) + 1)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda file: file, "No such file or directory"),
        (Path.mkdir, "it is no regular file"),
        (os.mkfifo, "it is no regular file"),
        (lambda file: file.symlink_to(file), "Too many levels of symbolic links"),
        (big, "it is larger than 16 MiB"),
    ],
)
def test_what_is_no_file_of_keys_is_refused_at_once(file: Path, make: Callable[[Path], object], told: str) -> None:
    make(file)
    opened = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(BadKeys, match=told):
        read_stored(file)
    assert len(list(Path("/proc/self/fd").iterdir())) == opened


def test_a_path_that_is_none_is_refused() -> None:
    for work in (read_stored, signature, is_open_to_all, add):
        with pytest.raises(BadKeys, match="it is no path"):
            work(Path("a\0b"))


def test_a_file_looks_other_once_it_is_replaced(file: Path) -> None:
    add(file)
    _, before = read_stored(file)
    assert signature(file) == before
    add(file, "other")
    assert signature(file) != before
