"""The explorer in Chromium, as a person uses it. No request leaves the origin, and nothing is reported as an error."""

import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, ViewportSize, expect

from tests.directory import company, store, write_directory
from tests.interop.caching_proxies import listens
from tests.interop.conftest import Served, serving_stores
from tests.interop.explored import DESKTOP, PHONE, Visit, serious_violations
from tests.interop.software import found, running
from tests.program import Running, eventually, run

pytestmark = pytest.mark.process

KEY = "the-key"
# A PNG of one pixel.
PIXEL = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
EVIL = "<img src=x onerror=alert(1)>"
STORES = [
    store(f"s{number:03}", name=f"Shop {number:03}", city="Toronto" if number % 2 else "Ottawa", country="CA",
          company_id="acme", latitude=f"{43 + number / 100:.2f}", longitude="-79.40", is_open=number % 3 > 0)
    for number in range(120)
]  # fmt: skip
STORES += [
    store("evil", name=EVIL, city=EVIL, country="US", company_id="evil", latitude="40.7", longitude="-74.0"),
    store("tokyo", name="東京駅前店", city="千代田区", country="JP", latitude="35.68", longitude="139.76"),
]
COMPANIES = [company("acme", name="Acme Ltd", domain="acme.example"), company("evil", name=EVIL, domain=EVIL)]


class Go(Protocol):
    """Opens a path of the service in a new browser; with the key in the link unless `key` is None."""

    def __call__(self, path: str, *allowed: int, key: str | None = KEY, **options: Any) -> Visit: ...


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving_stores(tmp_path_factory.mktemp("explorer"), STORES, "--api-key", KEY, companies=COMPANIES) as serves:
        yield serves


@pytest.fixture
def go(visits: Any, service: Running) -> Go:
    def opened(path: str, *allowed: int, key: str | None = KEY, **options: Any) -> Visit:
        visit: Visit = visits(service.address, *allowed, **options)
        link = path if key is None else f"{path}#key={key}" if "#" not in path else path.replace("#", f"#key={key}&")
        return visit.open(link)

    return opened


def test_the_link_shows_the_stores_and_its_key_leaves_the_address(go: Go) -> None:
    visit = go("/explorer").wait("122 stores found")
    assert len(visit.rows()) == 50
    assert visit.fragment == ""
    assert KEY not in visit.page.evaluate("document.documentElement.outerHTML + document.cookie + location.href")
    visit.page.reload()
    visit.wait("122 stores found")


def test_the_first_request_waits_for_no_other_module_and_the_map_for_the_rows(go: Go) -> None:
    visit = go("/health")  # of the origin, with nothing to load
    held, released, requested = dict[str, Route](), set[str](), list[str]()

    def hold(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path in released:
            route.continue_()
        else:
            held[path] = route

    def release(path: str) -> None:
        released.add(path)
        if path in held:
            held[path].continue_()

    visit.page.on("request", lambda request: requested.append(urlsplit(request.url).path))
    visit.page.route(re.compile(r"/explorer/page\.js|/stores\?sort_by"), hold)
    with visit.page.expect_request("**/stores?*"):
        visit.page.evaluate(f"location = '/explorer#key={KEY}'")
    assert visit.page.locator("#menus summary").count() == 0
    release("/explorer/page.js")
    visit.page.locator("#menus summary").first.wait_for()
    assert "/explorer/map.js" not in requested
    release("/stores")
    visit.page.locator(".cluster").first.wait_for()
    visit.page.locator("footer .version").wait_for()
    visit.page.wait_for_load_state("networkidle")
    assert "/openapi.json" not in requested  # these stores have no attributes


def test_the_root_leads_a_browser_to_the_page(go: Go) -> None:
    visit = go("/").wait("122 stores found")
    assert visit.page.url.endswith("/explorer?sort_by=name")


def test_typing_searches_and_the_back_button_returns(go: Go) -> None:
    visit = go("/explorer").wait("122 stores found")
    visit.page.get_by_role("combobox", name="Search stores").press_sequentially("shop 007")
    visit.wait("1 store found")
    assert visit.query == "sort_by=name&q=shop+007"
    assert visit.page.locator("td.name mark").all_inner_texts() == ["Shop", "007"]
    visit.page.go_back()
    visit.wait("122 stores found")
    assert visit.page.get_by_role("combobox", name="Search stores").input_value() == ""
    visit.page.go_forward()
    visit.wait("1 store found")


def test_filters_have_counts_and_become_chips(go: Go) -> None:
    visit = go("/explorer").wait("122 stores found")
    visit.page.locator("summary[data-menu=city]").click()
    visit.page.get_by_label("Toronto 60").check()
    visit.wait("60 stores found")
    assert visit.query == "sort_by=name&city=Toronto"
    visit.page.get_by_label("Ottawa 60").check()  # counted as if the city were not chosen
    visit.wait("120 stores found")
    assert visit.query == "sort_by=name&city=Toronto&city=Ottawa"
    visit.page.keyboard.press("Escape")
    visit.click("button", "Remove City: Toronto")
    visit.wait("60 stores found")
    visit.page.locator("#more > summary").click()
    visit.page.locator("summary[data-menu=is_open]").click()
    visit.page.get_by_label("Closed permanently 20").check()
    visit.wait("20 stores found")
    visit.click("button", "Clear all")
    visit.wait("122 stores found")
    assert visit.query == "sort_by=name"


@pytest.mark.parametrize(
    ("name", "value", "early"),
    [("city", "Bridgwater", False), ("company_id", "Water Ltd", False), ("province", "Water", True)],
)
def test_typing_in_a_menu_finds_every_value(visits: Any, served: Served, name: str, value: str, early: bool) -> None:  # noqa: FBT001 - a case of the test
    towns = [
        store(f"s{number}", name="Shop", address_1="1 Bridgwater Rd", city=f"Town {number // 2}",
              company_id=f"c{number // 2}", province=f"P{number // 2}")
        for number in range(300)
    ]  # fmt: skip
    place = {"latitude": "51.1", "longitude": "-3"}
    rare = {"name": "Shop", "city": "Bridgwater", "company_id": "rare", "province": "Water", **place}
    companies = [company("rare", name="Water Ltd"), *(company(f"c{number}") for number in range(150))]
    stores = [*towns, store("r1", **rare), store("r2", **rare, is_open=False)]
    visit: Visit = visits(served(stores, companies=companies).address)
    menu = visit.page.locator(f"summary[data-menu={name}]")
    with visit.holding("**/stores?*facets=country*"):
        visit.open("/explorer?q=sho&is_open=true")
        if early:
            menu.click()
    visit.wait("301 stores found")
    if not early:
        menu.click()
    note = visit.page.get_by_text("51 values are not listed")
    note.wait_for()
    visit.page.keyboard.type(value[:-2].lower())  # its field has the focus
    visit.page.get_by_label(f"{value} 1").check()
    visit.wait("1 store found")
    assert not note.is_visible()
    visit.page.get_by_label(f"{value} 1").wait_for()
    assert visit.page.locator("details[open] .choice").count() == 1


def test_suggestions_turn_words_into_filters(go: Go) -> None:
    visit = go("/explorer").wait("122 stores found")
    visit.page.get_by_role("combobox", name="Search stores").press_sequentially("toron")
    visit.page.get_by_role("option", name=re.compile("City.*Toronto")).click()
    visit.page.get_by_role("button", name="Remove City: Toronto").wait_for()
    visit.wait("60 stores found")
    assert visit.query == "sort_by=name&city=Toronto"


def test_pages_and_order(go: Go) -> None:
    visit = go("/explorer?country=CA").wait("120 stores found")
    visit.click("button", "Next page")
    visit.page.get_by_text(re.compile("51.100 of 120 stores")).wait_for()
    assert visit.query == "country=CA&sort_by=name&page_num=2"
    visit.click("button", "Name")
    visit.page.locator("th[aria-sort=descending]").wait_for()
    visit.page.get_by_text(re.compile("^1.50 of 120 stores")).wait_for()
    assert visit.query == "country=CA&sort_by=name&sort_order=desc"
    assert visit.rows()[0] == "Shop 119"


def test_columns_are_fields_of_the_request(go: Go) -> None:
    visit = go("/explorer?country=JP").wait("1 store found")
    visit.page.locator("#columns-menu summary").click()
    visit.page.locator("#columns").get_by_label("Longitude").check()
    visit.page.get_by_role("columnheader", name="Longitude").wait_for()
    assert visit.query == "country=JP&sort_by=name&fields=name,address_1,city,country,longitude"
    assert visit.page.locator("td.longitude").inner_text() == "139.76"


def test_a_row_opens_its_card_and_escape_returns_to_it(go: Go) -> None:
    visit = go("/explorer?q=007").wait("1 store found")
    visit.page.get_by_role("link", name="Shop 007").press("Enter")
    card = visit.page.get_by_role("complementary", name="Store")
    card.get_by_role("heading", name="Shop 007").wait_for()
    assert card.get_by_role("link", name="Website").get_attribute("href") == "https://acme.example"
    assert visit.fragment == "store=s007"
    visit.page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    assert visit.page.evaluate("document.activeElement.textContent") == "Shop 007"


def test_a_store_that_is_gone_is_said_to_be(go: Go) -> None:
    visit = go("/explorer#store=nobody", 404)
    visit.page.get_by_text("This store is not in the data").wait_for()


def test_companies_have_their_names_however_long_their_identifiers_are(visits: Any, served: Served) -> None:
    ids = [f"{'会社' * 20}{number}" for number in range(50)]
    stores = [store(f"s{number}", company_id=each, city="Ōsaka") for number, each in enumerate(ids)]
    companies = [company(each, name=f"Company {number}") for number, each in enumerate(ids)]
    visit = visits(served(stores, companies=companies).address).open("/explorer?fields=company_id")
    visit.wait("50 stores found")
    visit.page.get_by_role("cell", name="Company 49", exact=True).wait_for()


def test_values_that_differ_for_filters_are_chosen_one_by_one(visits: Any, served: Served) -> None:
    stores = [store("s1", city="Montréal"), store("s2", city="Montreal"), store("s3", city="montréal")]
    visit = visits(served(stores).address).open("/explorer?city=MONTR%C3%89AL")
    visit.wait("2 stores found")
    visit.page.locator("summary[data-menu=city]").click()
    visit.page.get_by_label("Montréal 2").wait_for()
    assert visit.page.locator("details[open] input:checked").count() == 1
    visit.page.get_by_label("Montreal 1").check()
    visit.wait("3 stores found")


def test_attributes_are_shown_filtered_and_columns(visits: Any, served: Served) -> None:
    stores = [
        store("s1", name="One", service="wifi;parking", through=True, site=f"https://one.example/{'a' * 80}/"),
        store("s2", name="Two", service="wifi", through=False),
        store("s3", name="Three"),
    ]
    mapping = (
        '[stores.attributes]\nservices = {from = "service", kind = "list"}\n'
        'drive = {from = "through", kind = "flag"}\nweb = {from = "site", kind = "url"}\n'
    )
    visit = visits(served(stores, mapping=mapping).address).open("/explorer#store=s1")
    visit.wait("3 stores found")
    card = visit.page.get_by_role("complementary", name="Store")
    link = card.get_by_role("link", name="one.example/a")
    assert link.get_attribute("href") == f"https://one.example/{'a' * 80}/"
    assert link.bounding_box()["height"] < 30  # in one line, however long it is
    assert card.get_by_role("listitem").all_inner_texts() == ["wifi", "parking"]
    visit.page.keyboard.press("Escape")
    visit.page.locator("#more > summary").click()
    visit.page.locator("summary[data-menu='attributes.services']").click()
    visit.page.get_by_label("parking 1").check()
    visit.wait("1 store found")
    visit.page.get_by_label("wifi 2").check()  # counted as if no service were chosen
    visit.wait("2 stores found")
    visit.page.locator("summary[data-menu='attributes.drive']").click()
    visit.page.get_by_label("No 1", exact=True).check()
    visit.wait("1 store found")
    assert visit.query == ("sort_by=name&attributes.services=parking&attributes.services=wifi&attributes.drive=false")
    visit.page.locator("#columns-menu summary").click()
    visit.page.locator("#columns").get_by_label("Services").check()
    visit.page.get_by_role("cell", name="wifi", exact=True).wait_for()
    visit.page.get_by_role("button", name="Remove Drive: No").wait_for()


def test_values_of_the_data_are_text(go: Go) -> None:
    visit = go("/explorer?country=US&country=JP#store=evil").wait("2 stores found")
    visit.page.get_by_role("complementary", name="Store").get_by_role("heading", name=EVIL).wait_for()
    visit.page.locator("summary[data-menu=company_id]").click()
    visit.page.locator("details[open] .choice", has_text=EVIL).wait_for()
    visit.page.locator(".leaflet-container").wait_for()
    assert visit.rows() == [EVIL, "東京駅前店"]
    assert visit.page.locator("img[src=x]").count() == 0


def test_a_shared_address_asks_for_a_key_and_then_shows_the_same(go: Go) -> None:
    visit = go("/explorer?city=ottawa&sort_by=name", 401, key=None)
    visit.page.get_by_role("heading", name="An API key is needed").wait_for()
    visit.page.get_by_label("API key").fill("wrong")
    visit.click("button", "Open")
    visit.page.get_by_text("The service does not accept this key").wait_for()
    visit.page.get_by_label("API key").fill(KEY)
    visit.page.get_by_label("Remember on this device").check()
    visit.click("button", "Open")
    visit.wait("60 stores found")
    other = visit.page.context.new_page()
    other.goto(visit.page.url)
    other.get_by_role("heading", name="60 stores found").wait_for()
    visit.page.locator("#key-menu summary").click()
    visit.click("button", "Forget the key")
    visit.page.get_by_role("heading", name="An API key is needed").wait_for()
    assert visit.page.evaluate("localStorage.length + sessionStorage.length") == 0


def test_a_link_with_another_key_is_taken_in_the_same_tab(go: Go) -> None:
    visit = go("/explorer", 401, key="wrong")
    visit.page.get_by_text("The service does not accept this key").wait_for()
    visit.page.evaluate(f"location.hash = 'key={KEY}'")
    visit.wait("122 stores found")
    visit.page.get_by_role("link", name="Shop 001").click()
    visit.page.get_by_role("complementary", name="Store").get_by_role("heading", name="Shop 001").wait_for()
    assert visit.fragment == "store=s001"


def test_an_invalid_address_is_explained(go: Go) -> None:
    visit = go("/explorer?near=here&limit=0&sort_by=nam", 422)
    visit.page.get_by_text("Expected latitude,longitude in decimal degrees").wait_for()
    visit.page.get_by_text("There is no such value.").wait_for()
    visit.click("button", "Did you mean name?")
    visit.click("button", "Remove near")
    visit.click("button", "Remove rows per page")
    visit.wait("122 stores found")
    assert visit.query == "sort_by=name"


def test_nothing_found_says_what_to_do(go: Go) -> None:
    visit = go("/explorer?q=nothing+like+this")
    visit.page.get_by_role("heading", name="No store matches").wait_for()
    visit.page.locator("#empty").get_by_role("button", name="Clear all").click()
    visit.wait("122 stores found")


def test_near_me_sorts_by_distance(go: Go) -> None:
    place = {"latitude": 43.5, "longitude": -79.4}
    visit = go("/explorer?sort_by=updated_at&sort_order=desc", geolocation=place, permissions=["geolocation"])
    visit.wait("122 stores found")
    visit.page.locator("summary[data-menu=near]").click()
    visit.click("button", "Use my position")
    visit.page.get_by_role("columnheader", name="Distance").wait_for()
    assert visit.query == "near=43.50000,-79.40000"
    visit.page.get_by_role("button", name="Remove Near your position").wait_for()
    assert visit.rows()[0] == "Shop 050"
    visit.page.locator("summary[data-menu=near]").click()
    visit.page.get_by_label("Within").select_option(label="5 km")
    visit.wait("9 stores found")
    assert visit.query == "near=43.50000,-79.40000&radius=5000"


def test_the_map_has_clusters_and_searches_its_area(go: Go) -> None:
    visit = go("/explorer?country=CA")
    clusters = visit.page.locator(".cluster")
    clusters.first.wait_for()
    assert sum(map(int, clusters.all_inner_texts())) <= 120
    clusters.first.click()
    visit.click("button", "Search this area")
    visit.page.get_by_role("button", name="Remove In this map area").wait_for()
    assert re.fullmatch(r"country=CA&sort_by=name&bbox=(-?[\d.]+,){3}-?[\d.]+", visit.query)
    assert visit.page.locator("#map [tabindex='0']").count() <= 3  # the map itself, and its zoom


def test_the_map_begins_with_all_stores_of_a_country(visits: Any, served: Served) -> None:
    places = [("9.99", "53.55"), *[("6.96", "50.94")] * 2_500, ("11.58", "48.14")]  # one end is a town in thousands
    stores = [store(f"s{index}", longitude=place[0], latitude=place[1]) for index, place in enumerate(places)]
    visit, requested = visits(served(stores).address), list[str]()
    visit.page.on("request", lambda request: requested.append(request.url))
    visit.open("/explorer").page.locator(".cluster").first.wait_for()
    shown = [url for url in requested if "/clusters?" in url][-1]
    west, south, east, north = map(float, parse_qs(urlsplit(shown).query)["bbox"][0].split(","))
    assert (west < 6.96, south < 48.14, east > 11.58, north > 53.55) == (True,) * 4


def test_tiles_of_the_operator_are_shown_and_named(visits: Any, served: Served) -> None:
    running = served(
        STORES, "--tiles", "https://tiles.example/{z}/{x}/{y}.png", "--tiles-attribution", EVIL, companies=COMPANIES
    )
    visit: Visit = visits(running.address, also="https://tiles.example/")
    referrers = set[str | None]()

    def tile(route: Route) -> None:
        referrers.add(route.request.headers.get("referer"))
        route.fulfill(body=PIXEL, content_type="image/png")

    visit.page.route("https://tiles.example/**", tile)
    visit.open("/explorer?country=CA")
    visit.page.locator(".leaflet-tile-loaded").first.wait_for()
    visit.page.locator(".cluster").first.click()  # tiles of another zoom replace these
    visit.click("button", "Search this area")
    visit.page.get_by_role("button", name="Remove In this map area").wait_for()
    visit.page.wait_for_load_state("networkidle")
    assert EVIL in visit.page.locator(".leaflet-control-attribution").inner_text()
    assert referrers == {f"{running.address}/"}


def test_a_point_is_picked_on_the_map(go: Go) -> None:
    visit = go("/explorer?country=JP")
    visit.page.locator("#map canvas").first.wait_for(state="attached")
    visit.page.locator("summary[data-menu=near]").click()
    visit.click("button", "Pick a point on the map")
    visit.page.locator("#map").click(position={"x": 100, "y": 300})
    visit.page.get_by_role("columnheader", name="Distance").wait_for()
    assert visit.query.startswith("country=JP&near=")


@pytest.mark.parametrize(("label", "start"), [("CSV for programs", b"store_id,"), ("GeoJSON for maps", b'{"type"')])
def test_what_is_shown_is_downloaded(go: Go, label: str, start: bytes) -> None:
    visit = go("/explorer?city=ottawa&sort_by=name").wait("60 stores found")
    visit.page.locator("#take-away summary").click()
    with visit.page.expect_download() as download:
        visit.click("button", label)
    body = Path(download.value.path()).read_bytes()
    assert body.startswith(start)
    assert body.count(b"Shop ") == 60


def test_after_429_the_page_goes_on_by_itself(visits: Any, served: Served, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    key = run("keys", "new", "--key-file", file, "--name", "slow", "--rate", "6/s").stdout.strip()
    visit: Visit = visits(served(STORES, "--key-file", file, companies=COMPANIES).address, 429)
    visit.open(f"/explorer#key={key}").wait("122 stores found")
    for number in range(6):
        visit.page.get_by_role("combobox", name="Search stores").fill(f"shop {number:03}")
        expect(visit.page.locator("td.name a")).to_have_text([f"Shop {number:03}"])


def test_newer_data_is_announced_and_shown(visits: Any, served: Served, tmp_path: Path) -> None:
    running = served(STORES[:10], "--api-key", KEY, companies=COMPANIES)
    visit: Visit = visits(running.address)
    visit.open(f"/explorer#key={KEY}").page.locator("footer .version").wait_for()
    write_directory(tmp_path / "data", STORES[:20], COMPANIES)
    eventually(lambda: b'"total_count":20' in running.get("/stores?limit=1", KEY).body.replace(b" ", b""))
    visit.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    visit.click("button", "Show it")
    visit.wait("20 stores found")


def test_offline_is_said_and_ends(go: Go) -> None:
    visit = go("/explorer", 0).wait("122 stores found")
    visit.page.context.set_offline(True)
    visit.page.get_by_role("combobox", name="Search stores").fill("007")
    visit.page.get_by_role("heading", name="The service cannot be reached.").wait_for()
    visit.page.context.set_offline(False)
    visit.wait("1 store found")


def test_it_works_under_a_path_prefix(visits: Any, service: Running, tmp_path: Path, unused_tcp_port: int) -> None:
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; events {{}} http {{ access_log off;"
        f" server {{ listen 127.0.0.1:{unused_tcp_port}; location /shops/ {{ proxy_pass {service.address}/; }} }} }}"
    )
    origin = f"http://127.0.0.1:{unused_tcp_port}"
    command: list[str | Path] = [found("nginx", package="nginx"), "-e", "stderr", "-p", tmp_path, "-c", "nginx.conf"]
    with running(command, tmp_path / "nginx.log", ready=lambda: listens(unused_tcp_port)):
        visit: Visit = visits(origin)
        visit.open(f"/shops/#key={KEY}").wait("122 stores found")
        assert visit.page.url == f"{origin}/shops/explorer?sort_by=name"
        visit.page.locator("#map canvas").first.wait_for(state="attached")
        visit.click("link", "API")
        visit.page.get_by_role("link", name="Explorer").wait_for()
        assert visit.page.url == f"{origin}/shops/docs"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize(
    "path",
    [
        *("/explorer?q=shop&city=ottawa", "/explorer#store=s007", "/explorer?q=zzz", "/explorer?citty=x&bbox=0,0,1,1"),
        *("/explorer#tab=map", "/explorer?near=43.65,-79.38#place=Toronto&tab=map&store=s007"),
    ],
)
def test_axe_finds_nothing_serious(go: Go, path: str, viewport: ViewportSize, scheme: Any) -> None:
    visit = go(path, viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    visit.page.locator("footer .version").wait_for(state="attached")
    visit.page.wait_for_load_state("networkidle")
    assert serious_violations(visit.page) == []


MENUS = (
    "summary[data-menu=near]",
    "summary[data-menu=city]",
    "#more > summary",
    "#take-away summary",
    "#columns-menu summary",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_open_menus(go: Go, scheme: Any) -> None:
    visit = go("/explorer?near=43.65,-79.38", color_scheme=scheme, reduced_motion="reduce")
    visit.wait("122 stores, nearest first")
    for menu in MENUS:
        visit.page.locator(menu).first.click()
        visit.page.locator("details[open] .panel :is(input, button, select, summary):visible").first.wait_for()
        visit.page.wait_for_load_state("networkidle")
        assert (menu, serious_violations(visit.page)) == (menu, [])


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_serious_while_there_are_suggestions(go: Go, viewport: ViewportSize) -> None:
    visit = go("/explorer", viewport=viewport, reduced_motion="reduce").wait("122 stores found")
    search = visit.page.get_by_role("combobox", name="Search stores")
    search.fill("toro")
    visit.page.get_by_role("option", name=re.compile("Place.*Toronto")).wait_for()
    search.press("ArrowDown")
    assert serious_violations(visit.page) == []


def test_until_the_data_is_there_the_rows_are_sketched(visits: Any, service: Running) -> None:
    visit: Visit = visits(service.address, 503)
    is_loading = [True]

    def answer(route: Route) -> None:
        if is_loading:
            route.fulfill(status=503, headers={"Retry-After": "1"}, json={"detail": "The data is loading."})
        else:
            route.continue_()

    visit.page.route("**/stores?**", answer)
    visit.open(f"/explorer#key={KEY}")
    sketched = visit.page.locator("tr.skeleton")
    sketched.first.wait_for()
    assert sketched.count() == 12
    assert visit.page.locator("#waiting").inner_text().startswith("The service is not ready")
    is_loading.clear()
    visit.wait("122 stores found")
    assert (sketched.count(), visit.page.locator("#waiting").is_visible()) == (0, False)


def test_on_a_phone_the_list_and_the_map_are_tabs(go: Go) -> None:
    visit = go("/explorer", viewport=PHONE).wait("122 stores found")
    assert not visit.page.locator("#map").is_visible()
    visit.click("tab", "Map")
    visit.page.locator(".cluster").first.wait_for()
    assert visit.fragment == "tab=map"
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 375
