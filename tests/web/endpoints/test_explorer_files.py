"""/explorer: which files are served and how. What the page does is tested in a browser: tests/interop."""

import posixpath
import re
from collections.abc import Iterable
from importlib.resources import files

import msgspec
import pytest

from tests.web.conftest import SiteClient
from tests.web.live import KEY, Client

FOLDER = files("service.web") / "explorer"
NAMES = sorted(file.name for file in FOLDER.iterdir() if file.name != "page.html")
PATHS = ["/explorer", *(f"/explorer/{name}" for name in (*NAMES, "leaflet.css", "leaflet.js"))]
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
MODULES = [name for name in NAMES if name.endswith(".js")]
# What the first view does not wait for; the names on the map come with it.
LATER = ("provinces.json", "names.json", "hours.js", "takeaway.js")
FIRST_VIEW = ["/explorer", "/docs/key.js", *(path for path in PATHS[1:] if not path.endswith(LATER))]
MOST_BYTES = 125_000
MOST_BYTES_OF_NAMES = 60_000
# All but where a person follows a link to.
ELSEWHERE = re.compile(r"https?://(?!\$|maps\.apple\.com/\?|www\.google\.com/maps/dir/\?|schema\.org\b)")
# Files of other projects, which are served as they are.
OF_OTHERS = ("leaflet.js", "leaflet.css", "swagger-ui.css", "swagger-ui-bundle.js")


class BaseMap(msgspec.Struct, forbid_unknown_fields=True):
    """The lines of a map."""

    source: str
    steps: int
    land: list[str]
    countries: list[str]
    provinces: list[str]


class MapNames(msgspec.Struct, forbid_unknown_fields=True):
    """The names on a map: a text, its longitude and latitude, the zoom from which on it is shown."""

    source: str
    countries: list[tuple[str, float, float, int]]
    provinces: list[tuple[str, float, float, int]]


async def test_each_file_has_its_media_type_a_strong_tag_and_its_policy(client: Client) -> None:
    texts = {"": "html", ".js": "javascript", ".css": "css"}
    for path in PATHS:
        ending = posixpath.splitext(path)[1]
        kind = f"text/{texts[ending]}; charset=utf-8" if ending in texts else "application/json"
        expected = {
            "Content-Type": "image/svg+xml" if ending == ".svg" else kind,
            "Cache-Control": "no-cache",
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }
        response = await client.get(path)
        assert (response.status, response.headers["ETag"][0]) == (200, '"')
        assert expected.items() <= dict(response.headers).items(), path
        assert (await client.get(path, headers={"If-None-Match": response.headers["ETag"]})).status == 304


async def test_modules_are_sent_without_comments_and_files_of_other_projects_as_they_are(client: Client) -> None:
    page, leaflet = [await (await client.get(f"/explorer/{name}")).text() for name in ("page.js", "leaflet.js")]
    assert "watchMenus();\nstate.addEventListener" in page
    assert re.findall(r"(?m)^\s*(?://|/\*\*(?!.*\*/ *\()).*", page) == []
    assert leaflet.encode() == (files("service.web") / "vendored" / "leaflet" / "leaflet.js").read_bytes()


async def test_no_other_file_is_served(client: Client) -> None:
    for path in (
        *("page.html", "nope.js", "%2e%2e%2fsite.py", "..%2f__init__.py", "../site.py", "leaflet-src.js"),
        "leaflet.js.map",
    ):
        assert (await client.get(f"/explorer/{path}")).status == 404, path


async def loaded(client: Client, *starts: str) -> set[str]:
    """Return the paths of pages and modules and of all that they load, which is there, and nothing of elsewhere."""
    seen, waiting = set[str](), {*starts}
    while waiting:
        seen.add(path := waiting.pop())
        response = await client.get(path)
        assert response.status == 200, path
        if response.content_type.startswith("text/") and not path.endswith(OF_OTHERS):
            text = re.sub(r"/\*\*.*?\*/", "", await response.text(), flags=re.DOTALL)  # types are no imports
            assert "innerHTML =" not in text, path
            assert ELSEWHERE.findall(text) == [], path
            named = re.findall(r'(?:src=|href=|from|import\(|fileUrl\()\s*"((?!data:)[^"#]+)"', text)
            waiting |= {posixpath.normpath(posixpath.join(path, "..", each)) for each in named} - seen
    return seen


async def test_what_the_page_and_its_modules_load_is_relative_and_is_there(client: Client) -> None:
    modules = {f"/explorer/{name}" for name in MODULES}
    assert {*modules, "/explorer/style.css", "/docs/key.js", "/docs"} <= await loaded(client, "/explorer")


async def static_imports(client: Client, path: str) -> set[str]:
    """Return the paths of a module and of all that it imports before it runs."""
    found, waiting = {path}, [path]
    while waiting:
        importing = waiting.pop()
        script = await (await client.get(importing)).text()
        imported = re.findall(r'^import [^"]*"(\.[^"]+)"', script, re.MULTILINE)
        new = {posixpath.normpath(posixpath.join(importing, "..", each)) for each in imported} - found
        found |= new
        waiting += new
    return found


async def test_what_runs_before_the_first_rows_is_preloaded_and_nothing_else(client: Client) -> None:
    html = await (await client.get("/explorer")).text()
    preloaded = [f"/{path}" for path in re.findall(r'rel="modulepreload".* href="([^"]+)"', html)]
    first = await static_imports(client, "/explorer/results.js")
    assert set(preloaded) | {"/explorer/results.js"} == await static_imports(client, "/explorer/page.js")
    assert set(preloaded[: len(first) - 1]) | {"/explorer/results.js"} == first  # its request waits for no other


async def sent_bytes(client: Client, paths: Iterable[str]) -> int:
    """Return the length of files as they are sent to a browser."""
    responses = [await client.get(path, headers={"Accept-Encoding": "gzip"}) for path in paths]
    return sum(int(response.headers["Content-Length"]) for response in responses)


async def test_the_first_view_is_small(client: Client) -> None:
    assert await sent_bytes(client, FIRST_VIEW) <= MOST_BYTES
    assert await sent_bytes(client, ["/explorer/names.json"]) <= MOST_BYTES_OF_NAMES


@pytest.mark.parametrize(("no_auth", "key"), [(False, "needed"), (True, "")])
async def test_the_page_knows_whether_a_key_is_needed(site_client: SiteClient, key: str, *, no_auth: bool) -> None:
    html = await (await (await site_client(no_auth=no_auth)).get("/explorer")).text()
    assert f'data-key="{key}"' in html
    assert KEY not in html
    assert 'data-members="store_id company_id ' in html
    assert "{" not in html


async def test_the_origins_of_tiles_and_images_are_allowed_for_images_and_no_others(site_client: SiteClient) -> None:
    tiles, origins = (
        "https://Tiles.example:8443/{z}/{x}/{y}.png?a=1&b=2",
        ("https://A.example", "https://b.example:8443"),
    )
    client = await site_client(tiles=tiles, tiles_attribution='© "A" <b>', image_origin=origins)
    response = await client.get("/explorer")
    allowed = "img-src 'self' https://tiles.example:8443 https://a.example https://b.example:8443;"
    assert response.headers["Content-Security-Policy"] == POLICY.replace("img-src 'self';", allowed)
    html = await response.text()
    assert 'data-tiles="https://Tiles.example:8443/{z}/{x}/{y}.png?a=1&amp;b=2"' in html
    assert 'data-attribution="© &quot;A&quot; &lt;b&gt;"' in html
    assert 'data-images="https://a.example https://b.example:8443"' in html


async def test_it_can_be_turned_off(client: Client, site_client: SiteClient) -> None:
    assert '<a href="explorer">' in await (await client.get("/docs")).text()
    client = await site_client(no_explorer=True)
    assert [(await client.get(path)).status for path in ("/explorer", "/explorer/page.js", "/docs")] == [404, 404, 200]
    assert 'href="explorer"' not in await (await client.get("/docs")).text()


@pytest.mark.parametrize("name", ["countries.json", "provinces.json"])
def test_a_base_map_has_its_source_and_lines_within_the_world(name: str) -> None:
    base_map = msgspec.json.decode((FOLDER / name).read_bytes(), type=BaseMap)
    assert "Natural Earth" in base_map.source
    assert "public domain" in base_map.source
    assert bool(base_map.provinces) == (name == "provinces.json")
    lines = [decoded(line, base_map.steps) for line in (*base_map.land, *base_map.countries, *base_map.provinces)]
    assert all(-180 <= x <= 180 and -60 <= y <= 84 for line in lines for x, y in line)
    assert all(len(line) > 1 for line in lines)
    assert all(line[0] == line[-1] for line in lines[: len(base_map.land)])


def test_the_names_on_the_map_have_their_source_and_are_within_the_world() -> None:
    names = msgspec.json.decode((FOLDER / "names.json").read_bytes(), type=MapNames)
    assert "Natural Earth" in names.source
    assert {code for code, *_ in names.countries} >= {"CA", "DE", "FR", "JP", "US"}
    assert all(len(code) == 2 for code, *_ in names.countries)
    for _, longitude, latitude, zoom in (*names.countries, *names.provinces):
        assert (abs(longitude) <= 180, abs(latitude) <= 90, 2 <= zoom <= 10) == (True, True, True)


def decoded(text: str, steps: int) -> list[tuple[float, float]]:
    """Return the longitudes and latitudes of an encoded polyline."""
    numbers, number, shift = list[int](), 0, 0
    for character in text:
        bits = ord(character) - 63
        number |= (bits & 31) << shift
        shift += 5
        if bits < 32:
            numbers.append(~(number >> 1) if number & 1 else number >> 1)
            number = shift = 0
    x = y = 0
    points = []
    for across, up in zip(numbers[::2], numbers[1::2], strict=True):
        x, y = x + across, y + up
        points.append((x / steps, y / steps))
    return points
