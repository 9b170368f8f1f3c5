"""Preconditions on entity tags (RFC 9110 section 13)."""

from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.publishing.snapshot import SnapshotHolder
from service.publishing.workspace import Publication
from tests.loaded import serve
from tests.web.dated import date
from tests.web.live import Client
from tests.web.reply import Reply, RequestSpec, ask

TARGETS = ("/stores?limit=2", "/companies", "/companies/acme")
SAME = "Fri, 31 May 2024 10:00:00 GMT"
METHODS = ("GET", "HEAD")
SHARED_FIELDS = ("ETag", "Cache-Control", "Vary", "X-Dataset-Version", "Last-Modified")
BODY_FIELDS = {"content-type", "content-length", "content-encoding", "transfer-encoding", "link"}

# {} stands for the opaque part of the current tag.
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
    return all(one.headers.get(name) == other.headers.get(name) for name in SHARED_FIELDS)


def opaque(answer: Reply) -> str:
    return answer.etag.strip('"')


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", METHODS)
async def test_a_client_with_the_current_tag_gets_304_without_a_body(client: Client, target: str, method: str) -> None:
    full = await ask(client, target, method=method)
    not_modified = await ask(client, target, f"If-None-Match: {full.etag}", method=method)
    assert (not_modified.status, not_modified.body) == (304, b"")
    assert same_fields(not_modified, full)
    assert not_modified.headers["Cache-Control"] == "private, no-cache"
    accept = {"accept"} if target.startswith("/stores?") else set()
    assert not_modified.listed("Vary") == {"accept-encoding", "prefer", "x-dataset-version", "x-api-key", *accept}
    assert not BODY_FIELDS & {name.lower() for name in not_modified.headers}


@pytest.mark.parametrize("form", MATCHING.values(), ids=MATCHING)
async def test_a_matching_tag_in_any_form_is_304(client: Client, form: str) -> None:
    full = await ask(client, "/stores")
    not_modified = await ask(client, "/stores", f"If-None-Match: {form.format(opaque(full))}")
    assert (not_modified.status, not_modified.etag) == (304, full.etag)


@pytest.mark.parametrize("form", OTHERS.values(), ids=OTHERS)
async def test_a_tag_that_does_not_match_is_200(client: Client, form: str) -> None:
    for target in TARGETS:
        full = await ask(client, target)
        again = await ask(client, target, f"If-None-Match: {form.format(opaque(full))}")
        assert (again.status, again.body, again.etag) == (200, full.body, full.etag)


async def test_a_tag_may_be_in_any_of_several_lines(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    lines = ('If-None-Match: "x", "y"', f'if-none-match: "z", W/{tag}', 'If-None-Match: "w"')
    assert (await ask(client, "/stores", *lines)).status == 304
    assert (await ask(client, "/stores", lines[0], lines[2])).status == 200


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
    client: Client, snapshots: SnapshotHolder, folder: Path, condition: str, accepted: str
) -> None:
    target = "/stores?city=toronto&sort_by=city"
    await serve(snapshots, date(folder, "2024-05-31T10:00:00Z"))
    tag = (await ask(client, target)).etag
    assert snapshots.current is not None
    no_table: Any = None
    dataset = msgspec.structs.replace(snapshots.current.dataset, stores=no_table)
    await snapshots.swap(msgspec.structs.replace(snapshots.current, dataset=dataset), Publication(generation=2))
    coding = f"Accept-Encoding: {accepted}"
    assert (await ask(client, target, condition.format(tag), coding)).status == 304
    assert (await ask(client, target, coding)).status == 500


@pytest.mark.parametrize("field", ["If-None-Match", "If-Match"])
@pytest.mark.parametrize(
    ("spec", "status"),
    [
        (RequestSpec("/nope", key=""), 404),
        (RequestSpec("/stores", method="POST", key=""), 405),
        (RequestSpec("/stores?limit=0", key="wrong"), 401),
        (RequestSpec("/companies/nobody", key=""), 401),
        (RequestSpec("/stores?limit=0"), 422),
        (RequestSpec("/companies/nobody"), 404),
        (RequestSpec("/companies/nobody", method="HEAD"), 404),
    ],
    ids=str,
)
async def test_errors_take_precedence_over_preconditions(
    client: Client, field: str, spec: RequestSpec, status: int
) -> None:
    for value in ("*", '"x"'):
        assert (await spec.send(client, f"{field}: {value}")).status == status


async def test_without_data_a_precondition_is_503(loading_client: Client) -> None:
    for field in ("If-None-Match: *", 'If-Match: "x"', "If-Unmodified-Since: Fri, 31 May 2024 10:00:00 GMT"):
        assert (await ask(loading_client, "/stores", field)).status == 503


@pytest.mark.parametrize("form", ['"{}"', "*", '"x", "{}"', 'W/"{0}", "{0}"', ', "a,b" ,"{}"'])
async def test_if_match_with_the_current_tag_is_200(client: Client, form: str) -> None:
    for target, method in product(TARGETS, METHODS):
        full = await ask(client, target, method=method)
        again = await ask(client, target, f"If-Match: {form.format(opaque(full))}", method=method)
        assert (again.status, again.body) == (200, full.body)


@pytest.mark.parametrize("form", ['W/"{}"', '"x"', '"x,{},y"', 'W/"{}", "x"', '"{}x"'])
async def test_if_match_without_the_current_strong_tag_is_412(client: Client, form: str) -> None:
    for target, method in product(TARGETS, METHODS):
        full = await ask(client, target)
        refused = await ask(client, target, f"If-Match: {form.format(opaque(full))}", method=method)
        assert refused.status == 412
        assert refused.headers["Cache-Control"] == "no-store"
        assert method == "HEAD" or refused.json() == {"detail": "The current entity tag is not in If-Match"}


async def test_if_match_is_evaluated_before_if_none_match(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    assert (await ask(client, "/stores", 'If-Match: "x"', f"If-None-Match: {tag}")).status == 412
    assert (await ask(client, "/stores", f"If-Match: {tag}", f"If-None-Match: {tag}")).status == 304
    assert (await ask(client, "/stores", f"If-Match: {tag}", 'If-None-Match: "x"')).status == 200


async def test_if_match_may_have_several_lines(client: Client) -> None:
    tag = (await ask(client, "/stores")).etag
    assert (await ask(client, "/stores", 'If-Match: "x"', f"If-Match: {tag}")).status == 200
