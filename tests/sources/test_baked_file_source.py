"""A baked file as a source: copied whole, or not at all."""

import asyncio
import os
from pathlib import Path

import pytest

from service.baking.baked_file import load_baked
from service.loading.acceptance import Cause, Safeguards
from service.progress import silent
from service.sources.baked_file_source import BakedFileSource
from service.sources.source import Check, Fetched, Rejected, Unavailable
from tests.program import SECONDS
from tests.run.generations import Generation, put

CHECK = Safeguards().check


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Generation(1).bake(tmp_path).replace(tmp_path / "set.baked")


@pytest.fixture
def to(tmp_path: Path) -> Path:
    return tmp_path / "taken.baked"


def take(file: Path, to: Path, seen: str = "", check: Check = CHECK) -> Fetched | None:
    return asyncio.run(
        asyncio.wait_for(BakedFileSource(file).fetch(to, known=seen, check=check, progress=silent), SECONDS)
    )


def rejected(file: Path, to: Path) -> Rejected:
    with pytest.raises(Rejected) as caught:
        take(file, to)
    assert str(caught.value).startswith(f"{file}: ")
    return caught.value


def test_what_is_taken_is_a_copy_that_nobody_who_writes_into_the_file_can_harm(file: Path, to: Path) -> None:
    stored = file.read_bytes()
    assert take(file, to) is not None
    assert to.read_bytes() == stored
    file.write_bytes(b"x" * len(stored))
    assert load_baked(to).dataset is not None


def test_a_file_that_is_as_it_was_seen_is_not_taken_and_one_that_was_replaced_is(file: Path, to: Path) -> None:
    first = take(file, to)
    assert first is not None
    to.unlink()
    assert take(file, to, first.fingerprint) is None
    assert not to.exists()
    put(file.read_bytes(), file)
    second = take(file, to, first.fingerprint)
    assert second is not None
    assert second.fingerprint != first.fingerprint


def test_a_damaged_file_is_rejected_and_told_apart_from_the_next_one(file: Path, to: Path) -> None:
    sound = file.read_bytes()
    put(sound[:-1], file)
    one = rejected(file, to)
    assert str(one).endswith("; bake it again")
    assert one.cause is Cause.FILE
    put(sound[:-2], file)
    assert (rejected(file, to)).fingerprint != one.fingerprint
    put(sound, file)
    assert take(file, to) is not None


@pytest.mark.parametrize(
    "content", [b"store_id,company_id\n", b'[{"store_id": "s1"}]', b"PK\x03\x04\x14\x00\x06\x00", b""]
)
def test_a_file_of_records_is_rejected_with_the_folder_to_give(tmp_path: Path, to: Path, content: bytes) -> None:
    stores = tmp_path / "my data" / "stores.csv"
    stores.parent.mkdir()
    stores.write_bytes(content)
    assert str(rejected(stores, to)) == (
        f"{stores}: the file is no baked data set; --data takes a folder that holds stores and companies, "
        f"a baked file, or the URL of one: give its folder, `--data '{stores.parent}'`"
    )


def test_a_file_that_is_gone_a_folder_a_pipe_or_a_link_to_itself_is_rejected(file: Path, to: Path) -> None:
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


def test_where_it_cannot_be_copied_it_is_unavailable(file: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="it cannot be copied: No such file"):
        take(file, tmp_path / "nowhere" / "taken.baked")


def test_counts_that_are_not_to_be_served_are_rejected(file: Path, to: Path) -> None:
    stores = Generation(1).stores
    with pytest.raises(Rejected, match=f"^{stores} stores, at least {stores + 1} needed; ") as caught:
        take(file, to, check=Safeguards(min_stores=stores + 1).check)
    taken = take(file, to, check=Safeguards(min_stores=stores).check)
    assert taken is not None
    assert (taken.summary.totals.stores, taken.fingerprint) == (stores, caught.value.fingerprint)


@pytest.mark.parametrize("more", [1, 1 << 40])
def test_a_file_that_is_longer_than_its_header_says_is_rejected_before_it_is_copied(
    file: Path, to: Path, more: int
) -> None:
    os.truncate(file, file.stat().st_size + more)  # a hole, which takes no room until it is copied
    assert f"{more:,} bytes stand behind the last array" in str(rejected(file, to))
    assert not to.exists()
