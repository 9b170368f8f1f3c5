"""The folder of a run: created, shared, and removed with it or by the next run."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import time

import pytest

from service.dataset import Rejected
from service.publishing.workspace import Publication, workspace
from tests.program import SECONDS, eventually, exit_code, forked


@contextmanager
def another_run(cache: Path) -> Iterator[tuple[int, Path]]:
    """Run another process with a workspace, and yield it and its folder."""
    reading, writing = os.pipe()

    def lead() -> None:
        with workspace(cache) as work:
            work.lead()
            os.write(writing, bytes(work.folder))
            signal.pause()

    with forked(lead) as child:
        yield child, Path(os.fsdecode(os.read(reading, 4096)))
    os.close(reading)
    os.close(writing)


def test_a_run_has_a_private_folder_with_its_publication_and_removes_it(tmp_path: Path) -> None:
    publication = Publication(generation=7, file="a.baked", fingerprint="f", known="s", loaded_at=datetime.now(UTC))
    with workspace(tmp_path / "cache") as work:
        assert {each.stat().st_mode & 0o777 for each in (work.folder, work.folder.parent)} == {0o700}
        assert work.publication() == Publication()
        work.publish(publication)
        assert work.publication() == publication
        assert list((tmp_path / "cache").iterdir()) == [work.folder]
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.process
def test_runs_in_one_cache_do_not_disturb_each_other_and_each_has_one_leader(tmp_path: Path) -> None:
    with workspace(tmp_path) as one, workspace(tmp_path) as other:
        assert all(work.lead() for work in (one, other, one))
        with forked(lambda: os._exit(not type(one)(one.folder).lead())) as child:
            assert exit_code(child) == 1
        one.publish(Publication(generation=1))
        assert other.publication() == Publication()
        with another_run(tmp_path) as (_, folder):
            assert {one.folder, other.folder, folder} == set(tmp_path.iterdir())
            assert one.publication().generation == 1


@pytest.mark.process
def test_a_run_removes_the_folders_of_killed_runs_but_not_of_living_ones(tmp_path: Path) -> None:
    with another_run(tmp_path) as (killed, left), another_run(tmp_path) as (_, living):
        os.kill(killed, signal.SIGKILL)
        assert exit_code(killed) == -signal.SIGKILL
        assert left.is_dir()
        with workspace(tmp_path) as work:
            assert set(tmp_path.iterdir()) == {living, work.folder}


def test_a_new_folder_without_its_final_name_is_removed_only_when_it_is_old_and_other_entries_stay(
    tmp_path: Path,
) -> None:
    kept = {"new-aaaaaaaa", "kept", "run-2024", "run-of-mine", "new-", "kept.baked"}
    for name in (*kept, "new-bbbbbbbb"):
        (tmp_path / name).mkdir()
    os.utime(tmp_path / "new-bbbbbbbb", (time() - 3600,) * 2)
    with workspace(tmp_path):
        pass
    assert {each.name for each in tmp_path.iterdir()} == kept


@pytest.mark.process
def test_runs_that_start_concurrently_have_a_folder_each(tmp_path: Path) -> None:
    barrier = multiprocessing.get_context("fork").Barrier(4)

    def start() -> None:
        barrier.wait(SECONDS)
        with workspace(tmp_path):
            signal.pause()

    with ExitStack() as runs:
        for _ in range(4):
            runs.enter_context(forked(start))
        eventually(lambda: len(list(tmp_path.glob("run-*"))) == 4)
        assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.process
def test_a_run_is_complete_once_all_workers_have_data_at_the_same_time_and_remains_so(tmp_path: Path) -> None:
    with workspace(tmp_path) as work:
        work.slots.claim().set_generation(1)
        with forked(lambda: work.slots.claim().set_generation(1)) as ended:
            assert exit_code(ended) == 0
        assert not work.is_complete(2)
        another = work.slots.claim()
        assert not work.is_complete(2)
        another.set_generation(1)
        assert work.is_complete(2)
        another.set_generation(0)
        assert work.is_complete(2)
        assert type(work)(work.folder).is_complete(2)


def test_tidying_removes_all_data_and_downloads_except_the_published_file(tmp_path: Path) -> None:
    with workspace(tmp_path) as work:
        publication = Publication(generation=2, file=work.new_file().name)
        for name in (publication.file, work.new_file().name, f".{publication.file}.0.part"):
            (work.folder / name).touch()
        (work.folder / "x.download").mkdir()
        (work.folder / "x.download" / "stores.csv").touch()
        work.publish(publication)
        work.tidy(publication)
        assert {each.name for each in work.folder.iterdir()} == {publication.file, "publication.json"}


def test_the_reason_for_nothing_to_serve_is_recorded_for_the_parent(tmp_path: Path) -> None:
    with workspace(tmp_path) as work:
        assert work.read_rejection() is None
        written = Rejected("\udcff: a fault", hint="what helps", fingerprint="f")
        work.write_rejection(written)
        read = work.read_rejection()
        assert read is not None
        assert (str(read), read.rejection) == ("\\udcff: a fault", written.rejection)


def test_a_folder_that_cannot_be_created_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"), workspace(tmp_path / "file" / "cache"):
        pass
