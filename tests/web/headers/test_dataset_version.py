"""X-Dataset-Version in a request: a response of that version, or 412."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from service.publishing.snapshot import Snapshot, SnapshotHolder
from service.publishing.workspace import Publication
from tests.directory import store, write_directory
from tests.loaded import snapshot
from tests.web.live import Client
from tests.web.reply import Reply, ask

FIELD = "X-Dataset-Version"
TARGETS = ("/stores", "/companies?limit=1", "/companies/acme")


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    """Return two data sets with the same identifiers."""
    folder = tmp_path_factory.mktemp("editions")
    named = [(name, [store(f"s{number}", name=name) for number in range(9)]) for name in ("one", "other")]
    return [snapshot(write_directory(folder / name, stores)) for name, stores in named]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_served_version_is_200_and_another_412_with_the_served_one(client: Client, method: str) -> None:
    for target in TARGETS:
        plain = await ask(client, target, method=method)
        version = plain.headers[FIELD]
        for same in ([version], [f"  {version}\t"], [version, version], [""], [" \t "]):
            answer = await ask(client, target, *(f"{FIELD}: {field}" for field in same), method=method)
            assert (answer.status, answer.body, answer.etag) == (200, plain.body, plain.etag)
        other = version[::-1] + "0"
        for fields in (["x"], [other], [version, other], [other, version], [version, "x", version], ["*"], ["é"]):
            refused = await ask(client, target, *(f"{FIELD}: {field}" for field in fields), method=method)
            assert (refused.status, refused.headers.getall(FIELD)) == (412, [version])
            assert refused.headers["Cache-Control"] == "no-store"
            assert method == "HEAD" or list(refused.json()) == ["detail"]


async def test_paths_without_data_ignore_it_and_without_data_it_is_503(loading_client: Client) -> None:
    for path, status in (("/openapi.json", 200), ("/docs", 200), ("/health", 200), ("/metrics", 200), ("/stores", 503)):
        assert (await ask(loading_client, path, f"{FIELD}: x")).status == status


async def _serve(snapshots: SnapshotHolder, edition: Snapshot) -> None:
    await snapshots.swap(edition, Publication(generation=edition.generation))


async def _page(client: Client, page_num: int, version: str) -> Reply:
    return await ask(client, f"/stores?limit=2&page_num={page_num}", f"{FIELD}: {version}", "Accept-Encoding: gzip")


@given(reloads=st.lists(st.sampled_from([None, 0, 1]), max_size=12))
async def test_paging_through_one_version_never_mixes_two(
    loading_client: Client, snapshots: SnapshotHolder, editions: Sequence[Snapshot], reloads: list[int | None]
) -> None:
    await _serve(snapshots, editions[0])
    shown: list[tuple[str, str]] = []
    version, page_num = "", 1
    while page_num <= 5:
        answer = await _page(loading_client, page_num, version)
        if answer.status == 412:
            shown, version, page_num = [], answer.headers[FIELD], 1  # start again
            continue
        assert version in ("", answer.headers[FIELD])
        version, page_num = answer.headers[FIELD], page_num + 1
        shown += [(record["store_id"], record["name"]) for record in answer.json()["data"]]
        if reloads and (edition := reloads.pop()) is not None:
            await _serve(snapshots, editions[edition])
    assert len({name for _, name in shown}) == 1
    assert [identifier for identifier, _ in shown] == [f"s{number}" for number in range(9)]
