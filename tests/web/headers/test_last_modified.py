"""Last-Modified, and preconditions on dates (RFC 9110 section 13)."""

from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from time import tzset

import pytest

from service.publishing.snapshot import SnapshotHolder
from tests.directory import write_directory
from tests.loaded import serve
from tests.web.dated import date
from tests.web.live import COMPANIES, STORES, Client
from tests.web.reply import ask

TARGETS = ("/stores", "/companies?limit=1", "/companies/acme")
FUTURE = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
METHODS = ("GET", "HEAD")
GENERATED_AT = "2024-05-31T12:00:00.900+02:00"
LAST_MODIFIED = "Fri, 31 May 2024 10:00:00 GMT"
# In the three forms of RFC 9110 section 5.6.7.
SAME = (LAST_MODIFIED, "Friday, 31-May-24 10:00:00 GMT", "Fri May 31 10:00:00 2024")
LATER = ("Fri, 31 May 2024 10:00:01 GMT", "Saturday, 01-Jun-24 00:00:00 GMT", "Sat Jun  1 00:00:00 2024")
EARLIER = ("Fri, 31 May 2024 09:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994")
# Invalid dates. Without their errors all would be later than the data, and in the second list earlier.
INVALID = (
    *("2099-05-31T10:00:00Z", "4081917600", "tomorrow", "", '"Sun, 31 May 2099 10:00:00 GMT"', "Sun, 31 May 2099"),
    *("Sun, 32 May 2099 10:00:00 GMT", "Sun, 31 Mai 2099 10:00:00 GMT", "Sun, 31 May 2099 25:00:00 GMT"),
    *("Sun, 31 May 2099 10:00:00 GMT, Sun, 31 May 2099 10:00:00 GMT", "Sun, 31 May 99999999999 10:00:00 GMT"),
)
INVALID_EARLIER = tuple(value.replace("2099", "1998").replace("4081917600", "896608800") for value in INVALID)
ODD = ("Fri, 31 May 2024 23:59:60 GMT", "Fri, 31 May 0000 10:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "\x80\xff")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return date(write_directory(tmp_path / "data", STORES, COMPANIES), GENERATED_AT)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", METHODS)
async def test_last_modified_is_the_manifests_time_in_whole_seconds(client: Client, target: str, method: str) -> None:
    full = await ask(client, target, method=method)
    not_modified = await ask(client, target, f"If-None-Match: {full.etag}", method=method)
    assert full.headers.getall("Last-Modified") == not_modified.headers.getall("Last-Modified") == [LAST_MODIFIED]


@pytest.mark.parametrize("generated_at", [None, FUTURE], ids=["none", "future"])
async def test_without_a_time_or_with_a_future_one_there_is_no_last_modified_and_dates_are_ignored(
    client: Client, snapshots: SnapshotHolder, data: Path, generated_at: str | None
) -> None:
    await serve(snapshots, date(data, generated_at))
    assert "Last-Modified" not in (await ask(client, "/stores")).headers
    assert (await ask(client, "/stores", "If-Modified-Since: Sun, 31 May 2099 10:00:00 GMT")).status == 200
    assert (await ask(client, "/stores", f"If-Unmodified-Since: {EARLIER[0]}")).status == 200


@pytest.mark.parametrize("since", SAME)
async def test_if_modified_since_with_the_same_date_is_304(client: Client, since: str) -> None:
    for target, method in product(TARGETS, METHODS):
        full = await ask(client, target)
        not_modified = await ask(client, target, f"If-Modified-Since: {since}", method=method)
        assert (not_modified.status, not_modified.body, not_modified.etag) == (304, b"", full.etag)


@pytest.mark.parametrize("zone", ["America/Toronto", "Asia/Tokyo"])
async def test_dates_are_in_utc_in_any_time_zone(client: Client, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        tzset()
        statuses = [
            (await ask(client, "/stores", f"If-Modified-Since: {since}")).status for since in (SAME[1], EARLIER[0])
        ]
    tzset()
    assert statuses == [304, 200]


@pytest.mark.parametrize("since", [*EARLIER, *LATER, *INVALID])
async def test_if_modified_since_with_another_or_invalid_date_is_200(client: Client, since: str) -> None:
    assert (await ask(client, "/stores", f"If-Modified-Since: {since}")).status == 200


async def test_a_repeated_date_is_ignored(client: Client) -> None:
    assert (await ask(client, "/stores", *[f"If-Modified-Since: {SAME[0]}"] * 2)).status == 200
    assert (await ask(client, "/stores", *[f"If-Unmodified-Since: {EARLIER[0]}"] * 2)).status == 200


@pytest.mark.parametrize("value", ODD)
async def test_an_out_of_range_date_causes_no_error(client: Client, value: str) -> None:
    assert (await ask(client, "/stores", f"If-Modified-Since: {value}")).status in {200, 304}
    assert (await ask(client, "/stores", f"If-Unmodified-Since: {value}")).status in {200, 412}


@pytest.mark.parametrize("since", [*SAME, *LATER, *INVALID_EARLIER])
async def test_if_unmodified_since_with_no_earlier_date_is_200(client: Client, since: str) -> None:
    for method in METHODS:
        assert (await ask(client, "/stores", f"If-Unmodified-Since: {since}", method=method)).status == 200


@pytest.mark.parametrize("since", EARLIER)
async def test_if_unmodified_since_with_an_earlier_date_is_412(client: Client, since: str) -> None:
    for target in TARGETS:
        refused = await ask(client, target, f"If-Unmodified-Since: {since}")
        assert (refused.status, refused.json()) == (
            412,
            {"detail": "The resource was modified after If-Unmodified-Since"},
        )
        assert (await ask(client, target, f"If-Unmodified-Since: {since}", method="HEAD")).status == 412


async def test_the_same_data_with_another_time_has_the_same_tag(
    client: Client, snapshots: SnapshotHolder, data: Path
) -> None:
    before = await ask(client, "/stores")
    await serve(snapshots, date(data, "2024-06-01T00:00:00Z"))
    after = await ask(client, "/stores")
    assert after.etag == before.etag
    assert after.headers["Last-Modified"] == "Sat, 01 Jun 2024 00:00:00 GMT"


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/health", "/ready", "/metrics", "/nope"])
async def test_responses_without_data_have_no_last_modified(client: Client, path: str) -> None:
    assert "Last-Modified" not in (await ask(client, path)).headers
