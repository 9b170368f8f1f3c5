"""A cache that revalidates what it has, as browsers do (RFC 9111): it never shows what is not served."""

import asyncio
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.snapshot.publication import Publication
from service.snapshot.snapshot import Snapshot, SnapshotHolder
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
)
ACCEPTED = ("", "gzip", "br, gzip;q=0.5", "zstd, identity;q=0", "*", "gzip, *;q=0")
ROWS = (1, 40, 120)


class Cache:
    """Stores every answer by target and tag, and revalidates with the tags of all targets: a tag has one body."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stored: dict[str, dict[str, Reply]] = {}
        self._bodies: dict[str, bytes] = {}

    async def ask(self, target: str, accepted: str) -> Reply:
        """Return an answer of the service, or the stored one that it says is still right."""
        stored, accept = self._stored.setdefault(target, {}), f"Accept-Encoding: {accepted}"
        condition = [f"If-None-Match: {', '.join(self._bodies)}"] if self._bodies else []
        answer = await ask(self._client, target, accept, *condition)
        if answer.status == 304 and answer.etag not in stored:  # the same query, written in another way
            answer = await ask(self._client, target, accept)
        if answer.status == 304:
            return stored[answer.etag]
        assert self._bodies.setdefault(answer.etag, answer.body) == answer.body
        stored[answer.etag] = answer
        return answer


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    """Return data sets of which one answers with few bytes, one with some, one with many."""
    folder = tmp_path_factory.mktemp("editions")
    return [snapshot(_written(folder / str(rows), rows)) for rows in ROWS]


def _written(folder: Path, rows: int) -> Path:
    stores = [store(f"s{row}", name=f"{row} of {rows}", address_2=str(row) * 100) for row in range(rows)]
    return write_directory(folder, stores, [company(name=f"one of {rows}")])


async def serve(replica: SnapshotHolder, edition: Snapshot) -> None:
    await replica.swap(edition, Publication(generation=edition.generation))


Step = int | tuple[str, str]
STEPS = st.sampled_from(range(len(ROWS))) | st.tuples(st.sampled_from(TARGETS), st.sampled_from(ACCEPTED))


@given(steps=st.lists(STEPS, min_size=5, max_size=25))
async def test_over_any_reloads_a_cache_shows_what_a_fresh_answer_would_say(
    loading_client: Client, replica: SnapshotHolder, editions: Sequence[Snapshot], steps: Sequence[Step]
) -> None:
    cache = Cache(loading_client)
    await serve(replica, editions[0])
    for step in steps:
        if isinstance(step, int):
            await serve(replica, editions[step])
            continue
        target, accepted = step
        shown, fresh = await cache.ask(target, accepted), await ask(loading_client, target)
        assert shown.plain == fresh.body
        assert shown.headers["X-Dataset-Version"] == fresh.headers["X-Dataset-Version"]
        assert shown.headers.get("Link") == fresh.headers.get("Link")
        assert shown.coding in acceptable(accepted)


async def test_answers_under_way_while_the_data_changes_are_wholly_of_one_data_set(
    loading_client: Client, replica: SnapshotHolder, editions: Sequence[Snapshot]
) -> None:
    expected = {}
    for edition in editions:
        await serve(replica, edition)
        for target in TARGETS:
            fresh = await ask(loading_client, target)
            expected[target, fresh.headers["X-Dataset-Version"]] = fresh.body
    asked = list(product(TARGETS, ACCEPTED))
    answering = asyncio.gather(*[ask(loading_client, target, f"Accept-Encoding: {coding}") for target, coding in asked])
    for turn in range(12):
        await serve(replica, editions[turn % len(editions)])
    tagged: dict[str, bytes] = {}
    for (target, _), answer in zip(asked, await answering, strict=True):
        assert expected[target, answer.headers["X-Dataset-Version"]] == answer.plain
        assert tagged.setdefault(answer.etag, answer.body) == answer.body
