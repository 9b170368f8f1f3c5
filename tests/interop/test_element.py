"""The element <store-locator> in pages of another origin, in Chromium."""

from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final, Protocol

import orjson
import pytest
from playwright.sync_api import Request, Route, expect

from tests.directory import store
from tests.http_server import Quiet, handling
from tests.interop.conftest import Served, serving_stores
from tests.interop.explored import DESKTOP, PHONE, Visit, serious_violations
from tests.program import Running, eventually, run

EVIL: Final = "<img src=x onerror=alert(1)>"
HOURS: Final = "Mo-Su 00:00-23:59"
PLACE: Final = {"country": "CA", "longitude": "-79.40", "phone_number": "+1 416 555 0100"}
OWN: Final = {"Services": "Parking; Café", "Site": "https://shop.example/a"}
STORES: Final = [
    store(f"s/{number}", name=f"Shop {number:02}", city="Toronto" if number % 2 else "Ottawa",
          latitude=f"{43 + number / 100:.2f}", Hours=HOURS if number else "",
          **PLACE, **(OWN if number == 1 else dict.fromkeys(OWN, "")))
    for number in range(45)
]  # fmt: skip
STORES.append(store("evil", name=EVIL, city=EVIL, country="US", latitude="40.7", longitude="-74.0"))
MAPPING: Final = """
[stores.attributes]
opening_hours = { from = "Hours", kind = "hours", timezone = "America/Toronto" }
services = { from = "Services", kind = "list", label = "What it has" }
site = { from = "Site", kind = "url" }
"""
FRAME: Final = (
    '<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>A shop</title>{head}</head>'
    "<body><h1>Stores</h1>{body}</body></html>"
)
RESERVED: Final = """<style>store-locator { display: block; min-height: 36rem }</style><script>
  window.moved = 0;
  const sum = (list) => list.getEntries().forEach(({ value }) => (moved += value));
  new PerformanceObserver(sum).observe({ type: "layout-shift", buffered: true });
</script>"""


class Host:
    """A web server with one page, which a test writes."""

    def __init__(self, origin: str, pages: dict[str, tuple[str, str]], service: str) -> None:
        self.origin, self.pages, self._service = origin, pages, service

    def write(self, body: str, *, policy: str = "", head: str = "", lang: str = "en") -> None:
        """Write the page, with the script of the service; `policy` is a Content-Security-Policy."""
        script = f'<script type="module" src="{self._service}/embed/store-locator.js"></script>'
        self.pages["/"] = FRAME.format(lang=lang, head=script + head, body=body), policy


class Open(Protocol):
    """Opens a page with a body in a new browser."""

    def __call__(self, body: str, *allowed: int, page: Mapping[str, str] = {}, **options: Any) -> Visit: ...


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving_stores(tmp_path_factory.mktemp("element"), STORES, "--cors-origin", "*", mapping=MAPPING) as serves:
        yield serves


@pytest.fixture(scope="module")
def host(service: Running) -> Iterator[Host]:
    pages: dict[str, tuple[str, str]] = {}

    class Pages(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text, policy = pages.get(self.path, ("", ""))
            body = text.encode()
            self.send_response(200 if body else 204)
            if policy:
                self.send_header("Content-Security-Policy", policy)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with handling(Pages) as origin:
        yield Host(origin.replace("127.0.0.1", "localhost"), pages, service.address)


@pytest.fixture
def show(visits: Any, host: Host, service: Running) -> Open:
    def opened(body: str, *allowed: int, page: Mapping[str, str] = {}, **options: Any) -> Visit:
        host.write(body, **page)
        visit: Visit = visits(host.origin, *allowed, also=service.address, **options)
        return visit.open("/")

    return opened


@pytest.fixture
def closed(visits: Any, host: Host, service: Running) -> Visit:
    """Return a tab that is not yet at the page, which has a list; requests may fail."""
    host.write("<store-locator map=off></store-locator>")
    visit: Visit = visits(host.origin, 0, 401, 403, 429, 500, also=service.address)
    return visit


def names(visit: Visit) -> list[str]:
    """Return the names in the list."""
    return visit.page.locator("li .name").all_inner_texts()


def found(visit: Visit, text: str) -> None:
    """Wait until the element says a text."""
    expect(visit.page.locator("store-locator p.status").first).to_have_text(text)


def strict(service: Running) -> str:
    """Return the policy that the documentation recommends."""
    return f"default-src 'none'; script-src {service.address}; connect-src {service.address}; img-src {service.address}"


def test_a_page_of_another_origin_with_a_strict_policy_shows_list_and_map(show: Open, service: Running) -> None:
    visit = show("<store-locator></store-locator>", page={"policy": strict(service)})
    found(visit, "46 stores found")
    assert len(names(visit)) == 20
    visit.page.locator("store-locator .cluster").first.wait_for()
    assert visit.page.evaluate("[typeof window.L, typeof window.leaflet]") == ["undefined", "undefined"]


def test_the_page_keeps_its_own_map_library_and_its_loader(show: Open) -> None:
    own = "<script>window.L = 'mine'; window.define = () => { throw new Error('no') }; define.amd = {};</script>"
    visit = show("<store-locator></store-locator>", page={"head": own})
    visit.page.locator("store-locator .cluster").first.wait_for()
    assert visit.page.evaluate("window.L") == "mine"


def test_values_are_text(show: Open) -> None:
    visit = show('<store-locator country="US"></store-locator>')
    found(visit, "1 store found")
    assert names(visit) == [EVIL]
    visit.page.locator("li .name").click()
    expect(visit.page.locator("store-locator h2")).to_have_text(EVIL)


def test_attributes_choose_stores_and_a_change_asks_again(show: Open) -> None:
    visit = show('<store-locator country="CA, DE" company="acme" query="toronto" limit="5" map="off"></store-locator>')
    found(visit, "22 stores found")
    assert len(names(visit)) == 5
    locator = visit.page.locator("store-locator")
    locator.evaluate("element => { element.setAttribute('query', 'ottawa'); element.setAttribute('limit', '99') }")
    found(visit, "23 stores found")
    expect(visit.page.locator("li")).to_have_count(23)
    locator.evaluate("element => { element.removeAttribute('query'); element.setAttribute('radius', '1500') }")
    locator.evaluate("element => element.setAttribute('near', '43.10,-79.40')")
    found(visit, "3 stores found")
    assert names(visit)[0] == "Shop 10"
    visit.page.get_by_role("button", name="Stores near").click()
    found(visit, "45 stores found")
    with visit.page.expect_request(lambda request: "?country=United+Kingdom&country=CA&" in request.url):
        locator.evaluate("element => element.setAttribute('country', 'United Kingdom, CA')")
    with visit.page.expect_request(lambda request: "?country=DE&country=CA&" in request.url):
        locator.evaluate("element => element.setAttribute('country', 'DE CA')")


def test_typing_finds_places_and_words(show: Open) -> None:
    visit = show("<store-locator map=off></store-locator>")
    box = visit.page.get_by_role("combobox", name="Search stores")
    box.fill("otta")
    visit.page.get_by_role("option", name="Place Ottawa").wait_for()
    box.press("ArrowDown")
    box.press("Enter")
    visit.page.get_by_role("button", name="Stores near Ottawa").wait_for()
    found(visit, "46 stores, nearest first")
    assert "km" in visit.page.locator("li .away").first.inner_text()
    box.fill("shop 07")
    found(visit, "1 store found")
    box.fill("toronot")
    visit.page.get_by_role("button", name="Did you mean Toronto?").click()
    found(visit, "22 stores, nearest first")
    assert box.input_value() == "Toronto"


def test_the_card_has_hours_attributes_and_links(show: Open) -> None:
    page = '<store-locator map="off" store-url="/shops/{store_id}" query="shop 01"></store-locator>'
    visit = show(page)
    found(visit, "1 store found")
    expect(visit.page.locator("li .badge")).to_have_text("Open")
    visit.page.get_by_role("button", name="Shop 01").click()
    card = visit.page.get_by_role("region", name="Shop 01")
    assert card.get_by_role("link").evaluate_all("links => links.map(({href}) => href)") == [
        "tel:+14165550100",
        "https://shop.example/a",
        "https://www.google.com/maps/dir/?api=1&destination=43.01%2C-79.4",
        f"{visit.origin}/shops/s%2F1",
    ]
    assert card.locator("dt").all_inner_texts()[-2:] == ["What it has", "Site"]
    assert card.locator("dd li").all_inner_texts() == ["Parking", "Café"]
    visit.page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(visit.page.get_by_role("button", name="Shop 01")).to_be_focused()


def test_show_and_directions_are_chosen_by_the_page(show: Open) -> None:
    visit = show('<store-locator map="off" show="site" directions="" query="shop 01"></store-locator>')
    visit.page.get_by_role("button", name="Shop 01").click()
    card = visit.page.get_by_role("region", name="Shop 01")
    assert card.locator("> dl dt").all_inner_texts() == ["Site"]
    expect(card.get_by_role("link", name="Directions")).to_have_count(0)


def test_open_now_asks_for_the_present_minute(show: Open) -> None:
    visit = show("<store-locator map=off></store-locator>")
    found(visit, "46 stores found")
    with visit.page.expect_request(lambda request: "open_at=" in request.url):
        visit.page.get_by_role("button", name="Open now").click()
    found(visit, "44 stores found")
    expect(visit.page.get_by_role("button", name="Open now")).to_have_attribute("aria-pressed", "true")


def test_events_tell_the_page_and_its_data_describe_the_stores_listed(show: Open) -> None:
    script = """<script>
      window.seen = [];
      for (const type of ["stores-changed", "store-selected"]) {
        document.addEventListener(type, ({detail}) => seen.push([type, detail.total ?? detail.store.name]));
      }
    </script>"""
    visit = show("<store-locator map=off limit=2 query='shop 0'></store-locator>", page={"head": script})
    found(visit, "10 stores found")
    visit.page.get_by_role("button", name="Shop 00").click()
    assert visit.page.evaluate("seen") == [["stores-changed", 10], ["store-selected", "Shop 00"]]
    data = visit.page.locator("store-locator > script[type='application/ld+json']")
    expect(data).to_have_count(1)
    described = orjson.loads(data.text_content() or "")
    assert [each["name"] for each in described["@graph"]] == ["Shop 00", "Shop 01"]
    assert described["@graph"][1]["geo"] == {"@type": "GeoCoordinates", "latitude": 43.01, "longitude": -79.4}
    assert len(described["@graph"][1]["openingHoursSpecification"]) == 7
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("button", name="Show more").click()
    expect(visit.page.locator("li")).to_have_count(4)
    eventually(lambda: len(orjson.loads(data.text_content() or "")["@graph"]) == 4)


def test_two_in_a_page_do_not_know_of_each_other(show: Open) -> None:
    visit = show('<store-locator lang="de" country="US"></store-locator><store-locator lang="fr-CA"></store-locator>')
    german, french = visit.page.locator("store-locator").all()
    expect(german.locator("p.status")).to_have_text("1 Filiale gefunden")
    expect(french.locator("p.status")).to_have_text("46 magasins trouvés")
    french.locator(".cluster").first.wait_for()
    german.locator(".leaflet-interactive, canvas").first.wait_for()
    french.get_by_role("button", name="Shop 01").click()
    expect(german.locator(".card")).to_be_hidden()


def test_hostile_styles_of_the_page_change_nothing_inside(show: Open) -> None:
    hostile = """<style>
      * { color: red !important; font-size: 50px !important; display: block !important; text-transform: uppercase }
      * { float: left; line-height: 5 } button { display: none !important } li { background: red }
    </style>"""
    visit = show("<store-locator map=off></store-locator>", page={"head": hostile})
    found(visit, "46 stores found")
    style = visit.page.locator("li .name").first.evaluate_handle("element => getComputedStyle(element)")
    assert [style.get_property(name).json_value() for name in ("color", "fontSize", "textTransform")] == [
        "rgb(27, 35, 41)",
        "20px",
        "none",
    ]


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_moves_below_a_reserved_height(show: Open, viewport: Any) -> None:
    visit = show(
        "<store-locator></store-locator><p>Below</p>",
        page={"head": RESERVED},
        viewport=viewport,
    )
    found(visit, "46 stores found")
    if viewport is DESKTOP:
        visit.page.locator("store-locator .cluster").first.wait_for()
    visit.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert visit.page.evaluate("moved") == 0


def test_a_phone_has_no_map_unless_the_page_wants_one(show: Open) -> None:
    visit = show("<store-locator></store-locator>", viewport=PHONE)
    found(visit, "46 stores found")
    expect(visit.page.get_by_role("region", name="Map of the stores")).to_be_hidden()
    assert (
        visit.page.evaluate("performance.getEntriesByType('resource').some(({name}) => name.includes('leaflet'))")
        is False
    )
    visit.page.locator("store-locator").evaluate("element => element.setAttribute('map', 'on')")
    visit.page.locator("store-locator .cluster").first.wait_for()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_my_position_is_asked_for_on_a_click_alone(show: Open) -> None:
    place = {"latitude": 43.2, "longitude": -79.4}
    visit = show("<store-locator map=off></store-locator>", geolocation=place, permissions=["geolocation"])
    found(visit, "46 stores found")
    visit.page.get_by_role("button", name="Use my position").click()
    visit.page.get_by_role("button", name="Stores near your position").wait_for()
    expect(visit.page.locator("li .name").first).to_have_text("Shop 20")
    visit.page.get_by_label("Within").select_option("1000")
    found(visit, "1 store found")


def test_without_a_position_it_says_what_to_do(show: Open) -> None:
    visit = show("<store-locator map=off></store-locator>")
    found(visit, "46 stores found")
    visit.page.get_by_role("button", name="Use my position").click()
    found(visit, "The browser gives no position. Search for a place instead.")


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (401, "The stores cannot be shown: the key of this page is not valid."),
        (403, "The stores cannot be shown: the key is not for this website."),
        (500, "The service answered with an error (500)."),
        (429, "Too many requests. The page goes on by itself in 30 seconds."),
    ],
)
def test_errors_are_said_in_words(closed: Visit, status: int, text: str) -> None:
    visit = closed
    fields = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After", "Retry-After": "30"}
    visit.page.route("**/stores?*", lambda route: route.fulfill(status=status, headers=fields, body="{}"))
    visit.open("/")
    found(visit, text)


def test_offline_is_said_and_ends(show: Open) -> None:
    visit = show("<store-locator map=off></store-locator>", 0)
    found(visit, "46 stores found")
    visit.page.context.set_offline(True)
    visit.page.get_by_role("combobox").fill("shop 07")
    found(visit, "The service cannot be reached.")
    visit.page.context.set_offline(False)
    found(visit, "1 store found")


def test_the_last_answer_wins_on_a_slow_line(closed: Visit) -> None:
    visit, held = closed, list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    visit.page.route(lambda url: "/stores?" in url and "q=" not in url, hold)
    visit.open("/")
    found(visit, "Loading…")
    visit.page.get_by_role("combobox").fill("shop 07")
    found(visit, "1 store found")
    for route in held:
        route.continue_()
    visit.page.get_by_role("combobox").fill("shop 08")
    expect(visit.page.locator("li .name")).to_have_text("Shop 08")


def test_the_store_that_was_opened_last_is_shown_on_a_slow_line(show: Open, service: Running) -> None:
    visit = show("<store-locator limit=1 map=off country=CA></store-locator>")
    found(visit, "45 stores found")
    opened = "(element, id) => { element.locator.openById(id); }"  # as a click on a mark does
    with visit.page.expect_response("**/stores/s%2F7*"), visit.holding("**/stores/s%2F7*"):
        for each in ("s/7", "s/8"):
            visit.page.locator("store-locator").evaluate(opened, each)
        expect(visit.page.locator("store-locator h2")).to_have_text("Shop 08")
    visit.page.evaluate("(url) => fetch(url).then((answer) => answer.text())", f"{service.address}/health")
    expect(visit.page.locator("store-locator h2")).to_have_text("Shop 08")


def test_it_is_used_with_the_keyboard_alone(show: Open) -> None:
    visit = show("<store-locator map=off></store-locator>")
    found(visit, "46 stores found")
    focused = """() => {
      const { textContent, tagName } = document.activeElement.shadowRoot.activeElement;
      return textContent || tagName;
    }"""
    order = []
    for _ in range(4):
        visit.page.keyboard.press("Tab")
        order.append(visit.page.evaluate(focused))
    assert order == ["INPUT", "Use my position", "Open now", EVIL]
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("store-locator h2")).to_be_focused()
    visit.page.keyboard.press("Escape")
    assert visit.page.evaluate(focused) == EVIL


def test_slots_are_for_the_page(show: Open) -> None:
    visit = show('<store-locator map=off><p slot="before-list">Hello</p><p slot="empty">Call us</p></store-locator>')
    found(visit, "46 stores found")
    expect(visit.page.get_by_text("Hello")).to_be_visible()
    expect(visit.page.get_by_text("Call us")).to_be_hidden()
    visit.page.get_by_role("combobox").fill("nowhere at all")
    found(visit, "0 stores found")
    expect(visit.page.get_by_text("Call us")).to_be_visible()


def test_requests_have_the_key_in_the_address_and_nowhere_else(show: Open) -> None:
    visit, asked = show("<p>"), list[Request]()

    def note(request: Request) -> None:
        asked.append(request)

    visit.page.on("request", note)
    visit.page.evaluate("document.body.innerHTML = '<store-locator key=sd_pub_abc></store-locator>'")
    visit.page.locator("store-locator .cluster").first.wait_for()
    data = [each for each in asked if any(part in each.url for part in ("/stores?", "/clusters?", "/places?"))]
    assert len(data) >= 2
    assert all("key=sd_pub_abc" in each.url for each in data)
    assert all("x-api-key" not in each.headers and "cookie" not in each.headers for each in data)
    assert {each.method for each in asked} == {"GET"}


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing_serious(show: Open, viewport: Any) -> None:
    page = '<store-locator map="on" near="43.1,-79.4" store-url="/{store_id}"></store-locator>'
    visit = show(page, viewport=viewport)
    visit.page.locator("store-locator .cluster").first.wait_for()
    assert serious_violations(visit.page) == []
    visit.page.get_by_role("button", name="Shop 10").click()
    assert serious_violations(visit.page) == []


def test_removed_and_put_back_it_begins_again(show: Open) -> None:
    visit = show("<store-locator></store-locator>")
    visit.page.locator("store-locator .cluster").first.wait_for()
    visit.page.evaluate("window.kept = document.querySelector('store-locator'); kept.remove()")
    visit.page.evaluate("kept.shadowRoot.replaceChildren()")
    visit.page.evaluate("document.body.append(kept)")
    visit.page.locator("store-locator .cluster").first.wait_for()
    found(visit, "46 stores found")


def test_custom_properties_and_parts_give_it_the_look_of_the_page(show: Open) -> None:
    style = """<style>
      store-locator { --store-locator-text: #111133; --store-locator-background: #fffff0; --store-locator-font: serif }
      store-locator { --store-locator-accent: #770044; --store-locator-radius: 3px }
      store-locator::part(search) { padding: 9px }
    </style>"""
    visit = show('<store-locator map="off" query="shop 01"></store-locator>', page={"head": style})
    visit.page.get_by_role("button", name="Shop 01").click()
    locator = visit.page.locator("store-locator")
    seen = {
        ".locator": ("color", "rgb(17, 17, 51)"),
        "input": ("background-color", "rgb(255, 255, 240)"),
        "h2": ("font-family", "serif"),
        ".primary": ("background-color", "rgb(119, 0, 68)"),
        ".close": ("border-top-left-radius", "3px"),
        "form": ("padding-top", "9px"),
    }
    for part, (name, value) in seen.items():
        expect(locator.locator(part)).to_have_css(name, value)


@pytest.fixture(scope="module")
def public(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a service with the page for everyone, which the page of the host may frame."""
    options = ("--explorer", "public", "--title", "Shops", "--frame-ancestors", host.origin)
    with serving_stores(tmp_path_factory.mktemp("public"), STORES, *options, mapping=MAPPING) as serves:
        yield serves


@pytest.mark.parametrize(("locale", "scheme"), [("en-US", "light"), ("de-DE", "dark")])
def test_the_public_page_has_the_language_and_the_theme_of_the_browser(
    browser: Any, public: Running, locale: str, scheme: str
) -> None:
    text, ground = {
        "light": ("22 stores found", "rgb(255, 255, 255)"),
        "dark": ("22 Filialen gefunden", "rgb(28, 35, 40)"),
    }[scheme]
    context = browser.new_context(viewport=DESKTOP, locale=locale, color_scheme=scheme)
    visit = Visit(context, public.address).open("/explorer?q=toronto")
    expect(visit.page.get_by_role("heading", name="Shops")).to_be_visible()
    found(visit, text)
    visit.page.locator("store-locator .cluster").first.wait_for()
    assert visit.page.evaluate("document.documentElement.lang") == locale[:2]
    for part in ("body", "store-locator .locator"):
        expect(visit.page.locator(part)).to_have_css("background-color", ground)
    visit.page.locator("li .name").first.click()
    assert serious_violations(visit.page) == []
    context.close()
    assert visit.errors == []


def test_the_public_page_is_framed_where_it_may_be(visits: Any, host: Host, public: Running) -> None:
    host.write(f'<iframe src="{public.address}/explorer" width="400" height="600" title="Stores"></iframe>')
    visit: Visit = visits(host.origin, also="http://127.0.0.1:")  # the script of the host's page, too
    visit.open("/")
    status = visit.page.frame_locator("iframe").locator("store-locator p.status")
    expect(status).to_have_text("46 stores found")


def keyed(folder: Path, *origins: str) -> str:
    """Make a public key for some origins, and return it."""
    file, name = folder / "keys.json", f"key-{len(list(folder.iterdir()))}"
    options = [option for origin in origins for option in ("--origin", origin)]
    made = run("keys", "new", "--key-file", file, "--name", name, "--public", *options)
    return made.stdout.split()[0]


def test_a_public_key_works_on_its_website_and_on_no_other(
    visits: Any, host: Host, served: Served, tmp_path: Path
) -> None:
    own, other = keyed(tmp_path, host.origin), keyed(tmp_path, "https://other.example")
    service = served(STORES, "--key-file", tmp_path / "keys.json", mapping=MAPPING)
    framed = Host(host.origin, host.pages, service.address)
    framed.write(f'<store-locator key="{own}"></store-locator>')
    visit: Visit = visits(host.origin, 403, also=service.address)
    visit.open("/")
    visit.page.locator("store-locator .cluster").first.wait_for()
    visit.page.get_by_role("button", name="Show more").click()
    expect(visit.page.locator("li")).to_have_count(40)
    visit.page.get_by_role("combobox").fill("toronto")
    visit.page.get_by_role("option", name="Place Toronto").click()
    visit.page.get_by_label("Within").select_option("100000")
    found(visit, "45 stores found")
    visit.page.locator("li .name").first.click()
    expect(visit.page.locator("store-locator h2")).to_be_visible()
    visit.page.locator("store-locator").evaluate("(element, key) => element.setAttribute('key', key)", other)
    found(visit, "The stores cannot be shown: the key is not for this website.")


def test_the_public_page_has_a_public_key_of_its_own_origin(
    visits: Any, served: Served, tmp_path: Path, unused_tcp_port: int
) -> None:
    origin = f"http://localhost:{unused_tcp_port}"
    keys = ("--key-file", tmp_path / "keys.json", "--explorer-key", keyed(tmp_path, origin))
    served(STORES, "--explorer", "public", *keys, "--port", str(unused_tcp_port), mapping=MAPPING)
    visit: Visit = visits(origin)
    visit.open("/explorer?near=43.1,-79.4&radius=5000")
    found(visit, "9 stores found")
    visit.page.locator("store-locator .leaflet-tooltip-pane").wait_for(state="attached")
