"""New data of a source is published, and failed attempts are reported."""

import errno
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from service.dataset import Rejected
from service.publishing import publisher
from service.publishing.source import Unavailable
from service.publishing.workspace import Publication, Workspace, workspace
from tests.publishing.scripted import Published, Script, fetched

pytestmark = pytest.mark.slow

GONE = Unavailable("it is out of reach")
EARLIER = datetime(2024, 5, 31, tzinfo=UTC)
FAULTY = Rejected("stores.csv:2: city: it is missing", fingerprint="faulty")


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Workspace]:
    with workspace(tmp_path) as made:
        yield made


def content(work: Workspace, publication: Publication) -> bytes:
    return work.file(publication).read_bytes()


async def test_new_data_is_published_and_the_previous_file_removed(work: Workspace) -> None:
    async with Published(Script(fetched("one"), fetched("two")), work).running() as published:
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


async def test_an_unchanged_source_confirms_the_served_data(work: Workspace) -> None:
    script = Script(fetched("one"))
    async with Published(script, work).running() as published:
        one, again, once_more = await published.until(3)
    assert script.known[:3] == ["", "one", "one"]
    for earlier, later in pairwise((one, again, once_more)):
        assert earlier.confirmed_at is not None
        assert later.confirmed_at is not None
        assert earlier.confirmed_at < later.confirmed_at
        assert (later.generation, later.loaded_at, later.last_reload) == (1, one.loaded_at, one.last_reload)


@pytest.mark.parametrize("failure", [FAULTY, RuntimeError("a bug")])
async def test_a_first_fetch_that_is_rejected_or_fails_unexpectedly_ends_the_publisher(
    work: Workspace, failure: Exception
) -> None:
    with pytest.raises(Rejected, match=str(failure)):
        await Published(Script(failure), work).publisher.run()


async def test_a_first_fetch_from_an_unavailable_source_is_retried(work: Workspace) -> None:
    async with Published(Script(GONE, fetched("one")), work).running() as published:
        failed, one = await published.until(2)
    assert (failed.generation, failed.file) == (0, "")
    assert failed.last_reload is not None
    assert failed.last_reload.error == str(GONE)
    assert one.generation == 1


@pytest.mark.parametrize("failure", [GONE, FAULTY, OSError("a disk"), RuntimeError("a bug")])
async def test_a_failed_attempt_keeps_the_served_data_and_is_published(work: Workspace, failure: Exception) -> None:
    async with Published(Script(fetched("one"), failure, fetched("two")), work).running() as published:
        one, failed, two = await published.until(3)
    assert failed.last_reload is not None
    assert (failed.last_reload.ok, failed.last_reload.error) == (False, str(failure))
    assert (failed.generation, failed.file, failed.confirmed_at) == (1, one.file, one.confirmed_at)
    assert two.generation == 2
    assert two.last_reload is not None
    assert two.last_reload.ok


async def test_a_rejection_is_logged_with_its_hint(work: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    rejected = Rejected(str(FAULTY), hint="`check` reports every error", fingerprint="faulty")
    async with Published(Script(fetched("one"), rejected), work).running() as published:
        _, failed = await published.until(2)
    assert failed.last_reload is not None
    assert failed.last_reload.error == str(FAULTY)
    assert caplog.messages == [f"{FAULTY}; the previous data is still served; `check` reports every error"]


async def test_files_of_a_failed_attempt_are_removed_before_it_is_published(work: Workspace) -> None:
    async with Published(Script(fetched("one"), GONE), work).running() as published:
        one, _ = await published.until(2)
        assert [file.name for file in work.folder.glob("*.baked")] == [one.file]


async def test_refused_data_is_neither_confirmed_nor_fetched_again(work: Workspace) -> None:
    script = Script(fetched("one"), FAULTY)
    async with Published(script, work).running() as published:
        *_, later = await published.until(5)
    assert script.known[:5] == ["", "one", "faulty", "faulty", "faulty"]
    assert later.last_reload is not None
    assert not later.last_reload.ok
    assert later.confirmed_at is not None
    assert later.loaded_at is not None
    assert later.confirmed_at <= later.loaded_at  # asked before loading, and not confirmed since


async def test_an_unchanged_source_that_is_available_again_is_a_success(work: Workspace) -> None:
    async with Published(Script(fetched("one"), GONE), work).running() as published:
        *_, later = await published.until(3)
    assert later.last_reload is not None
    assert later.last_reload.ok
    assert later.generation == 1


async def test_an_unavailable_source_is_retried_with_backoff(work: Workspace) -> None:
    script = Script(fetched("one"), GONE, GONE)
    async with Published(script, work).running() as published:
        await published.until(4)
    first, second = (later - earlier for earlier, later in pairwise(script.at[1:4]))
    assert first >= 0.25
    assert second >= 0.5


@pytest.mark.parametrize("wrapped", [False, True])
async def test_after_a_full_disk_the_pauses_are_ten_times_as_long(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, *, wrapped: bool
) -> None:
    monkeypatch.setattr(publisher, "_FIRST_RETRY_SECONDS", 0.02)
    full: Exception = OSError(errno.ENOSPC, "No space left on device")
    if wrapped:
        full, full.__cause__ = Unavailable("https://origin.example: No space left on device"), full
    script = Script(fetched("one"), full, full)
    async with Published(script, work).running() as published:
        await published.until(4)
    first, second = (later - earlier for earlier, later in pairwise(script.at[1:4]))
    assert first >= 0.1
    assert second >= 0.2


async def test_a_requested_reload_fetches_the_source_at_once_changed_or_not(work: Workspace) -> None:
    script = Script(fetched("one"), fetched("one"))
    async with Published(script, work, poll_seconds=600).running() as published:
        await published.until(1)
        published.publisher.reload()
        *_, again = await published.until(2)
    assert script.known == ["", ""]
    assert (again.generation, again.fingerprint) == (2, "one")


async def test_a_requested_reload_of_an_unavailable_source_skips_the_backoff(work: Workspace) -> None:
    script = Script(fetched("one"), *(GONE,) * 5, fetched("two"))
    async with Published(script, work).running() as published:
        for count in range(2, 7):
            await published.until(count)
            published.publisher.reload()
        *_, two = await published.until(7)
    assert two.generation == 2
    assert script.at[-1] - script.at[0] < 0.25 * (2**5 - 1)  # the least time of the backoff


async def test_a_persistent_failure_is_logged_once_and_again_after_a_success(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(fetched("one"), GONE, GONE, FAULTY, fetched("two"), FAULTY)
    with caplog.at_level(logging.WARNING):
        async with Published(script, work).running() as published:
            await published.until(8)
    assert caplog.messages == [f"{failure}; the previous data is still served" for failure in (GONE, FAULTY, FAULTY)]


async def test_notes_on_the_data_are_logged(work: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    async with Published(Script(fetched("one", "skipped 3 invalid records")), work).running() as published:
        await published.until(1)
        await published.until(2)
    assert "skipped 3 invalid records" in caplog.messages


async def test_what_was_assumed_about_the_data_is_logged_and_no_warning(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    data = msgspec.structs.replace(fetched("one"), assumed=("stores.csv: semicolons",))
    with caplog.at_level(logging.INFO):
        async with Published(Script(data), work).running() as published:
            await published.until(1)
            await published.until(2)
    assert [record.levelname for record in caplog.records if "semicolons" in record.message] == ["INFO"]


class FullDisk(Workspace):
    """A workspace whose disk is full once there is data."""

    def publish(self, publication: Publication) -> None:
        """Fail once there is data."""
        if publication.generation:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().publish(publication)


async def test_a_failure_that_cannot_be_written_is_reported_to_this_process_and_logged_once(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    async with Published(Script(fetched("one")), work).running() as published:
        await published.until(1)
    script = Script(GONE, GONE)
    async with Published(script, FullDisk(work.folder)).running() as published:
        first, second = await published.until(2)
    for each in (first, second):
        assert each.last_reload is not None
        assert (each.generation, each.last_reload.error) == (1, str(GONE))
    assert caplog.messages.count(f"{GONE}; the previous data is still served") == 1
    assert work.publication().generation == 1


async def test_a_new_leader_continues_from_the_publication(work: Workspace) -> None:
    async with Published(Script(fetched("one")), work).running() as published:
        await published.until(1)
    (work.folder / "left.baked").write_bytes(b"half")
    script = Script(None, fetched("two"))
    async with Published(script, work).running() as published:
        confirmed, two = await published.until(2)
    assert script.known[:2] == ["one", "one"]
    assert (confirmed.generation, two.generation) == (1, 2)
    assert [file.name for file in work.folder.glob("*.baked")] == [two.file]


def refusal(publication: Publication) -> str:
    """Return why the last attempt failed."""
    assert publication.last_reload is not None
    assert not publication.last_reload.ok
    return publication.last_reload.error or ""


async def test_a_reload_that_shrinks_too_much_keeps_the_served_data_and_is_logged_once(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(fetched("one", stores=5_000), fetched("two", stores=312))
    async with Published(script, work).running() as published:
        one, failed, later = await published.until(3)
    why = "312 of 5,000 stores left, 93.8 % fewer than served now; --max-shrink 0.94 allows that"
    assert refusal(failed) == refusal(later) == why
    assert (failed.generation, failed.file, failed.summary) == (1, one.file, one.summary)
    assert caplog.messages.count(f"{why}; the previous data is still served") == 1
    assert script.known[:3] == ["", "one", "two"]


async def test_each_reload_is_compared_with_the_served_data_not_with_the_first(work: Workspace) -> None:
    script = Script(*(fetched(str(stores), stores=stores) for stores in (100, 60, 31, 15)))
    async with Published(script, work).running() as published:
        *_, third, failed = await published.until(4)
    assert third.generation == 3
    assert refusal(failed).startswith("15 of 31 stores left, 51.6 % fewer")


async def test_a_new_leader_compares_with_the_publication(work: Workspace) -> None:
    async with Published(Script(fetched("one", stores=100)), work).running() as published:
        await published.until(1)
    async with Published(Script(fetched("two", stores=10)), work).running() as published:
        (failed,) = await published.until(1)
    assert refusal(failed).startswith("10 of 100 stores left")


async def test_a_reload_is_not_compared_with_the_last_good_copy_of_an_earlier_run(work: Workspace) -> None:
    script = Script(
        fetched("one", stores=100, confirmed_at=EARLIER), fetched("two", stores=10), fetched("three", stores=1)
    )
    async with Published(script, work).running() as published:
        _, two, failed = await published.until(3)
    assert (two.generation, two.fingerprint) == (2, "two")
    assert refusal(failed).startswith("1 of 10 stores left")


async def test_a_reload_is_compared_with_a_copy_that_the_source_has_confirmed(work: Workspace) -> None:
    script = Script(fetched("one", stores=100, confirmed_at=EARLIER), None, fetched("two", stores=10))
    async with Published(script, work).running() as published:
        *_, failed = await published.until(3)
    assert refusal(failed).startswith("10 of 100 stores left")


async def test_a_copy_fetched_during_a_run_does_not_end_the_comparison(work: Workspace) -> None:
    async with Published(Script(fetched("one", stores=100)), work).running() as published:
        await published.until(1)
    (work.file(work.publication())).unlink()  # so that the next leader fetches the copy
    script = Script(fetched("one", stores=100, confirmed_at=EARLIER), fetched("two", stores=10))
    async with Published(script, work).running() as published:
        again, failed = await published.until(2)
    assert again.generation == 2
    assert refusal(failed).startswith("10 of 100 stores left")
