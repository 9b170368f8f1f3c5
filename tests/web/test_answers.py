"""An answer that was just given is what would be made: nothing of a request is forgotten."""

from collections.abc import Sequence
from itertools import product
from math import inf
from pathlib import Path

import pytest

from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline import answers
from tests.directory import company, store, write_directory
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import stable_fields
from tests.web.reply import Reply, ask

TARGETS = (
    *("/stores?limit=2", "/stores?limit=2&x=1", "/stores?city=nowhere", "/stores/s1", "/companies?limit=2"),
    *("/companies/acme", "/companies/a%2Fb%20c", "/clusters?bbox=-180,-90,180,90&zoom=3"),
    *("/openapi.json", "/stores.csv"),
)
FIELDS: Sequence[Sequence[str]] = (
    (),
    ("Prefer: handling=strict",),
    ("Accept: application/geo+json",),
    ("Accept-Encoding: gzip",),
    ("Accept-Encoding: gzip, identity;q=0",),
    ("Accept-Encoding: br",),
    ("X-Dataset-Version: other",),
    ("If-None-Match: *",),
    ("If-Match: *",),
    ('If-Match: "other"',),
    ("If-None-Match: *", "Accept-Encoding: gzip"),
)


def seen(reply: Reply) -> tuple[int, dict[str, str], bytes]:
    return reply.status, stable_fields(reply.headers), reply.body


async def test_each_answer_is_that_of_a_service_without_the_cache_whatever_was_asked_before(
    site_client: SiteClient,
) -> None:
    kept, made = await site_client(), await site_client(response_cache=0)
    expected = {
        (target, *fields): seen(await ask(made, target, *fields)) for target, fields in product(TARGETS, FIELDS)
    }
    for order in (FIELDS, FIELDS, FIELDS[::-1]):
        for target, fields in product(TARGETS, order):
            assert seen(await ask(kept, target, *fields)) == expected[target, *fields], (target, fields)
    for target in TARGETS:
        reply = await ask(kept, target, method="HEAD")
        assert (reply.status, stable_fields(reply.headers), reply.body) == (*expected[(target,)][:2], b"")


async def test_a_swap_ends_all_kept_answers(site_client: SiteClient, snapshots: SnapshotHolder, tmp_path: Path) -> None:
    client = await site_client()
    before = [await ask(client, target) for target in TARGETS for _ in range(2)]
    await serve(snapshots, write_directory(tmp_path / "other", [store("s1", name="Other")], [company("acme")]))
    after = [await ask(client, target) for target in TARGETS for _ in range(2)]
    versions = {reply.headers["X-Dataset-Version"] for reply in after if "X-Dataset-Version" in reply.headers}
    assert versions == {snapshots.current.dataset.version if snapshots.current else ""}
    assert not versions & {reply.headers.get("X-Dataset-Version") for reply in before}


@pytest.mark.parametrize("cached", [0, 1])
async def test_errors_are_not_kept(site_client: SiteClient, cached: int) -> None:
    client = await site_client(response_cache=cached)
    for target, status in (("/stores?limit=0", 422), ("/companies/none", 404), ("/nothing", 404)):
        assert [(await ask(client, target)).status for _ in range(2)] == [status, status]
    metrics = (await ask(client, "/metrics")).body.decode()
    assert 'store_directory_response_cache_total{result="hit"} 0.0' in metrics


async def test_requests_that_were_sent_once_are_forgotten_when_they_are_many(
    site_client: SiteClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_MOST_ONCE", 2)
    monkeypatch.setattr(answers, "_LONG", inf)
    client = await site_client()
    for number in (1, 2, 3, 1, 1, 1):
        await ask(client, f"/stores?limit={number}")
    metrics = (await ask(client, "/metrics")).body.decode()
    assert 'store_directory_response_cache_total{result="hit"} 1.0' in metrics
    assert 'store_directory_response_cache_total{result="miss"} 5.0' in metrics
