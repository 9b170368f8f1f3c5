"""/embed/*: which files are served and how. What the element does is tested in a browser: tests/interop."""

from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Final

from service.publishing.snapshot import SnapshotHolder
from tests.directory import store, write_directory
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.endpoints.test_explorer_files import loaded, sent_bytes, static_imports
from tests.web.live import Client

FOLDER: Final = files("service.web") / "embed"
OWN: Final = sorted(file.name for file in FOLDER.iterdir())
LANGUAGES: Final = ["de.js", "es.js", "fr.js", "it.js", "ja.js", "nl.js"]
LOADED: Final = ["leaflet.css", "map.css", "countries.json", "provinces.json", "names.json", "service.json"]
MODULES: Final = [*OWN, "en.js", "map.js", "hours.js", "leaflet.js"]
PATHS: Final = [f"/embed/{name}" for name in (*MODULES, *LOADED)]
MOST_BYTES: Final = 20_000
MOST_FILES: Final = 7
MAPPING: Final = """
[stores.attributes]
has_parking = { from = "Parking", kind = "flag" }
web = { from = "Web", kind = "url", label = "Website", show = "never" }
"""


async def test_pages_of_any_origin_may_load_each_file_without_a_key(site_client: SiteClient) -> None:
    client = await site_client(cors_origin=("https://other.example",))
    expected = {
        "Cache-Control": "public, max-age=3600",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
        "Vary": "Accept-Encoding",
    }
    for path, origin in product(PATHS, ("https://shop.example", "https://other.example", "null")):
        response = await client.get(path, headers={"Origin": origin})
        assert (response.status, response.headers["ETag"][0]) == (200, '"')
        assert response.headers.getall("Access-Control-Allow-Origin") == ["*"]
        assert expected.items() <= dict(response.headers).items(), path
        again = await client.get(path, headers={"Origin": origin, "If-None-Match": response.headers["ETag"]})
        assert (again.status, again.headers.getall("Access-Control-Allow-Origin")) == (304, ["*"])
    for name in ("page.js", "page.html", "nope.js", "%2e%2e%2fsite.py", "documents.py", "style.css"):
        assert (await client.get(f"/embed/{name}")).status == 404


async def test_what_a_page_loads_before_the_first_list_is_small(client: Client) -> None:
    paths = await static_imports(client, "/embed/store-locator.js")
    assert "/embed/en.js" in paths
    assert len(paths) <= MOST_FILES
    assert await sent_bytes(client, paths) <= MOST_BYTES


async def test_what_a_module_loads_is_relative_and_is_there(client: Client) -> None:
    found = await loaded(client, "/embed/store-locator.js", *(f"/embed/{name}" for name in LANGUAGES))
    assert {f"/embed/{name}" for name in (*OWN, "map.js", "leaflet.js", "hours.js", "names.json")} <= found


async def test_the_library_is_a_module_that_leaves_nothing_behind(client: Client) -> None:
    module, script = [await (await client.get(path)).read() for path in ("/embed/leaflet.js", "/explorer/leaflet.js")]
    assert script in module
    assert module.rstrip().endswith(b"export default exports.noConflict();")


async def test_the_service_tells_what_the_element_shows(
    site_client: SiteClient, snapshots: SnapshotHolder, tmp_path: Path
) -> None:
    tiles = "https://t.example/{z}/{x}/{y}.png"
    client = await site_client(tiles=tiles, tiles_attribution="T", image_origin=("https://I.example",))
    known = {"tiles": tiles, "attribution": "T", "images": ["https://i.example"]}
    assert await (await client.get("/embed/service.json")).json() == {"attributes": [], **known}
    folder = write_directory(tmp_path / "data", [store("a", Parking="yes", Web="https://a.example")])
    (folder / "mapping.toml").write_text(MAPPING)
    await serve(snapshots, folder)
    known_to_it = await (await client.get("/embed/service.json")).json()
    assert known_to_it["attributes"] == [
        {"name": "has_parking", "kind": "flag", "label": "Has parking", "show": "card"},
        {"name": "web", "kind": "url", "label": "Website", "show": "never"},
    ]


async def test_it_is_served_without_the_explorer(site_client: SiteClient) -> None:
    assert (await (await site_client(no_explorer=True)).get("/embed/store-locator.js")).status == 200
