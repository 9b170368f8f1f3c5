"""A cache that revalidates, as browsers do (RFC 9111), never shows outdated responses."""

import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.publishing.workspace import Publication
from tests.directory import company, store, write_directory
from tests.loaded import snapshot
from tests.web.live import Client
from tests.web.negotiation import acceptable
from tests.web.reply import Reply, ask

TARGETS = (
    "/stores",
    "/stores?limit=2",
    "/stores?limit=02&x=1",
    "/stores?limit=60&page_num=2",
    "/stores?city=nowhere",
    "/companies",
    "/companies?limit=60&page_num=2",
    "/companies/acme",
    "/stores/s0",
    "/stores?fields=store_id",
    "/stores?facets=city",
    "/stores?near=1,2&limit=2",
    "/stores?near=1.0,2&limit=2&fields=store_id,distance",
    "/stores?q=main",
    "/stores?q=main&facets=city",
    "/companies?q=one",
    "/clusters?bbox=-180,-90,180,90&zoom=3",
    "/clusters?zoom=03&bbox=-180,-90,180,90&city=nowhere",
)
ACCEPTED = ("", "gzip", "br, gzip;q=0.5", "zstd, identity;q=0", "*", "gzip, *;q=0")
ROWS = (1, 40, 120)


class Cache:
    """Stores every response by target and tag, and revalidates with all tags: a tag has one body."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stored: dict[str, dict[str, Reply]] = {}
        self._bodies: dict[str, bytes] = {}

    async def ask(self, target: str, accepted: str) -> Reply:
        """Return the response of the service, or the stored one that it confirms by 304."""
        stored, accept = self._stored.setdefault(target, {}), f"Accept-Encoding: {accepted}"
        condition = [f"If-None-Match: {', '.join(self._bodies)}"] if self._bodies else []
        answer = await ask(self._client, target, accept, *condition)
        if answer.status == 304 and answer.etag not in stored:  # an equivalent query
            answer = await ask(self._client, target, accept)
        if answer.status == 304:
            return stored[answer.etag]
        assert self._bodies.setdefault(answer.etag, answer.body) == answer.body
        stored[answer.etag] = answer
        return answer


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    """Return three data sets, with short, medium and long responses."""
    folder = tmp_path_factory.mktemp("editions")
    return [snapshot(_written(folder / str(rows), rows)) for rows in ROWS]


def _written(folder: Path, rows: int) -> Path:
    stores = [store(f"s{row}", name=f"{row} of {rows}", address_2=str(row) * 100) for row in range(rows)]
    return write_directory(folder, stores, [company(name=f"one of {rows}")])


async def serve(snapshots: SnapshotHolder, edition: Snapshot) -> None:
    await snapshots.swap(edition, Publication(generation=edition.generation))


Step = int | tuple[str, str]
STEPS = st.sampled_from(range(len(ROWS))) | st.tuples(st.sampled_from(TARGETS), st.sampled_from(ACCEPTED))


@given(steps=st.lists(STEPS, min_size=5, max_size=25))
async def test_a_revalidating_cache_matches_fresh_responses_across_reloads(
    loading_client: Client, snapshots: SnapshotHolder, editions: Sequence[Snapshot], steps: Sequence[Step]
) -> None:
    cache = Cache(loading_client)
    await serve(snapshots, editions[0])
    for step in steps:
        if isinstance(step, int):
            await serve(snapshots, editions[step])
            continue
        target, accepted = step
        cached, fresh = await cache.ask(target, accepted), await ask(loading_client, target)
        assert cached.plain == fresh.body
        assert cached.headers["X-Dataset-Version"] == fresh.headers["X-Dataset-Version"]
        assert cached.headers.get("Link") == fresh.headers.get("Link")
        assert cached.coding in acceptable(accepted)


async def test_a_response_during_a_reload_is_of_one_dataset(
    loading_client: Client, snapshots: SnapshotHolder, editions: Sequence[Snapshot]
) -> None:
    expected = {}
    for edition in editions:
        await serve(snapshots, edition)
        for target in TARGETS:
            fresh = await ask(loading_client, target)
            expected[target, fresh.headers["X-Dataset-Version"]] = fresh.body
    requests = list(product(TARGETS, ACCEPTED))
    responses = asyncio.gather(
        *[ask(loading_client, target, f"Accept-Encoding: {coding}") for target, coding in requests]
    )
    for turn in range(12):
        await serve(snapshots, editions[turn % len(editions)])
    body_by_tag: dict[str, bytes] = {}
    for (target, _), answer in zip(requests, await responses, strict=True):
        assert expected[target, answer.headers["X-Dataset-Version"]] == answer.plain
        assert body_by_tag.setdefault(answer.etag, answer.body) == answer.body
