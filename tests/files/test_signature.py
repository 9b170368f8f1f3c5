"""File signatures change with the file."""

import os
from pathlib import Path

from service.files.signature import Signature


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
