"""A verified file is known by its signature, to its user only, and to the same version of the program."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from service.files import Signature
from service.publishing import local_source as verified_files
from service.publishing.local_source import VerifiedFiles

LATER_NS = 10**10


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "verified"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(b"content")
    return tmp_path / "file"


def signature(file: Path) -> Signature:
    return Signature.of(file.stat())


def add(folder: Path, file: Path, changed: Signature | None = None, after_ns: int = LATER_NS) -> Signature:
    listed = changed or signature(file)
    with file.open("rb") as opened:
        VerifiedFiles(folder).add(opened, listed, listed.changed_ns + after_ns)
    return listed


def test_a_file_is_known_until_any_part_of_its_signature_changes(folder: Path, file: Path) -> None:
    assert not VerifiedFiles(folder).has(signature(file))
    listed = add(folder, file)
    assert VerifiedFiles(folder).has(listed)
    for name in Signature.__struct_fields__:
        other = msgspec.structs.replace(listed, **{name: getattr(listed, name) + 1})
        assert not VerifiedFiles(folder).has(other), name


def test_a_time_of_modification_that_is_set_back_does_not_hide_a_change(folder: Path, file: Path) -> None:
    listed = add(folder, file)
    file.write_bytes(b"CONTENT")
    os.utime(file, ns=(listed.modified_ns, listed.modified_ns))
    changed = signature(file)
    assert (changed.modified_ns, changed.size, changed.inode) == (listed.modified_ns, listed.size, listed.inode)
    assert not VerifiedFiles(folder).has(changed)


@pytest.mark.parametrize("name", ["FORMAT", "__version__"])
def test_another_format_or_version_of_the_program_knows_nothing(
    folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    listed = add(folder, file)
    monkeypatch.setattr(verified_files, name, "another 0")
    assert not VerifiedFiles(folder).has(listed)


@pytest.mark.parametrize("kind", ["tmpfs", "ramfs", "ext4", ""])
def test_a_file_in_memory_is_not_listed_if_the_system_says_so(
    folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """There, a change through a mapping that was made before changes no time."""
    device = file.stat().st_dev
    mounts = tmp_path / "mountinfo"
    line = "36 35 {}:{} / {} rw,noatime shared:1 master:2 - {} none rw\n"
    if kind:
        mounts.write_text(
            line.format(0, os.minor(device) + 1, "/other", "tmpfs")
            + line.format(os.major(device), os.minor(device), "/a-\\040-b", kind)
        )
    monkeypatch.setattr(verified_files, "_MOUNTS", mounts)
    assert VerifiedFiles(folder).has(add(folder, file)) is (kind in ("ext4", ""))


def test_only_the_user_can_read_or_write_the_list_and_where_nothing_can_be_written_nothing_is_known(
    folder: Path, file: Path
) -> None:
    assert VerifiedFiles(folder).has(listed := add(folder, file))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [each.stat().st_mode & 0o777 for each in folder.iterdir()] == [0o600]
    assert add(file / "verified", file) == listed
    assert not VerifiedFiles(file / "verified").has(listed)


def test_a_list_that_is_of_another_user_is_ignored(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed, another = add(folder, file), os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: another)
    assert not VerifiedFiles(folder).has(listed)
    file.write_bytes(b"another")
    add(folder, file)
    assert len(list(folder.iterdir())) == 1


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("part", "change"),
    [
        *((part, linked) for part in ("", "list")),
        *(("", lambda path: path.chmod(0o770)), ("", lambda path: path.chmod(0o777))),
        ("list", lambda path: path.chmod(0o606)),
        ("list", lambda path: (path.unlink(), path.mkdir())),
    ],
)
def test_a_list_or_folder_that_is_a_link_or_that_others_can_change_is_ignored(
    folder: Path, file: Path, part: str, change: Callable[[Path], object]
) -> None:
    listed = add(folder, file)
    change(folder / part)
    assert not VerifiedFiles(folder).has(listed)


@pytest.mark.parametrize(("fraction_ns", "least_ns"), [(1, 20_000_000), (0, 2_000_000_000)])
def test_a_file_is_listed_only_if_a_change_after_it_was_verified_has_another_time(
    folder: Path, file: Path, fraction_ns: int, least_ns: int
) -> None:
    changed = msgspec.structs.replace(signature(file), changed_ns=10**18 + fraction_ns)
    for after_ns in (-LATER_NS, 0, least_ns - 1):
        add(folder, file, changed, after_ns)
        assert not VerifiedFiles(folder).has(changed)
    add(folder, file, changed, least_ns)
    assert VerifiedFiles(folder).has(changed)


def test_the_list_is_bounded_and_the_oldest_leave_it(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verified_files, "_MOST", 3)
    first = signature(file)
    listed = [add(folder, file, msgspec.structs.replace(first, inode=number)) for number in range(5)]
    assert [VerifiedFiles(folder).has(each) for each in listed] == [False, False, True, True, True]
