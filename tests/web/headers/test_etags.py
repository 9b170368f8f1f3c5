"""Entity tags: one for each answer that there can be."""

import re
from pathlib import Path
from urllib.request import urlopen

import pytest
from hypothesis import given, strategies as st

from service.snapshot.snapshot import SnapshotHolder
from tests.baking.made_up import baked_file
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.program import SECONDS, serving
from tests.web.live import COMPANIES, STORES, Client
from tests.web.questions import Question, questions, spelled
from tests.web.reply import ask

TARGETS = ("/stores", "/stores?city=Toronto&limit=1", "/companies?sort_order=desc", "/companies/acme")
DOCUMENTS = ("/openapi.json", "/docs", "/docs/page.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js")


def tag_told(address: str) -> str:
    with urlopen(address, timeout=SECONDS) as answer:  # noqa: S310 - an address of our own
        return str(answer.headers["ETag"])


@pytest.fixture
def told() -> dict[str, Question]:
    """Return what each tag was told of, over all that is drawn."""
    return {}


@pytest.mark.parametrize("target", TARGETS)
async def test_a_tag_is_strong_and_has_128_bits(client: Client, target: str) -> None:
    assert re.fullmatch('"[0-9a-f]{32}"', (await ask(client, target)).etag)


async def test_equal_queries_of_two_operations_have_different_tags(client: Client) -> None:
    for query in ("", "?limit=2", "?sort_order=desc", "?parent_company_id=acme", "?company_id=acme"):
        stores, companies = [await ask(client, f"/{name}{query}") for name in ("stores", "companies")]
        assert stores.etag != companies.etag
        assert (await ask(client, f"/companies{query}", f"If-None-Match: {stores.etag}")).status == 200


@given(st.data())
async def test_equivalent_queries_have_one_tag_and_different_ones_have_different_tags(
    client: Client, told: dict[str, Question], data: st.DataObject
) -> None:
    question = data.draw(questions())
    tags = {(await ask(client, f"/stores?{data.draw(spelled(question))}")).etag for _ in range(2)}
    assert len(tags) == 1
    assert told.setdefault(tags.pop(), question) == question


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
async def test_method_and_negotiation_of_errors_do_not_change_a_tag(client: Client, target: str) -> None:
    tag = (await ask(client, target)).etag
    assert (await ask(client, target, method="HEAD")).etag == tag
    assert (await ask(client, target, "Prefer: handling=strict")).etag == tag
    assert (await ask(client, target, "Accept-Encoding: identity", "Accept: application/problem+json")).etag == tag


@pytest.mark.parametrize("target", TARGETS)
async def test_a_tag_changes_with_the_data_and_not_with_a_reload(
    client: Client, snapshots: SnapshotHolder, data: Path, target: str
) -> None:
    first = (await ask(client, target)).etag
    await serve(snapshots, data)
    assert (await ask(client, target)).etag == first
    write_directory(data, [*STORES, store("s5", city="Elsewhere")], COMPANIES)
    await serve(snapshots, data)
    assert (await ask(client, target)).etag != first
    write_directory(data, STORES, COMPANIES)
    await serve(snapshots, data)
    assert (await ask(client, target)).etag == first


async def test_every_process_has_the_same_tags(client: Client, data: Path, tmp_path: Path) -> None:
    targets = (*TARGETS, "/stores?city=a&city=b&is_open=1&postal_code=x")
    tags = [(await ask(client, target)).etag for target in targets]
    with serving("--data", baked_file(data, tmp_path / "set.baked"), "--no-auth") as service:
        assert [tag_told(service.address + target) for target in targets] == tags


@pytest.mark.parametrize("path", DOCUMENTS)
async def test_a_document_has_a_strong_tag_and_is_revalidated_with_it(client: Client, path: str) -> None:
    whole = await ask(client, path)
    assert re.fullmatch('"[!#-~]+"', whole.etag)
    assert (whole.headers["Cache-Control"], whole.listed("Vary")) == ("no-cache", {"accept-encoding"})
    for method in ("GET", "HEAD"):
        kept = await ask(client, path, f'If-None-Match: "x", W/{whole.etag}', method=method)
        assert (kept.status, kept.body, kept.etag) == (304, b"", whole.etag)
        assert (kept.headers["Cache-Control"], kept.listed("Vary")) == ("no-cache", {"accept-encoding"})
        assert not {"content-type", "content-length"} & {name.lower() for name in kept.headers}
    assert (await ask(client, path, 'If-None-Match: "x"')).body == whole.body


async def test_documents_have_different_tags(client: Client) -> None:
    assert len({(await ask(client, path)).etag for path in DOCUMENTS}) == len(DOCUMENTS)
