"""Only regular files are read, and file signatures change with the file."""

import os
import socket
from pathlib import Path

import pytest

from service.files import Signature, check_regular


def signature(path: Path) -> Signature:
    return Signature.of(path.stat())


def test_the_signature_of_an_unchanged_file_stays_and_reading_does_not_change_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    before = signature(file)
    file.read_bytes()
    assert signature(file) == before
    with file.open("rb") as opened:
        assert Signature.of(os.fstat(opened.fileno())) == before


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


def test_a_regular_file_passes_through_a_link_too(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch()
    link.symlink_to(file)
    check_regular(file.stat())
    check_regular(link.stat())


@pytest.mark.process
def test_a_pipe_a_socket_and_a_device_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/null")):
            with pytest.raises(OSError, match="it is not a regular file"):
                check_regular(path.stat())


def test_a_folder_is_rejected_as_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        check_regular(tmp_path.stat())
