"""Preconditions on entity tags (RFC 9110 section 13)."""

from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.snapshot.publication import Publication
from service.snapshot.snapshot import SnapshotHolder
from tests.loaded import serve
from tests.web.dated import date
from tests.web.live import Client
from tests.web.reply import Asked, Reply, ask, ask_all, request

TARGETS = ("/stores?limit=2", "/companies", "/companies/acme")
SAME = "Fri, 31 May 2024 10:00:00 GMT"
METHODS = ("GET", "HEAD")
KEPT = ("ETag", "Cache-Control", "Vary", "X-Dataset-Version", "Last-Modified")
OF_A_BODY = {"content-type", "content-length", "content-encoding", "transfer-encoding", "link"}

# With {} for the opaque part of the tag that is current.
MATCHING = {
    "the tag": '"{}"',
    "weak": 'W/"{}"',
    "first of several": '"{}", "x"',
    "last of several": '"x",W/"y" , "{}"',
    "behind a comma in a tag": '"a,b", "{}"',
    "behind empty members": ', ,"{}",',
    "behind an empty tag": '"", "{}"',
    "behind a tag beyond ASCII": '"é", "{}"',
    "anything": "*",
    "anything, spaced": " * ",
}
OTHERS = {
    "another": '"x"',
    "another, weak": 'W/"x"',
    "an empty tag": '""',
    "no tag": "x",
    "nothing": "",
    "a comma": ",",
    "a quote": '"',
    "no quotes": "{}",
    "no end": '"{}',
    "no start": '{}"',
    "single quotes": "'{}'",
    "a longer one": '"{}x"',
    "one within": '"x,{},y"',
    "a quoted star": '"*"',
    "stars": "**",
    "weak without a tag": "W/",
    "quotes without end": '"' * 4001,
    "very many": '"x",' * 2000,
}


def same_fields(one: Reply, other: Reply) -> bool:
    return all(one.headers.get(name) == other.headers.get(name) for name in KEPT)


def opaque(answer: Reply) -> str:
    return answer.etag.strip('"')


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", METHODS)
async def test_who_has_the_answer_is_told_so_without_a_body(client: Client, target: str, method: str) -> None:
    whole = await ask(client, target, method=method)
    kept = await ask(client, target, f"If-None-Match: {whole.etag}", method=method)
    assert (kept.status, kept.body) == (304, b"")
    assert same_fields(kept, whole)
    assert kept.headers["Cache-Control"] == "private, no-cache"
    assert kept.listed("Vary") == {"accept-encoding", "prefer", "x-dataset-version", "x-api-key"}
    assert not OF_A_BODY & {name.lower() for name in kept.headers}


@pytest.mark.parametrize("form", MATCHING.values(), ids=MATCHING)
async def test_a_tag_that_matches_is_304_however_it_is_given(client: Client, form: str) -> None:
    whole = await ask(client, "/stores")
    kept = await ask(client, "/stores", f"If-None-Match: {form.format(opaque(whole))}")
    assert (kept.status, kept.etag) == (304, whole.etag)


@pytest.mark.parametrize("form", OTHERS.values(), ids=OTHERS)
async def test_what_does_not_match_is_200(client: Client, form: str) -> None:
    for target in TARGETS:
        whole = await ask(client, target)
        again = await ask(client, target, f"If-None-Match: {form.format(opaque(whole))}")
        assert (again.status, again.body, again.etag) == (200, whole.body, whole.etag)


async def test_a_tag_may_stand_in_any_of_several_lines(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    lines = ('If-None-Match: "x", "y"', f'if-none-match: "z", W/{tag}', 'If-None-Match: "w"')
    assert (await ask(client, "/stores", *lines)).status == 304
    assert (await ask(client, "/stores", lines[0], lines[2])).status == 200


async def test_the_tag_of_another_question_does_not_match(client: Client) -> None:
    tag = (await ask(client, "/stores?limit=1")).etag
    assert (await ask(client, "/stores?limit=2", f"If-None-Match: {tag}")).status == 200
    assert (await ask(client, "/stores?limit=01&x=1", f"If-None-Match: {tag}")).status == 304


async def test_a_connection_goes_on_behind_304(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    asked = [request("/stores", f"If-None-Match: {tag}", method=method) for method in ("GET", "HEAD", "GET")]
    answers = await ask_all(client, *asked, request("/companies/acme", "Connection: close"))
    assert [answer.status for answer in answers] == [304, 304, 304, 200]
    assert answers[-1].json()["company_id"] == "acme"


@pytest.mark.parametrize(
    ("condition", "accepted"),
    [
        ("If-None-Match: {}", "identity"),
        ("If-None-Match: {}", "gzip"),
        ("If-None-Match: *", "identity"),
        (f"If-Modified-Since: {SAME}", "identity"),
    ],
)
async def test_no_query_is_run_for_304(
    client: Client, replica: SnapshotHolder, data: Path, condition: str, accepted: str
) -> None:
    target = "/stores?city=toronto&sort_by=city"
    await serve(replica, date(data, "2024-05-31T10:00:00Z"))
    tag = (await ask(client, target)).etag
    assert replica.current is not None
    no_table: Any = None
    dataset = msgspec.structs.replace(replica.current.dataset, stores=no_table)
    await replica.swap(msgspec.structs.replace(replica.current, dataset=dataset), Publication(generation=2))
    coding = f"Accept-Encoding: {accepted}"
    assert (await ask(client, target, condition.format(tag), coding)).status == 304
    assert (await ask(client, target, coding)).status == 500


@pytest.mark.parametrize("condition", ["If-None-Match: *", f"If-Modified-Since: {SAME}"])
@pytest.mark.parametrize("target", ["/stores", "/companies/acme"])
async def test_304_has_the_tag_of_the_answer_that_would_be_sent(
    client: Client, replica: SnapshotHolder, data: Path, target: str, condition: str
) -> None:
    await serve(replica, date(data, "2024-05-31T10:00:00Z"))
    whole = await ask(client, target, "Accept-Encoding: gzip")
    unchanged = await ask(client, target, "Accept-Encoding: gzip", condition)
    assert (whole.status, unchanged.status) == (200, 304)
    assert unchanged.etag == whole.etag


@pytest.mark.parametrize("field", ["If-None-Match", "If-Match"])
@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (Asked("/nope", key=""), 404),
        (Asked("/stores", method="POST", key=""), 405),
        (Asked("/stores?limit=0", key="wrong"), 401),
        (Asked("/companies/nobody", key=""), 401),
        (Asked("/stores?limit=0"), 422),
        (Asked("/companies/nobody"), 404),
        (Asked("/companies/nobody", method="HEAD"), 404),
    ],
    ids=str,
)
async def test_an_error_comes_before_a_precondition(client: Client, field: str, asked: Asked, status: int) -> None:
    for value in ("*", '"x"'):
        assert (await asked.of(client, f"{field}: {value}")).status == status


async def test_without_data_a_precondition_is_503(loading_client: Client) -> None:
    for field in ("If-None-Match: *", 'If-Match: "x"', "If-Unmodified-Since: Fri, 31 May 2024 10:00:00 GMT"):
        assert (await ask(loading_client, "/stores", field)).status == 503


@pytest.mark.parametrize("form", ['"{}"', "*", '"x", "{}"', 'W/"{0}", "{0}"', ', "a,b" ,"{}"'])
async def test_if_match_of_the_current_tag_is_answered(client: Client, form: str) -> None:
    for target, method in product(TARGETS, METHODS):
        whole = await ask(client, target, method=method)
        again = await ask(client, target, f"If-Match: {form.format(opaque(whole))}", method=method)
        assert (again.status, again.body) == (200, whole.body)


@pytest.mark.parametrize("form", ['W/"{}"', '"x"', '"x,{},y"', 'W/"{}", "x"', '"{}x"'])
async def test_if_match_of_no_current_tag_or_a_weak_one_is_412(client: Client, form: str) -> None:
    for target, method in product(TARGETS, METHODS):
        whole = await ask(client, target)
        refused = await ask(client, target, f"If-Match: {form.format(opaque(whole))}", method=method)
        assert refused.status == 412
        assert refused.headers["Cache-Control"] == "no-store"
        assert method == "HEAD" or refused.json() == {"detail": "It is no longer what If-Match names"}


async def test_if_match_is_judged_before_if_none_match(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    assert (await ask(client, "/stores", 'If-Match: "x"', f"If-None-Match: {tag}")).status == 412
    assert (await ask(client, "/stores", f"If-Match: {tag}", f"If-None-Match: {tag}")).status == 304
    assert (await ask(client, "/stores", f"If-Match: {tag}", 'If-None-Match: "x"')).status == 200


async def test_if_match_may_stand_in_several_lines(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    assert (await ask(client, "/stores", 'If-Match: "x"', f"If-Match: {tag}")).status == 200
