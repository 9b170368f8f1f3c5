"""Last-Modified over the data sets of a run: given only if it cannot mislead a client."""

from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st

from service.dataset import Summary, Totals
from service.publishing.publisher import next_publication
from service.publishing.source import Fetched
from service.publishing.workspace import Publication

START = datetime(2024, 5, 31, 12, tzinfo=UTC)
TOTALS = Totals(stores=1, companies=1, skipped=0, repeated=0)
# Tenths of a second, so that many data sets of a run have times within one second.
DATES = st.none() | st.integers(0, 50).map(lambda tenths: START + timedelta(milliseconds=100 * tenths))


def published(run: list[tuple[str, datetime | None]]) -> list[Publication]:
    """Return the publications of a run of data sets, each a version and its time."""
    publications, last = [], Publication()
    for version, generated_at in run:
        fetched = Fetched(fingerprint=version, summary=Summary(version, generated_at, TOTALS))
        last = next_publication(last, fetched, "a file", START)
        publications.append(last)
    return publications


@given(st.lists(st.tuples(st.sampled_from("abc"), DATES), max_size=12))
def test_last_modified_is_that_of_the_data_or_none_never_decreases_and_is_of_one_version_in_whole_seconds(
    run: list[tuple[str, datetime | None]],
) -> None:
    versions: dict[int, str] = {}
    given_ = [(each, publication.modified) for each, publication in zip(run, published(run), strict=True)]
    for (version, generated_at), modified in given_:
        if modified is not None:
            assert modified == generated_at
            assert versions.setdefault(int(modified.timestamp()), version) == version
    times = [modified for _, modified in given_ if modified is not None]
    assert times == sorted(times)


def test_data_of_the_same_second_or_an_earlier_time_has_none_and_later_data_has_one_again() -> None:
    half, later = START + timedelta(seconds=0.5), START + timedelta(seconds=2)
    run: list[tuple[str, datetime | None]] = [("a", START), ("b", START), ("b", half), ("a", START), ("c", later)]
    assert [each.modified for each in published(run)] == [START, None, None, None, later]


def test_data_of_the_future_has_none_and_does_not_affect_later_data() -> None:
    future = datetime.now(UTC) + timedelta(days=1)
    now = datetime.now(UTC)
    assert [each.modified for each in published([("a", future), ("b", now)])] == [None, now]
