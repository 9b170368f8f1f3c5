"""Entity tags: one for each representation."""

import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.publishing.snapshot import SnapshotHolder
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.web.live import COMPANIES, STORES, Client
from tests.web.queries import QuerySpec, query_specs, spellings_of
from tests.web.reply import ask

TARGETS = ("/stores", "/stores?city=Toronto&limit=1", "/companies?sort_order=desc", "/companies/acme")
DOCUMENTS = ("/openapi.json", "/docs", "/docs/page.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js")


@pytest.fixture
def query_of_tag() -> dict[str, QuerySpec]:
    """Return the query of each tag, over all examples."""
    return {}


@pytest.mark.parametrize("target", TARGETS)
async def test_a_tag_is_strong_and_has_128_bits(client: Client, target: str) -> None:
    assert re.fullmatch('"[0-9a-f]{32}"', (await ask(client, target)).etag)


@given(st.data())
async def test_equivalent_queries_have_one_tag_and_different_ones_have_different_tags(
    client: Client, query_of_tag: dict[str, QuerySpec], data: st.DataObject
) -> None:
    spec = data.draw(query_specs())
    tags = {(await ask(client, f"/stores?{data.draw(spellings_of(spec))}")).etag for _ in range(2)}
    assert len(tags) == 1
    assert query_of_tag.setdefault(tags.pop(), spec) == spec


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/stores?city=a&city=b", "/stores?city=a,b"),
        ("/stores?city=a&province=b", "/stores?city=b&province=a"),
        ("/stores?limit=1&page_num=2", "/stores?limit=2&page_num=1"),
        ("/stores?limit=11&page_num=1", "/stores?limit=1&page_num=11"),
        ("/stores", "/stores?page_num=" + "9" * 4300),
        ("/stores?page_num=1" + "0" * 30, "/stores?page_num=1" + "0" * 31),
        ("/stores?company_id=acme", "/stores?company_id=Acme"),
        ("/stores?company_id=a", "/stores?parent_company_id=a"),
        ("/stores", "/stores?is_open=true&is_open=false"),
        ("/companies", "/companies?sort_order=desc"),
    ],
)
async def test_different_queries_have_different_tags(client: Client, one: str, other: str) -> None:
    assert (await ask(client, one)).etag != (await ask(client, other)).etag


@pytest.mark.parametrize("target", TARGETS)
async def test_a_tag_changes_with_the_data_and_not_with_a_reload(
    client: Client, snapshots: SnapshotHolder, folder: Path, target: str
) -> None:
    first = (await ask(client, target)).etag
    await serve(snapshots, folder)
    assert (await ask(client, target)).etag == first
    write_directory(folder, [*STORES, store("s5", city="Elsewhere")], COMPANIES)
    await serve(snapshots, folder)
    assert (await ask(client, target)).etag != first
    write_directory(folder, STORES, COMPANIES)
    await serve(snapshots, folder)
    assert (await ask(client, target)).etag == first


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_a_document_has_a_strong_tag_and_is_revalidated_with_it(client: Client, path: str) -> None:
    full = await ask(client, path)
    assert re.fullmatch('"[!#-~]+"', full.etag)
    assert (full.headers["Cache-Control"], full.listed("Vary")) == ("no-cache", {"accept-encoding"})
    for method in ("GET", "HEAD"):
        not_modified = await ask(client, path, f'If-None-Match: "x", W/{full.etag}', method=method)
        assert (not_modified.status, not_modified.body, not_modified.etag) == (304, b"", full.etag)
        assert (not_modified.headers["Cache-Control"], not_modified.listed("Vary")) == ("no-cache", {"accept-encoding"})
        assert not {"content-type", "content-length"} & {name.lower() for name in not_modified.headers}
    assert (await ask(client, path, 'If-None-Match: "x"')).body == full.body


async def test_documents_have_different_tags(client: Client) -> None:
    assert len({(await ask(client, path)).etag for path in DOCUMENTS}) == len(DOCUMENTS)
