"""Conditional requests (RFC 9110 section 13): preconditions on entity tags and on dates."""

from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from time import tzset
from typing import Any

import msgspec
import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from service.model.errors import PreconditionFailed
from service.publishing.snapshot import SnapshotHolder
from service.publishing.workspace import Publication
from service.web.http.conditional import evaluate_conditions
from tests.directory import write_directory, write_manifest
from tests.loaded import serve
from tests.web.live import COMPANIES, STORES, Client
from tests.web.reply import ask

TARGETS = ("/stores?limit=2", "/companies", "/companies/acme")
TAGS = ("0a1b2c", "3d4e5f")
NONE_MATCH, MATCH, SINCE, UNMODIFIED = "If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since"
# {} stands for one of the tags.
STRONG = ('"{}"', '"{}", "x"', '"a,b", "{}"', ', ,"{}",', '"", "{}"', '"é", "{}"', 'W/"{0}", "{0}"')
WEAK = ('W/"{}"', '"x",W/"{}" , "y"')
ANYTHING = ("*", " * ")
OTHERS = (
    *('"x"', 'W/"x"', '""', "x", "", ",", '"', "{}", '"{}', '{}"', "'{}'", '"{}x"', '"x,{},y"', '"*"', "**", "W/"),
    *('"' * 4001, '"x",' * 2000),
)
FIELD = "X-Dataset-Version"
GENERATED_AT = "2024-05-31T12:00:00.900+02:00"
MODIFIED = int(datetime(2024, 5, 31, 10, tzinfo=UTC).timestamp())
# In the three forms of RFC 9110 section 5.6.7.
SAME = ("Fri, 31 May 2024 10:00:00 GMT", "Friday, 31-May-24 10:00:00 GMT", "Fri May 31 10:00:00 2024")
LATER = ("Fri, 31 May 2024 10:00:01 GMT", "Saturday, 01-Jun-24 00:00:00 GMT", "Sat Jun  1 00:00:00 2024")
EARLIER = ("Fri, 31 May 2024 09:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994")
# Without their errors all would be later than the data, and those of the second list earlier.
INVALID = (
    *("2099-05-31T10:00:00Z", "4081917600", "tomorrow", "", '"Sun, 31 May 2099 10:00:00 GMT"', "Sun, 31 May 2099"),
    *("Sun, 32 May 2099 10:00:00 GMT", "Sun, 31 Mai 2099 10:00:00 GMT", "Sun, 31 May 2099 25:00:00 GMT"),
    *("Sun, 31 May 2099 10:00:00 GMT, Sun, 31 May 2099 10:00:00 GMT", "Sun, 31 May 99999999999 10:00:00 GMT"),
)
INVALID_EARLIER = tuple(value.replace("2099", "1998").replace("4081917600", "896608800") for value in INVALID)
# Out of range: any verdict is right, but no failure.
ODD = ("Fri, 31 May 2024 23:59:60 GMT", "Fri, 31 May 0000 10:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "\x80\xff")


def verdict(*fields: tuple[str, str], modified: int | None = MODIFIED) -> str | int | None:
    """Return 412, None for a 200, or what a 304 is about: the tag, "" if none is named."""
    try:
        return evaluate_conditions(CIMultiDictProxy(CIMultiDict(fields)), TAGS, modified)
    except PreconditionFailed:
        return 412


@pytest.mark.parametrize("tag", TAGS)
def test_a_tag_matches_in_any_form(tag: str) -> None:
    for form in STRONG:
        assert verdict((NONE_MATCH, form.format(tag))) == tag, form
        assert verdict((MATCH, form.format(tag))) is None, form
    for form in WEAK:
        assert (verdict((NONE_MATCH, form.format(tag))), verdict((MATCH, form.format(tag)))) == (tag, 412), form
    for form in ANYTHING:
        assert (verdict((NONE_MATCH, form)), verdict((MATCH, form))) == ("", None), form


def test_no_other_text_is_a_tag() -> None:
    for form, tag in product(OTHERS, TAGS):
        assert (verdict((NONE_MATCH, form.format(tag))), verdict((MATCH, form.format(tag)))) == (None, 412), form


def test_a_list_may_have_several_lines() -> None:
    lines = [(NONE_MATCH, '"x", "y"'), ("if-none-match", f'"z", W/"{TAGS[1]}"'), (NONE_MATCH, '"w"')]
    assert (verdict(*lines), verdict(lines[0], lines[2])) == (TAGS[1], None)
    assert verdict((MATCH, '"x"'), (MATCH, f'"{TAGS[0]}"')) is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([(MATCH, '"x"'), (NONE_MATCH, f'"{TAGS[0]}"')], 412),
        ([(MATCH, f'"{TAGS[0]}"'), (NONE_MATCH, f'"{TAGS[0]}"')], TAGS[0]),
        ([(MATCH, f'"{TAGS[0]}"'), (NONE_MATCH, '"x"')], None),
        ([(MATCH, "*"), (UNMODIFIED, EARLIER[0])], None),
        ([(NONE_MATCH, '"x"'), (SINCE, SAME[0])], None),
        ([(UNMODIFIED, EARLIER[0]), (NONE_MATCH, "*")], 412),
    ],
)
def test_conditions_are_evaluated_in_their_order(fields: list[tuple[str, str]], expected: object) -> None:
    assert verdict(*fields) == expected


@pytest.mark.parametrize("zone", ["UTC", "America/Toronto", "Asia/Tokyo"])
def test_dates_are_in_utc_in_any_time_zone(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        tzset()
        found = [verdict((SINCE, since)) for since in (*SAME, *EARLIER, *LATER)]
    tzset()
    assert found == [*[""] * 3, *[None] * 6]


def test_only_a_valid_date_that_is_not_repeated_counts() -> None:
    assert [verdict((SINCE, since)) for since in INVALID] == [None] * len(INVALID)
    assert verdict(*[(SINCE, SAME[0])] * 2) is None
    assert [verdict((UNMODIFIED, since)) for since in EARLIER] == [412] * 3
    kept = (*SAME, *LATER, *INVALID_EARLIER)
    assert [verdict((UNMODIFIED, since)) for since in kept] == [None] * len(kept)
    assert verdict(*[(UNMODIFIED, EARLIER[0])] * 2) is None
    assert {verdict((name, since)) for name, since in product((SINCE, UNMODIFIED), ODD)} <= {None, "", 412}
    assert [verdict(each, modified=None) for each in ((SINCE, LATER[0]), (UNMODIFIED, EARLIER[0]))] == [None, None]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_manifest(write_directory(tmp_path / "data", STORES, COMPANIES), GENERATED_AT)


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (f'{MATCH}: "x"', "The current entity tag is not in If-Match"),
        (f"{UNMODIFIED}: {EARLIER[0]}", "The resource was modified after If-Unmodified-Since"),
    ],
)
async def test_a_412_says_which_condition_failed(client: Client, condition: str, why: str) -> None:
    for target in TARGETS:
        refused = await ask(client, target, condition)
        assert (refused.status, refused.json()) == (412, {"detail": why})
        assert refused.headers["Cache-Control"] == "no-store"
        assert (await ask(client, target, condition, method="HEAD")).status == 412


@pytest.mark.parametrize(
    ("condition", "accepted"),
    [
        *((f"{NONE_MATCH}: {{}}", "identity"), (f"{NONE_MATCH}: {{}}", "gzip"), (f"{NONE_MATCH}: *", "identity")),
        (f"{SINCE}: {SAME[0]}", "identity"),
    ],
)
async def test_no_query_is_run_for_304(
    client: Client, snapshots: SnapshotHolder, condition: str, accepted: str
) -> None:
    target, coding = "/stores?city=toronto&sort_by=city", f"Accept-Encoding: {accepted}"
    tag = (await ask(client, target)).etag
    assert snapshots.current is not None
    no_table: Any = None
    dataset = msgspec.structs.replace(snapshots.current.dataset, stores=no_table)
    await snapshots.swap(msgspec.structs.replace(snapshots.current, dataset=dataset), Publication(generation=2))
    assert (await ask(client, target, condition.format(tag), coding)).status == 304
    assert (await ask(client, target, coding)).status == 500


async def test_the_date_is_that_of_the_data_if_it_is_known_and_past(
    client: Client, snapshots: SnapshotHolder, data: Path
) -> None:
    before = await ask(client, "/stores")
    await serve(snapshots, write_manifest(data, "2024-06-01T00:00:00Z"))
    after = await ask(client, "/stores")
    assert (after.etag, after.headers["Last-Modified"]) == (before.etag, "Sat, 01 Jun 2024 00:00:00 GMT")
    for generated_at in (None, (datetime.now(UTC) + timedelta(hours=1)).isoformat()):
        await serve(snapshots, write_manifest(data, generated_at))
        assert "Last-Modified" not in (await ask(client, "/stores")).headers
    for path in ("/openapi.json", "/docs", "/health", "/ready", "/metrics", "/nope"):
        assert "Last-Modified" not in (await ask(client, path)).headers


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_only_the_served_version_or_none_may_be_expected(client: Client, method: str) -> None:
    version = (await ask(client, "/stores")).headers[FIELD]
    for same in ([version], [f"  {version}\t"], [version, version], [""], [" \t "]):
        assert (await ask(client, "/stores", *(f"{FIELD}: {field}" for field in same), method=method)).status == 200
    for other in (["x"], [f"{version}0"], [version, "x"], ["x", version], ["*"], ["é"]):
        refused = await ask(client, "/stores", *(f"{FIELD}: {field}" for field in other), method=method)
        assert (refused.status, refused.headers.getall(FIELD)) == (412, [version])


async def test_paths_without_data_ignore_a_version_and_without_data_it_is_503(loading_client: Client) -> None:
    for path, status in (("/openapi.json", 200), ("/docs", 200), ("/health", 200), ("/metrics", 200), ("/stores", 503)):
        for field in (f"{FIELD}: x", f"{NONE_MATCH}: x", f"{UNMODIFIED}: {EARLIER[0]}"):
            assert (await ask(loading_client, path, field)).status == status
