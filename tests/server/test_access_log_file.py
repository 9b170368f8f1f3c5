"""Writing the access log."""

import errno
import fcntl
import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from service.server.log import AccessLogFile, access_log, checked_access_log
from tests.program import eventually, exit_code, forked


@contextmanager
def opened(name: Path | str, folder: Path) -> Iterator[AccessLogFile]:
    """Open an access log, whose lock is in a folder."""
    with access_log(str(name), folder / "lock", b"".join) as log:
        assert log is not None
        yield log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


@pytest.fixture
def file(path: Path, tmp_path: Path) -> Iterator[AccessLogFile]:
    with checked_access_log(str(path)), opened(path, tmp_path) as log:
        yield log


def test_lines_are_appended_soon_and_in_order_and_the_queued_ones_at_the_end(tmp_path: Path, path: Path) -> None:
    path.write_text("before\n")
    with opened(path, tmp_path) as log:
        for number in range(100):
            log.write(b"%d\n" % number)
        eventually(lambda: path.read_text().split() == ["before", *map(str, range(100))])
        log.write(b"last\n")
    assert path.read_text().endswith("99\nlast\n")


def test_a_renamed_file_is_created_again_and_is_not_for_all_to_read(file: AccessLogFile, path: Path) -> None:
    file.write(b"one\n")
    eventually(lambda: path.read_text() == "one\n")
    mask = os.umask(0)
    try:
        path.rename(path.with_suffix(".1"))
        file.write(b"two\n")
        eventually(lambda: path.exists() and path.read_text() == "two\n")
    finally:
        os.umask(mask)
    assert path.with_suffix(".1").read_text() == "one\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_lines_for_a_lost_folder_are_written_once_it_is_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder, moved = tmp_path / "logs", tmp_path / "moved"
    folder.mkdir()
    with opened(folder / "log", tmp_path) as file:
        file.write(b"one\n")
        eventually(lambda: (folder / "log").exists() and (folder / "log").read_text() == "one\n")
        folder.rename(moved)
        file.write(b"two\n")
        eventually(lambda: caplog.messages)
        moved.rename(folder)
        eventually(lambda: (folder / "log").read_text() == "one\ntwo\n")
    assert caplog.messages == ["the access log cannot be written: No such file or directory"]


def test_a_closed_standard_output_is_an_error_at_once() -> None:
    kept = os.dup(1)
    os.close(1)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            checked_access_log("-")
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def test_an_error_that_lasts_is_logged_once(tmp_path: Path, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    attempts = 0

    def fail(_: Sequence[bytes]) -> bytes:
        nonlocal attempts
        attempts += 1
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with access_log(str(path), tmp_path / "lock", fail):
        eventually(lambda: attempts > 2)
    assert caplog.messages == ["the access log cannot be written: No space left on device"]


def test_a_write_that_fails_midway_is_undone_and_retried(
    file: AccessLogFile, path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ours, theirs = b"a" * 299 + b"\n", b"b" * 299 + b"\n"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with (tmp_path / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            for _ in range(1000):
                assert file.write(ours)
            fcntl.flock(lock, fcntl.LOCK_UN)
            eventually(lambda: caplog.messages)
            fcntl.flock(lock, fcntl.LOCK_EX)
            assert set(path.read_bytes().splitlines(keepends=True)) <= {ours}
            path.write_bytes(path.read_bytes() + theirs)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    eventually(lambda: path.stat().st_size == 1001 * 300)
    lines = path.read_bytes().splitlines(keepends=True)
    assert (lines.count(ours), lines.count(theirs)) == (1000, 1)


def test_a_pipe_without_a_reader_is_an_error_at_once_and_lines_for_it_are_written_once_it_has_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="no process reads"), checked_access_log(str(pipe)):
        pass
    with opened(pipe, tmp_path) as file:
        file.write(b"line\n")
        eventually(lambda: caplog.messages)
        with pipe.open("rb", buffering=0) as reader:
            assert reader.read(100) == b"line\n"


def test_the_reader_of_a_pipe_sees_no_end_while_the_service_runs(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with checked_access_log(str(pipe)):
        with pytest.raises(BlockingIOError):  # a pipe at its end would return nothing
            os.read(reader, 1)
        with opened(pipe, tmp_path) as file:
            file.write(b"line\n")
        assert os.read(reader, 100) == b"line\n"
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
    os.close(reader)


def test_a_stalled_reader_blocks_nothing_and_only_lines_beyond_the_queue_are_dropped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with checked_access_log(str(pipe)), opened(pipe, tmp_path) as file:
        queued = [file.write(b"x" * 299 + b"\n") for _ in range(100_000)]
        assert queued[0]
        assert not all(queued)  # a writer that starts late takes what is queued until then
        os.set_blocking(reader, True)
        read = 0
        while read < sum(queued) * 300:
            read += len(os.read(reader, 1 << 20))
        assert file.write(b"more\n")
    assert not caplog.messages
    os.close(reader)


@pytest.mark.process
def test_lines_of_several_processes_do_not_mix(tmp_path: Path, path: Path) -> None:
    def write(letter: str) -> None:
        with opened(path, tmp_path) as log:
            assert all(log.write((letter * 300 + "\n").encode()) for _ in range(3000))

    with ExitStack() as writers:
        children = [writers.enter_context(forked(partial(write, letter))) for letter in "abc"]
        assert list(map(exit_code, children)) == [0, 0, 0]
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted([letter * 300 for letter in "abc" for _ in range(3000)])


def test_without_a_name_there_is_no_log(tmp_path: Path) -> None:
    with access_log("", tmp_path / "lock", b"".join) as file:
        assert file is None
    assert not list(tmp_path.iterdir())
