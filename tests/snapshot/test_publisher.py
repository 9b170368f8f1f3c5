"""What a source holds is published, and what it cannot give is told."""

import errno
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from service.snapshot.publication import Publication
from service.snapshot.run_folders import workspace
from service.snapshot.workspace import Workspace
from service.sources.source import Rejected, Unavailable
from tests.snapshot.scripted import Published, Script, taken

GONE = Unavailable("it is out of reach")
EARLIER = datetime(2024, 5, 31, tzinfo=UTC)
FAULTY = Rejected("stores.csv:2: city: it is missing", fingerprint="faulty")


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Workspace]:
    with workspace(tmp_path) as made:
        yield made


def content(work: Workspace, publication: Publication) -> bytes:
    return work.file(publication).read_bytes()


async def test_what_the_source_holds_is_published_and_what_came_before_is_removed(work: Workspace) -> None:
    async with Published(Script(taken("one"), taken("two")), work).running() as published:
        one, two = await published.until(2)
    assert [(each.generation, each.fingerprint, each.known) for each in (one, two)] == [
        (1, "one", "one"),
        (2, "two", "two"),
    ]
    assert two.last_reload is not None
    assert two.last_reload.ok
    assert (two.loaded_at is not None, content(work, two)) == (two.confirmed_at is not None, b"whole")
    assert len(list(work.folder.glob("*.baked"))) == 1
    assert one.file != two.file


async def test_a_source_that_did_not_change_confirms_what_is_served(work: Workspace) -> None:
    script = Script(taken("one"))
    async with Published(script, work).running() as published:
        one, again, once_more = await published.until(3)
    assert script.known[:3] == ["", "one", "one"]
    for earlier, later in pairwise((one, again, once_more)):
        assert earlier.confirmed_at is not None
        assert later.confirmed_at is not None
        assert earlier.confirmed_at < later.confirmed_at
        assert (later.generation, later.loaded_at, later.last_reload) == (1, one.loaded_at, one.last_reload)


@pytest.mark.parametrize("failure", [FAULTY, RuntimeError("a bug")])
async def test_where_nothing_is_served_yet_what_is_refused_or_fails_unexpectedly_ends_it(
    work: Workspace, failure: Exception
) -> None:
    with pytest.raises(Rejected, match=str(failure)):
        await Published(Script(failure), work).publisher.run()


async def test_where_nothing_is_served_yet_a_source_out_of_reach_is_waited_for(work: Workspace) -> None:
    async with Published(Script(GONE, taken("one")), work).running() as published:
        failed, one = await published.until(2)
    assert (failed.generation, failed.file) == (0, "")
    assert failed.last_reload is not None
    assert failed.last_reload.error == str(GONE)
    assert one.generation == 1


@pytest.mark.parametrize("failure", [GONE, FAULTY, OSError("a disk"), RuntimeError("a bug")])
async def test_whatever_fails_leaves_what_is_served_and_is_told(work: Workspace, failure: Exception) -> None:
    async with Published(Script(taken("one"), failure, taken("two")), work).running() as published:
        one, failed, two = await published.until(3)
    assert failed.last_reload is not None
    assert (failed.last_reload.ok, failed.last_reload.error) == (False, str(failure))
    assert (failed.generation, failed.file, failed.confirmed_at) == (1, one.file, one.confirmed_at)
    assert two.generation == 2
    assert two.last_reload is not None
    assert two.last_reload.ok


async def test_a_refused_folder_is_logged_with_how_to_see_every_error(
    work: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(taken("one"), FAULTY)
    script.name = str(tmp_path)
    async with Published(script, work).running() as published:
        _, failed = await published.until(2)
    assert failed.last_reload is not None
    assert failed.last_reload.error == str(FAULTY)
    line = f"{FAULTY}; the previous data is still served; `store-directory check {tmp_path}` reports every error"
    assert [record.getMessage() for record in caplog.records] == [line]


async def test_what_is_left_of_a_failed_attempt_is_removed_before_it_is_told(work: Workspace) -> None:
    async with Published(Script(taken("one"), GONE), work).running() as published:
        one, _ = await published.until(2)
        assert [file.name for file in work.folder.glob("*.baked")] == [one.file]


async def test_what_was_refused_is_not_taken_for_confirmed_and_is_not_asked_for_again(work: Workspace) -> None:
    script = Script(taken("one"), FAULTY)
    async with Published(script, work).running() as published:
        *_, later = await published.until(5)
    assert script.known[:5] == ["", "one", "faulty", "faulty", "faulty"]
    assert later.last_reload is not None
    assert not later.last_reload.ok
    assert later.confirmed_at is not None
    assert later.loaded_at is not None
    assert later.confirmed_at <= later.loaded_at  # it was asked before it was loaded, and not confirmed since


async def test_a_source_that_is_within_reach_again_and_unchanged_is_in_order(work: Workspace) -> None:
    async with Published(Script(taken("one"), GONE), work).running() as published:
        *_, later = await published.until(3)
    assert later.last_reload is not None
    assert later.last_reload.ok
    assert later.generation == 1


async def test_a_source_out_of_reach_is_asked_again_after_growing_pauses(work: Workspace) -> None:
    script = Script(taken("one"), GONE, GONE)
    async with Published(script, work).running() as published:
        await published.until(4)
    first, second = (later - earlier for earlier, later in pairwise(script.at[1:4]))
    assert first >= 0.25
    assert second >= 0.5


async def test_who_asks_for_it_has_the_source_taken_at_once_changed_or_not(work: Workspace) -> None:
    script = Script(taken("one"), taken("one"))
    async with Published(script, work, poll_seconds=600).running() as published:
        await published.until(1)
        published.publisher.reload()
        *_, again = await published.until(2)
    assert script.known == ["", ""]
    assert (again.generation, again.fingerprint) == (2, "one")


async def test_who_asks_for_it_while_a_source_is_out_of_reach_does_not_wait(work: Workspace) -> None:
    script = Script(taken("one"), *(GONE,) * 5, taken("two"))
    async with Published(script, work).running() as published:
        for count in range(2, 7):
            await published.until(count)
            published.publisher.reload()
        *_, two = await published.until(7)
    assert two.generation == 2
    assert script.at[-1] - script.at[0] < 0.25 * (2**5 - 1)  # the least that the growing pauses take


async def test_a_failure_that_stays_is_logged_once_and_again_after_it_was_mended(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(taken("one"), GONE, GONE, FAULTY, taken("two"), FAULTY)
    with caplog.at_level(logging.WARNING):
        async with Published(script, work).running() as published:
            await published.until(8)
    assert caplog.messages == [f"{failure}; the previous data is still served" for failure in (GONE, FAULTY, FAULTY)]


async def test_what_there_is_to_tell_of_the_data_is_logged(work: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    async with Published(Script(taken("one", "left out 3 records at fault")), work).running() as published:
        await published.until(1)
        await published.until(2)
    assert "left out 3 records at fault" in caplog.messages


class FullDisk(Workspace):
    """A workspace on a disk that is full from a certain publication on."""

    def publish(self, publication: Publication) -> None:
        """Publish, while there is room."""
        if publication.generation:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().publish(publication)


async def test_a_failure_for_which_there_is_no_room_is_told_to_this_process_and_logged_once(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    async with Published(Script(taken("one")), work).running() as published:
        await published.until(1)
    script = Script(GONE, GONE)
    async with Published(script, FullDisk(work.folder)).running() as published:
        first, second = await published.until(2)
    for told in (first, second):
        assert told.last_reload is not None
        assert (told.generation, told.last_reload.error) == (1, str(GONE))
    assert caplog.messages.count(f"{GONE}; the previous data is still served") == 1
    assert work.publication().generation == 1


async def test_who_takes_over_goes_on_from_what_is_published(work: Workspace) -> None:
    async with Published(Script(taken("one")), work).running() as published:
        await published.until(1)
    (work.folder / "left.baked").write_bytes(b"half")
    script = Script(None, taken("two"))
    async with Published(script, work).running() as published:
        confirmed, two = await published.until(2)
    assert script.known[:2] == ["one", "one"]
    assert (confirmed.generation, two.generation) == (1, 2)
    assert [file.name for file in work.folder.glob("*.baked")] == [two.file]


def refused(publication: Publication) -> str:
    """Return why the last attempt failed."""
    assert publication.last_reload is not None
    assert not publication.last_reload.ok
    return publication.last_reload.error or ""


async def test_a_reload_that_loses_too_much_leaves_what_is_served_and_is_told_and_logged_once(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(taken("one", stores=5_000), taken("two", stores=312))
    async with Published(script, work).running() as published:
        one, failed, later = await published.until(3)
    why = "312 of 5,000 stores left, 93.8 % fewer than served now; --max-shrink 0.94 allows that"
    assert refused(failed) == refused(later) == why
    assert (failed.generation, failed.file, failed.summary) == (1, one.file, one.summary)
    assert caplog.messages.count(f"{why}; the previous data is still served") == 1
    assert script.known[:3] == ["", "one", "two"]


async def test_each_reload_is_compared_with_what_is_served_not_with_what_was_served_first(work: Workspace) -> None:
    script = Script(*(taken(str(stores), stores=stores) for stores in (100, 60, 31, 15)))
    async with Published(script, work).running() as published:
        *_, third, failed = await published.until(4)
    assert third.generation == 3
    assert refused(failed).startswith("15 of 31 stores left, 51.6 % fewer")


async def test_a_reload_that_is_asked_for_is_refused_like_any_other(work: Workspace) -> None:
    few = taken("two", stores=1)
    async with Published(Script(taken("one", stores=9), few, few), work, poll_seconds=600).running() as published:
        for count in (1, 2):
            await published.until(count)
            published.publisher.reload()
        *_, failed = await published.until(3)
    assert refused(failed).startswith("1 of 9 stores left")


async def test_who_takes_over_compares_with_what_is_published(work: Workspace) -> None:
    async with Published(Script(taken("one", stores=100)), work).running() as published:
        await published.until(1)
    async with Published(Script(taken("two", stores=10)), work).running() as published:
        (failed,) = await published.until(1)
    assert refused(failed).startswith("10 of 100 stores left")


async def test_a_copy_of_the_run_before_is_not_compared_with_so_that_a_start_accepts_what_shrank(
    work: Workspace,
) -> None:
    script = Script(taken("one", stores=100, confirmed_at=EARLIER), taken("two", stores=10), taken("three", stores=1))
    async with Published(script, work).running() as published:
        _, two, failed = await published.until(3)
    assert (two.generation, two.fingerprint) == (2, "two")
    assert refused(failed).startswith("1 of 10 stores left")


async def test_a_copy_that_the_source_confirmed_is_compared_with(work: Workspace) -> None:
    script = Script(taken("one", stores=100, confirmed_at=EARLIER), None, taken("two", stores=10))
    async with Published(script, work).running() as published:
        *_, failed = await published.until(3)
    assert refused(failed).startswith("10 of 100 stores left")


async def test_a_copy_that_is_taken_amid_a_run_does_not_end_the_comparison(work: Workspace) -> None:
    async with Published(Script(taken("one", stores=100)), work).running() as published:
        await published.until(1)
    (work.file(work.publication())).unlink()  # so that the next one takes the copy
    script = Script(taken("one", stores=100, confirmed_at=EARLIER), taken("two", stores=10))
    async with Published(script, work).running() as published:
        again, failed = await published.until(2)
    assert again.generation == 2
    assert refused(failed).startswith("10 of 100 stores left")
