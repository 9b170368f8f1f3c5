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


@pytest.fixture
async def version(client: Client) -> str:
    return (await ask(client, "/stores")).headers[FIELD]


@pytest.fixture(scope="module")
def editions(tmp_path_factory: pytest.TempPathFactory) -> list[Snapshot]:
    """Return two data sets with the same identifiers."""
    folder = tmp_path_factory.mktemp("editions")
    named = [(name, [store(f"s{number}", name=name) for number in range(9)]) for name in ("one", "other")]
    return [snapshot(write_directory(folder / name, stores)) for name, stores in named]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_served_version_is_200(client: Client, version: str, target: str, method: str) -> None:
    plain = await ask(client, target, method=method)
    for fields in ([version], [f"  {version}\t"], [version, version], [""], [" \t "]):
        answer = await ask(client, target, *(f"{FIELD}: {field}" for field in fields), method=method)
        assert (answer.status, answer.body, answer.etag) == (200, plain.body, plain.etag)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_another_version_is_412_with_the_served_one(
    client: Client, version: str, target: str, method: str
) -> None:
    other = version[::-1] + "0"
    for fields in (["x"], [other], [version, other], [other, version], [version, "x", version], ["*"], ["é"]):
        refused = await ask(client, target, *(f"{FIELD}: {field}" for field in fields), method=method)
        assert (refused.status, refused.headers.getall(FIELD)) == (412, [version])
        assert refused.headers["Cache-Control"] == "no-store"
        assert refused.listed("Vary") == {"accept", "prefer", "x-dataset-version", "x-api-key"}
        assert method == "HEAD" or list(refused.json()) == ["detail"]


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/health", "/ready", "/metrics"])
async def test_paths_without_data_ignore_it(client: Client, path: str) -> None:
    assert (await ask(client, path, f"{FIELD}: x")).status == 200


async def test_without_data_it_is_503(loading_client: Client) -> None:
    assert (await ask(loading_client, "/stores", f"{FIELD}: x")).status == 503


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
