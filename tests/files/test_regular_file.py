"""Only regular files are read."""

import os
import socket
from pathlib import Path

import pytest

from service.files.regular_file import check_regular


def test_a_regular_file_passes_through_a_link_too(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch()
    link.symlink_to(file)
    check_regular(file.stat())
    check_regular(link.stat())


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
