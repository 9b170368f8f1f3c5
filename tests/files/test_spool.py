"""Spools: bytes in memory or in a file without a name."""

import errno
import resource
import shutil
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.spool import SpoolError, Spools

KIBIBYTE = 1 << 10  # of memory: a spool has one byte of it


@given(st.lists(st.binary(max_size=5)), st.sampled_from([KIBIBYTE, 4 * KIBIBYTE, 1 << 30]))
def test_a_spool_has_the_bytes_that_were_appended_whenever_it_is_read(parts: list[bytes], memory: int) -> None:
    spool = Spools(memory=memory).new()
    for number, part in enumerate(parts, 1):
        spool.append(part)
        assert bytes(spool.view()) == b"".join(parts[:number])
        assert len(spool) == len(spool.view())


def test_a_view_outlives_its_spool_which_leaves_no_name_in_its_folder(tmp_path: Path) -> None:
    spool = Spools(tmp_path, KIBIBYTE).new()
    spool.append(b"x" * 100_000)
    view = spool.view()
    assert list(tmp_path.iterdir()) == []
    del spool
    assert bytes(view) == b"x" * 100_000


def test_more_than_is_free_cannot_be_required_unless_it_is_little(tmp_path: Path) -> None:
    spools, free = Spools(tmp_path, 1 << 60), shutil.disk_usage(tmp_path).free
    spools.require(2 * free)
    spools = Spools(tmp_path, KIBIBYTE)
    spools.require(free // 2)
    with pytest.raises(SpoolError, match=r"temporary files need about [0-9,.]+ MB here, and only ") as failed:
        spools.require(2 * free)
    assert (failed.value.errno, failed.value.filename) == (errno.ENOSPC, str(tmp_path))


def test_a_failed_write_names_the_folder(tmp_path: Path) -> None:
    spool = Spools(tmp_path, KIBIBYTE).new()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as failed:
            spool.append(b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failed.value.filename == str(tmp_path)
