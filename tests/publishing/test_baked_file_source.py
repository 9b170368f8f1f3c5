"""A baked file as a source: copied completely, or not at all."""

import asyncio
import os
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from service.background import silent
from service.baking import baked_file, layout as file_copy
from service.baking.baked_file import load_baked, read_baked
from service.baking.tables import MappedTable
from service.dataset import Dataset, Rejected, Safeguards
from service.files import Signature
from service.publishing.local_source import BakedFileSource, VerifiedFiles
from service.publishing.source import Check, Fetched, Unavailable
from service.reading.formats.file_format import FORMATS
from tests.program import SECONDS
from tests.run.generations import Generation, flip, put

CHECK = Safeguards().check
IN_PLACE = "in place"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Generation(1).bake(tmp_path).replace(tmp_path / "set.baked")


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "fetched.baked"


def fetch(file: Path, to: Path, known: str = "", check: Check = CHECK, *, how: str = "copied") -> Fetched | None:
    source = BakedFileSource(file, to.parent / "verified", in_place=how == IN_PLACE)
    return asyncio.run(asyncio.wait_for(source.fetch(to, known=known, check=check, progress=silent), SECONDS))


def rejected(file: Path, to: Path, *, how: str = "copied") -> Rejected:
    with pytest.raises(Rejected) as caught:
        fetch(file, to, how=how)
    assert str(caught.value).startswith(f"{file}: ")
    return caught.value


def test_an_unchanged_file_is_not_fetched_and_a_replaced_one_is_and_the_copy_survives_writes_into_the_file(
    file: Path, to: Path
) -> None:
    stored, first = file.read_bytes(), fetch(file, to)
    assert first is not None
    assert to.read_bytes() == stored
    file.write_bytes(b"x" * len(stored))
    load_baked(to)
    to.unlink()
    put(stored, file)
    second = fetch(file, to, first.fingerprint)
    assert second is not None
    assert second.fingerprint != first.fingerprint
    to.unlink()
    assert fetch(file, to, second.fingerprint) is None
    assert not to.exists()


def test_damaged_files_are_rejected_with_different_fingerprints(file: Path, to: Path) -> None:
    valid = file.read_bytes()
    put(valid[:-1], file)
    one = rejected(file, to)
    assert str(one).endswith("; bake it again")
    assert one.rejection.hint == ""
    put(valid[:-2], file)
    assert rejected(file, to).rejection.fingerprint != one.rejection.fingerprint
    put(valid, file)
    assert fetch(file, to) is not None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *(
            ("stores", each)
            for each in (b"store_id,company_id\n", b'[{"store_id": "s1"}]', b"PK\x03\x04\x14\x00\x06\x00", b"")
        ),
        ("stores.xls", b"\xd0\xcf"),
    ],
)
def test_another_file_is_rejected_with_what_is_accepted(tmp_path: Path, to: Path, name: str, content: bytes) -> None:
    other = tmp_path / name
    other.write_bytes(content)
    accepted = (
        f"--data takes a folder with stores and companies, a file of stores ({', '.join(FORMATS)}) or a zip archive, "
        "a baked file or the URL of one"
    )
    hint = "save it as an Excel workbook (.xlsx)" if other.suffix else accepted
    assert str(rejected(other, to)) == f"{other}: the file is not a baked data set; {hint}"


def test_a_missing_file_a_folder_a_pipe_and_a_circular_link_are_rejected(file: Path, to: Path) -> None:
    file.unlink()
    assert "No such file" in str(rejected(file, to))
    file.mkdir()
    assert "Is a directory" in str(rejected(file, to))
    file.rmdir()
    os.mkfifo(file)
    assert "it is not a regular file" in str(rejected(file, to))
    file.unlink()
    file.symlink_to(file)
    assert "cannot be read" in str(rejected(file, to))


def test_a_file_that_cannot_be_copied_is_unavailable(file: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="it cannot be copied: No such file"):
        fetch(file, tmp_path / "nowhere" / "fetched.baked")


def test_a_failed_check_of_the_counts_is_a_rejection(file: Path, to: Path) -> None:
    stores = Generation(1).stores
    with pytest.raises(Rejected, match=f"^{stores} stores, at least {stores + 1} needed; ") as caught:
        fetch(file, to, check=Safeguards(min_stores=stores + 1).check)
    fetched = fetch(file, to, check=Safeguards(min_stores=stores).check)
    assert fetched is not None
    assert (fetched.summary.totals.stores, fetched.fingerprint) == (stores, caught.value.rejection.fingerprint)


@pytest.mark.parametrize("more", [1, 1 << 30])
def test_a_file_longer_than_its_header_says_is_rejected_before_it_is_copied(file: Path, to: Path, more: int) -> None:
    os.truncate(file, file.stat().st_size + more)  # a hole, which needs no disk space until it is copied
    assert f"{more:,} bytes after the last array" in str(rejected(file, to))
    assert not to.exists()


def damage(file: Path) -> None:
    """Change a byte in place, and set back the time of modification."""
    status = file.stat()
    flip(file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def list_as_verified(file: Path, to: Path) -> None:
    signature = Signature.of(file.stat())
    with file.open("rb") as opened:
        VerifiedFiles(to.parent / "verified").add(opened, signature, signature.changed_ns + 10**10)


def clone(source: BinaryIO, to: BinaryIO) -> bool:
    """Do what a file system does that shares blocks."""
    to.write(Path(source.name).read_bytes())
    to.flush()
    return True


@pytest.fixture(params=[IN_PLACE, "copied", "cloned"])
def how(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "cloned":
        monkeypatch.setattr(file_copy, "clone_file", clone)
    return str(request.param)


def test_what_was_verified_is_not_read_again(file: Path, to: Path, how: str) -> None:
    """A damaged file that is listed as verified is accepted: nothing has looked at it."""
    damage(file)
    assert "damaged" in str(rejected(file, to, how=how))
    list_as_verified(file, to)
    assert fetch(file, to, how=how) is not None


def test_a_fetched_file_is_known_at_the_next_start(
    file: Path, to: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fetch(file, to, how=how)
    monkeypatch.delattr(MappedTable, "check")  # nothing may call it
    second = fetch(file, to, how=how)
    assert first is not None
    assert second is not None
    assert first.summary == second.summary


def test_without_a_folder_for_signatures_each_fetch_verifies(file: Path, to: Path, how: str) -> None:
    (to.parent / "verified").write_text("no folder")
    assert [fetch(file, to, how=how) is not None for _ in range(2)] == [True, True]


def test_a_known_file_that_is_changed_in_place_is_verified_again(file: Path, to: Path, how: str) -> None:
    assert fetch(file, to, how=how) is not None
    damage(file)
    assert "damaged" in str(rejected(file, to, how=how))


def test_a_file_in_place_is_not_copied_and_is_named_without_links(file: Path, to: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.baked"
    link.symlink_to(file.name)
    fetched = fetch(link, to, how=IN_PLACE)
    assert fetched is not None
    assert (fetched.file, fetched.signature) == (str(file), Signature.of(file.stat()))
    assert not to.exists()


def test_a_file_that_changes_while_it_is_verified_is_not_listed(
    file: Path, to: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def touch_and_read(path: Path, **options: Any) -> Dataset:
        if not touched:
            file.touch()
            touched.append(path)
        return read_baked(path, **options)

    touched: list[Path] = []
    monkeypatch.setattr(baked_file, "read_baked", touch_and_read)
    fetched = fetch(file, to, how=how)  # if in place again, once it does not change
    assert fetched is not None
    assert len(list((to.parent / "verified").glob("*"))) == (how == IN_PLACE)
    if how == IN_PLACE:
        assert (fetched.file, fetched.signature) == (str(file), Signature.of(file.stat()))


def test_a_known_file_that_changes_while_it_is_copied_is_copied_again(
    file: Path, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damage_and_read(path: Path, **options: Any) -> Dataset:
        if not damaged:
            damage(file)
            damaged.append(path)
        return read_baked(path, **options)

    damaged: list[Path] = []
    assert fetch(file, to) is not None
    monkeypatch.setattr(baked_file, "read_baked", damage_and_read)
    assert "damaged" in str(rejected(file, to))
