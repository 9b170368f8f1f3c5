"""Atomic writes: the old content or the new, and no temporary file left."""

import os
from itertools import count
from pathlib import Path

import pytest

from service.files import atomic_write, temporary_files
from tests.killed import killable
from tests.sampling.test_sample import small_disk


def write_new(folder: str) -> None:
    """Replace the file in a folder; see `tests.killed`."""
    with atomic_write(Path(folder, "file")) as file:
        file.write(b"new")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    path.write_bytes(b"old")
    return path


@pytest.mark.parametrize("durable", [True, False])
def test_the_new_content_appears_at_the_end_and_replaces_the_file(target: Path, *, durable: bool) -> None:
    with target.open("rb") as opened_before:
        with atomic_write(target, durable=durable) as file:
            file.write(b"new")
            assert target.read_bytes() == b"old"
        assert opened_before.read() == b"old"
    assert target.read_bytes() == b"new"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_write_leaves_the_old_content_and_nothing_else(target: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), atomic_write(target):
        raise error
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


def test_a_full_disk_leaves_the_old_content_and_nothing_else(target: Path) -> None:
    with small_disk(10), pytest.raises(OSError, match="too large"), atomic_write(target) as file:
        file.write(b"x" * 11)
    assert target.read_bytes() == b"old"
    assert list(target.parent.iterdir()) == [target]


def test_a_target_that_cannot_be_replaced_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path / "folder") as file:
        file.write(b"new")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_concurrent_writers_have_a_temporary_file_each_and_the_last_wins(target: Path) -> None:
    with atomic_write(target) as one, atomic_write(target) as other:
        one.write(b"one")
        other.write(b"other")
    assert target.read_bytes() == b"one"
    assert list(target.parent.iterdir()) == [target]


def test_the_mode_applies_from_the_first_byte_on_and_the_umask_to_it(target: Path) -> None:
    mask = os.umask(0o022)
    try:
        for mode, expected in ((0o600, 0o600), (0o666, 0o644)):
            with atomic_write(target, mode=mode) as file:
                assert os.fstat(file.fileno()).st_mode & 0o777 == expected
            assert target.stat().st_mode & 0o777 == expected
    finally:
        os.umask(mask)


@pytest.mark.process
def test_killed_at_any_step_it_leaves_the_old_content_or_the_new_and_temporary_files_that_are_found(
    target: Path,
) -> None:
    contents = []
    with killable("tests.files.test_atomic_write:write_new", target.parent) as run:
        for step in count(1):
            killed = run(step)
            contents.append(target.read_bytes())
            for left in temporary_files(target.parent, target.name):
                left.unlink()
            assert list(target.parent.iterdir()) == [target]
            if not killed:
                break
            target.write_bytes(b"old")
    assert contents == sorted(contents, reverse=True)
    assert (contents[0], contents[-1]) == (b"old", b"new")
