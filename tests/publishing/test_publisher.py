"""New data of a source is published, and failed attempts are reported."""

import errno
import logging
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
import pytest

from service.dataset import Rejected
from service.publishing import publisher
from service.publishing.source import Unavailable
from service.publishing.workspace import Publication, Workspace
from tests.publishing.scripted import Published, Script, Step, fetched

pytestmark = pytest.mark.slow

GONE = Unavailable("it is out of reach")
EARLIER = datetime(2024, 5, 31, tzinfo=UTC)
FAULTY = Rejected("stores.csv:2: city: it is missing", fingerprint="faulty")
KEPT = "the previous data is still served"


async def publish(work: Workspace, script: Script | Step, count: int, *steps: Step) -> list[Publication]:
    """Publish by a script, or one of these steps, until there are so many publications; return them."""
    made = script if isinstance(script, Script) else Script(script, *steps)
    async with Published(made, work).running() as published:
        return await published.until(count)


def outcome(publication: Publication) -> tuple[bool, str | None]:
    """Return whether the last attempt succeeded, and why not."""
    assert publication.last_reload is not None
    return publication.last_reload.ok, publication.last_reload.error


def refusal(publication: Publication) -> str:
    """Return why the last attempt failed."""
    ok, why = outcome(publication)
    assert not ok
    return why or ""


def confirmed(publication: Publication) -> datetime:
    """Return when the source confirmed the data."""
    assert publication.confirmed_at is not None
    return publication.confirmed_at


async def test_new_data_is_published_and_the_previous_file_removed(work: Workspace) -> None:
    one, two = await publish(work, fetched("one"), 2, fetched("two"))
    assert [(each.generation, each.fingerprint, each.known) for each in (one, two)] == [
        (1, "one", "one"),
        (2, "two", "two"),
    ]
    assert (outcome(two)[0], two.loaded_at is not None, two.confirmed_at is not None) == (True, True, True)
    assert work.file(two).read_bytes() == b"whole"
    assert len(list(work.folder.glob("*.baked"))) == 1
    assert one.file != two.file


async def test_an_unchanged_source_confirms_the_served_data(work: Workspace) -> None:
    script = Script(fetched("one"))
    one, again, once_more = await publish(work, script, 3)
    assert script.known[:3] == ["", "one", "one"]
    for earlier, later in pairwise((one, again, once_more)):
        assert confirmed(earlier) < confirmed(later)
        assert (later.generation, later.loaded_at, later.last_reload) == (1, one.loaded_at, one.last_reload)


@pytest.mark.parametrize("failure", [FAULTY, RuntimeError("a bug")])
async def test_a_first_fetch_that_is_rejected_or_fails_unexpectedly_ends_the_publisher(
    work: Workspace, failure: Exception
) -> None:
    with pytest.raises(Rejected, match=str(failure)):
        await Published(Script(failure), work).publisher.run()


async def test_a_first_fetch_from_an_unavailable_source_is_retried(work: Workspace) -> None:
    failed, one = await publish(work, GONE, 2, fetched("one"))
    assert (failed.generation, failed.file, refusal(failed), one.generation) == (0, "", str(GONE), 1)


@pytest.mark.parametrize("failure", [GONE, FAULTY, OSError("a disk"), RuntimeError("a bug")])
async def test_a_failed_attempt_keeps_the_served_data_alone_and_is_published_until_a_success(
    work: Workspace, failure: Exception
) -> None:
    one, failed = await publish(work, fetched("one"), 2, failure)
    assert refusal(failed) == str(failure)
    assert (failed.generation, failed.file, failed.confirmed_at) == (1, one.file, one.confirmed_at)
    assert [file.name for file in work.folder.glob("*.baked")] == [one.file]
    again, two = await publish(work, None, 2, fetched("two"))
    assert outcome(again)[0] is (failure is not FAULTY)  # which the source still holds
    assert (again.generation, two.generation, outcome(two)[0]) == (1, 2, True)


async def test_a_rejection_is_logged_with_its_hint(work: Workspace, caplog: pytest.LogCaptureFixture) -> None:
    rejected = Rejected(str(FAULTY), hint="`check` reports every error", fingerprint="faulty")
    _, failed = await publish(work, fetched("one"), 2, rejected)
    assert refusal(failed) == str(FAULTY)
    assert caplog.messages == [f"{FAULTY}; {KEPT}; `check` reports every error"]


async def test_refused_data_is_neither_confirmed_nor_fetched_again(work: Workspace) -> None:
    script = Script(fetched("one"), FAULTY)
    *_, later = await publish(work, script, 5)
    assert script.known[:5] == ["", "one", "faulty", "faulty", "faulty"]
    assert refusal(later)
    assert later.loaded_at is not None
    assert confirmed(later) <= later.loaded_at  # asked before loading, and not confirmed since


FULL = OSError(errno.ENOSPC, "No space left on device")
FULL_REMOTE = Unavailable("https://origin.example: No space left on device")
FULL_REMOTE.__cause__ = FULL


@pytest.mark.parametrize(("failure", "times"), [(GONE, 1), (FULL, 10), (FULL_REMOTE, 10)])
async def test_an_unavailable_source_is_retried_with_backoff_and_a_full_disk_after_ten_times_as_long(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, failure: Exception, times: int
) -> None:
    monkeypatch.setattr(publisher, "_FIRST_RETRY_SECONDS", 0.2 / times)
    script = Script(fetched("one"), failure, failure)
    await publish(work, script, 4)
    first, second = (later - earlier for earlier, later in pairwise(script.at[1:4]))
    assert first >= 0.09 + 0.2 / times
    assert second >= 0.19 + 0.2 / times


async def test_a_requested_reload_fetches_the_source_at_once_changed_or_not(work: Workspace) -> None:
    script = Script(fetched("one"), fetched("one"))
    async with Published(script, work, poll_seconds=600).running() as published:
        await published.until(1)
        published.publisher.reload()
        *_, again = await published.until(2)
    assert script.known == ["", ""]
    assert (again.generation, again.fingerprint) == (2, "one")


@pytest.mark.parametrize("is_answered", [False, True])
async def test_a_reload_requested_while_no_process_leads_is_that_of_the_next_leader(
    work: Workspace, *, is_answered: bool
) -> None:
    successor = Published(script := Script(fetched("one")), work, poll_seconds=600)
    if is_answered:
        successor.publisher.reload()
    await publish(work, fetched("one"), 1)
    if not is_answered:
        successor.publisher.reload()
    async with successor.running():
        await successor.until(1)
    assert script.known == ["one" if is_answered else ""]


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
    with caplog.at_level(logging.WARNING):
        await publish(work, fetched("one"), 8, GONE, GONE, FAULTY, fetched("two"), FAULTY)
    assert caplog.messages == [f"{failure}; {KEPT}" for failure in (GONE, FAULTY, FAULTY)]


async def test_notes_on_the_data_are_warnings_and_what_was_assumed_is_information(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    data = msgspec.structs.replace(fetched("one", "skipped 3 records"), assumed=("stores.csv: semicolons",))
    with caplog.at_level(logging.INFO):
        await publish(work, data, 2)
    logged = {(record.levelname, record.message) for record in caplog.records}
    assert logged >= {("WARNING", "skipped 3 records"), ("INFO", "stores.csv: semicolons")}


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
    await publish(work, fetched("one"), 1)
    for each in await publish(FullDisk(work.folder), GONE, 2, GONE):
        assert (each.generation, refusal(each)) == (1, str(GONE))
    assert caplog.messages.count(f"{GONE}; {KEPT}") == 1
    assert work.publication().generation == 1


async def test_a_new_leader_continues_from_the_publication(work: Workspace) -> None:
    await publish(work, fetched("one"), 1)
    (work.folder / "left.baked").write_bytes(b"half")
    script = Script(None, fetched("two"))
    again, two = await publish(work, script, 2)
    assert script.known[:2] == ["one", "one"]
    assert (again.generation, two.generation) == (1, 2)
    assert [file.name for file in work.folder.glob("*.baked")] == [two.file]


async def test_a_reload_that_shrinks_too_much_keeps_the_served_data_and_is_logged_once(
    work: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    script = Script(fetched("one", stores=5_000), fetched("two", stores=312))
    one, failed, later = await publish(work, script, 3)
    why = "312 of 5,000 stores left, 93.8 % fewer than served now; --max-shrink 0.94 allows that"
    assert refusal(failed) == refusal(later) == why
    assert (failed.generation, failed.file, failed.summary) == (1, one.file, one.summary)
    assert caplog.messages.count(f"{why}; {KEPT}") == 1
    assert script.known[:3] == ["", "one", "two"]


async def test_each_reload_is_compared_with_the_served_data_not_with_the_first(work: Workspace) -> None:
    first, *others = (fetched(str(stores), stores=stores) for stores in (100, 60, 31, 15))
    *_, third, failed = await publish(work, first, 4, *others)
    assert third.generation == 3
    assert refusal(failed).startswith("15 of 31 stores left, 51.6 % fewer")


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("confirmations", [(), (None,)], ids=["not confirmed", "confirmed"])
async def test_a_reload_is_compared_with_the_publication_and_the_last_good_copy_of_an_earlier_leader_or_run(
    work: Workspace, confirmations: tuple[None, ...], *, is_first: bool
) -> None:
    """A restart behind an origin that lost most of its stores serves the copy on."""
    if not is_first:
        await publish(work, fetched("zero", stores=100), 1)
    copy = fetched("one", stores=100, confirmed_at=EARLIER)
    *_, failed = await publish(work, copy, 2 + len(confirmations), *confirmations, fetched("two", stores=10))
    assert (failed.generation, failed.fingerprint) == (2 - is_first, "one")
    assert refusal(failed).startswith("10 of 100 stores left")
    (again,) = await publish(work, fetched("three", stores=9), 1)
    assert refusal(again).startswith("9 of 100 stores left")
