"""Files: status and signatures; locks between processes; atomic writes that leave the old content or the new."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from service import files
from tests.program import SECONDS
from tests.sampling.test_sample import small_disk


def signature(path: Path) -> files.Signature:
    return files.Signature.of(path.stat())


def test_the_signature_of_an_unchanged_file_stays_and_reading_does_not_change_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    before = signature(file)
    file.read_bytes()
    assert signature(file) == before
    with file.open("rb") as opened:
        assert files.Signature.of(os.fstat(opened.fileno())) == before


def test_the_signature_changes_with_the_size_the_time_and_the_inode(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"one")
    signatures = [signature(file)]
    file.write_bytes(b"longer")
    signatures.append(signature(file))
    os.utime(file, ns=(1, 1))
    signatures.append(signature(file))
    other.write_bytes(b"longer")
    os.utime(other, ns=(1, 1))
    other.replace(file)
    signatures.append(signature(file))
    assert len(set(signatures)) == 4


@pytest.mark.process
def test_a_pipe_a_socket_a_device_and_a_folder_are_rejected_and_a_link_to_a_file_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/null")):
            with pytest.raises(OSError, match="it is not a regular file"):
                files.check_regular(path.stat())
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        files.check_regular(tmp_path.stat())
    (tmp_path / "file").touch()
    (link := tmp_path / "link").symlink_to(tmp_path / "file")
    files.check_regular(link.stat())


@pytest.fixture
def lock_file(tmp_path: Path) -> Path:
    file = tmp_path / "lock"
    file.touch()
    return file


@pytest.fixture
def descriptors(lock_file: Path) -> Iterator[tuple[int, int]]:
    one, other = (os.open(lock_file, os.O_RDWR) for _ in range(2))
    yield one, other
    os.close(one)
    os.close(other)


@pytest.mark.parametrize(("held", "wanted", "allowed"), [(0, 0, False), (0, 1, False), (1, 0, False), (1, 1, True)])
def test_only_shared_locks_are_held_together(
    lock_file: Path, descriptors: tuple[int, int], *, held: int, wanted: int, allowed: bool
) -> None:
    one, other = descriptors
    assert files.try_lock(one, shared=bool(held))
    assert files.is_locked(lock_file, shared=bool(wanted)) is not allowed
    assert files.try_lock(other, shared=bool(wanted)) is allowed


def test_a_file_is_not_locked_if_it_is_unlocked_or_missing_and_may_be_if_it_cannot_be_opened(lock_file: Path) -> None:
    assert not files.is_locked(lock_file)
    assert not files.is_locked(lock_file.with_name("missing"))
    assert files.is_locked(lock_file / "not a folder")


def test_a_lock_is_waited_for(descriptors: tuple[int, int]) -> None:
    one, other = descriptors
    done = Event()

    def wait() -> None:
        files.lock(other)
        done.set()

    with files.locked(one):
        thread = Thread(target=wait)
        thread.start()
        assert not done.wait(0.05)
    assert done.wait(SECONDS)
    thread.join()


def test_the_lock_of_a_folder_is_released_at_the_end_and_waiting_for_it_times_out(tmp_path: Path) -> None:
    for _ in range(2):
        with files.locked_folder(tmp_path):
            assert files.is_locked(tmp_path)
            with pytest.raises(TimeoutError, match="another process holds the lock"), files.locked_folder(tmp_path, 0):
                pass
    assert not files.is_locked(tmp_path)


@pytest.mark.process
def test_a_lock_ends_with_the_process_that_holds_it(lock_file: Path) -> None:
    child = os.fork()
    if not child:
        os._exit(not files.try_lock(os.open(lock_file, os.O_RDWR)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not files.is_locked(lock_file)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_bytes(b"old")
    return path


@pytest.mark.parametrize("durable", [True, False])
def test_the_new_content_appears_at_the_end_and_replaces_the_file(target: Path, *, durable: bool) -> None:
    with target.open("rb") as opened_before:
        with files.atomic_write(target, durable=durable) as file:
            file.write(b"new")
            assert target.read_bytes() == b"old"
        assert opened_before.read() == b"old"
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


def test_a_failed_write_and_a_full_disk_leave_the_old_content_and_nothing_else(target: Path) -> None:
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), files.atomic_write(target):
            raise error
    with small_disk(10), pytest.raises(OSError, match="too large"), files.atomic_write(target) as file:
        file.write(b"x" * 11)
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


def test_a_target_that_cannot_be_replaced_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError), files.atomic_write(tmp_path / "folder") as file:
        file.write(b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_concurrent_writers_have_a_temporary_file_each_and_the_last_wins(target: Path) -> None:
    with files.atomic_write(target) as one, files.atomic_write(target) as other:
        one.write(b"one")
        other.write(b"other")
    assert target.read_bytes() == b"one"
    assert list(target.parent.iterdir()) == [target]


def test_the_mode_applies_from_the_first_byte_on_and_the_umask_to_it(target: Path) -> None:
    mask = os.umask(0o022)
    try:
        for mode, expected in ((0o600, 0o600), (0o666, 0o644)):
            with files.atomic_write(target, mode=mode) as file:
                assert os.fstat(file.fileno()).st_mode & 0o777 == expected
            assert target.stat().st_mode & 0o777 == expected
    finally:
        os.umask(mask)
