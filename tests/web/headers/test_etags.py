"""Entity tags: one for each representation."""

import re
from pathlib import Path

from service.publishing.snapshot import SnapshotHolder
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.web.live import COMPANIES, STORES, Client
from tests.web.reply import ask

TARGETS = ("/stores", "/stores?city=Toronto&limit=1", "/companies?sort_order=desc", "/companies/acme")
DOCUMENTS = ("/openapi.json", "/docs", "/docs/page.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js")


async def test_a_tag_is_strong_and_changes_with_the_data_and_not_with_a_reload(
    client: Client, snapshots: SnapshotHolder, folder: Path
) -> None:
    async def tags() -> list[str]:
        return [(await ask(client, target)).etag for target in TARGETS]

    first = await tags()
    assert all(re.fullmatch('"[0-9a-f]{32}"', tag) for tag in first)
    await serve(snapshots, folder)
    assert await tags() == first
    write_directory(folder, [*STORES, store("s5", city="Elsewhere")], COMPANIES)
    await serve(snapshots, folder)
    assert not set(await tags()) & set(first)
    write_directory(folder, STORES, COMPANIES)
    await serve(snapshots, folder)
    assert await tags() == first


async def test_a_document_has_a_strong_tag_of_its_own_and_is_revalidated_with_it(client: Client) -> None:
    tags = set()
    for path in DOCUMENTS:
        full = await ask(client, path)
        tags.add(full.etag)
        assert re.fullmatch('"[!#-~]+"', full.etag)
        for method in ("GET", "HEAD"):
            not_modified = await ask(client, path, f'If-None-Match: "x", W/{full.etag}', method=method)
            assert (not_modified.status, not_modified.body, not_modified.etag) == (304, b"", full.etag)
            for reply in (full, not_modified):
                assert (reply.headers["Cache-Control"], reply.listed("Vary")) == ("no-cache", {"accept-encoding"})
            assert not {"content-type", "content-length"} & {name.lower() for name in not_modified.headers}
        assert (await ask(client, path, 'If-None-Match: "x"')).body == full.body
    assert len(tags) == len(DOCUMENTS)
