"""/, /openapi.json and /docs: browsers are redirected to a page, other clients get the paths."""

import re
from itertools import product
from pathlib import Path

from service.publishing.snapshot import SnapshotHolder
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.web.conftest import Listeners, SiteClient
from tests.web.live import Client
from tests.web.reply import ask

METHODS = ("GET", "HEAD")
DOCUMENTS = ("/openapi.json", "/docs", "/docs/page.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js")
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


async def test_the_page_loads_only_assets_that_the_service_has(client: Client) -> None:
    response = await client.get("/docs")
    html = await response.text()
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "connect-src 'self'" in response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "://" not in html
    loaded = re.findall(r'(?:src|href)="(docs/[^"]+)"', html)
    assert len(loaded) == 3
    for path in loaded:
        assert (await client.get(f"/{path}")).status == 200


async def test_openapi_has_the_attributes_of_the_data_that_is_served(
    client: Client, snapshots: SnapshotHolder, tmp_path: Path, folder: Path
) -> None:
    data = write_directory(tmp_path / "attributes", [store("s1", Web="https://a.example")])
    web = 'web = { from = "Web", kind = "url", label = "Website", group = "Contact", show = "list" }'
    (data / "mapping.toml").write_text(f"[stores.attributes]\n{web}\n")
    await serve(snapshots, data)
    response = await client.get("/openapi.json")
    described = (await response.json())["components"]["schemas"]["StoreAttributes"]["properties"]["web"]
    assert {"x-label": "Website", "x-group": "Contact", "x-show": "list"}.items() <= described.items()
    assert snapshots.current is not None
    assert response.headers["X-Dataset-Version"] == snapshots.current.dataset.version
    await serve(snapshots, folder)
    assert "StoreAttributes" not in (await (await client.get("/openapi.json")).json())["components"]["schemas"]


async def test_a_browser_is_redirected_to_the_explorer(client: Client) -> None:
    for accept, method in product(
        (BROWSER, "text/html", "TEXT/HTML; q=0.5", "application/json;q=0.8, text/html"), METHODS
    ):
        response = await client.request(method, "/", headers={"Accept": accept}, allow_redirects=False)
        assert (response.status, await response.read()) == (307, b"")
        assert response.headers["Location"] == "explorer"  # relative: behind a proxy, / may be /prefix/
        assert (response.headers["Vary"], response.headers["Cache-Control"]) == ("Accept", "no-store")


async def test_another_client_gets_the_paths(client: Client) -> None:
    for accept in ("*/*", "", "application/json", "text/html;q=0", "text/html;q=0.9, application/json"):
        response = await client.get("/", headers={"Accept": accept})
        assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
        assert (response.headers["Vary"], response.headers["Cache-Control"]) == ("Accept", "no-store")
    paths = (await response.json())["paths"]
    assert paths["/stores"] == "List stores"
    assert paths.keys() >= {"/companies/{company_id}", "/clusters", "/ready", "/openapi.json", "/docs", "/explorer"}
    for path in (path for path in paths if "{" not in path):
        assert (await client.get(path)).status in (200, 401, 422), path


async def test_without_the_explorer_a_browser_is_redirected_to_the_documentation(site_client: SiteClient) -> None:
    client = await site_client(no_explorer=True)
    response = await client.get("/", headers={"Accept": BROWSER}, allow_redirects=False)
    assert (response.status, response.headers["Location"]) == (307, "docs")
    assert "/explorer" not in (await (await client.get("/")).json())["paths"]


async def test_the_admin_listener_has_neither(listeners: Listeners) -> None:
    _, admin = await listeners()
    for path in ("/", "/explorer", "/explorer/page.js"):
        assert (await admin.get(path, headers={"Accept": BROWSER})).status == 404


async def test_a_document_has_a_strong_tag_of_its_own_and_is_revalidated_with_it(client: Client) -> None:
    tags = set()
    for path in DOCUMENTS:
        full = await ask(client, path)
        tags.add(full.etag)
        assert re.fullmatch('"[!#-~]+"', full.etag)
        for method in METHODS:
            not_modified = await ask(client, path, f'If-None-Match: "x", W/{full.etag}', method=method)
            assert (not_modified.status, not_modified.body, not_modified.etag) == (304, b"", full.etag)
            for reply in (full, not_modified):
                assert (reply.headers["Cache-Control"], reply.listed("Vary")) == ("no-cache", {"accept-encoding"})
            assert not {"content-type", "content-length"} & {name.lower() for name in not_modified.headers}
        assert (await ask(client, path, 'If-None-Match: "x"')).body == full.body
    assert len(tags) == len(DOCUMENTS)
