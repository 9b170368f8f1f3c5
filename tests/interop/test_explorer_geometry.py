"""What is visible where in the explorer: rows, the card, the pin, the marks on the map, on a desktop and on a phone."""

import re
from collections.abc import Iterator
from itertools import combinations
from json import dumps
from math import hypot
from typing import Any, Final
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import ViewportSize, expect

from service.model.hours import DAYS
from tests.directory import company, store
from tests.interop.conftest import Look, Served, serving_stores
from tests.interop.explored import (
    DESKTOP,
    PHONE,
    SMALL_PHONE,
    Visit,
    box,
    is_apart,
    is_within,
    scroll_to_end,
    serious_violations,
    top,
    wait_for_pin,
    wait_within,
)
from tests.program import Running, eventually

pytestmark = pytest.mark.process

SIZES: Final[dict[str, ViewportSize]] = {
    "phone": PHONE,
    "desktop": DESKTOP,
    "wide": {"width": 1920, "height": 1080},
    "turned": {"width": 840, "height": 375},
}
LONG = "Schwäbische Bäckerei & Konditorei Müller-Lüdenscheidt GmbH & Co. KG am Hauptbahnhof"
STORES = [
    store(f"s{number:03}", name=f"{LONG} {number}" if number % 2 else f"Shop {number:03}", city="Toronto", country="CA",
          address_1="1 Queen St", province="ON", postal_code="M5V 2T6", phone_number="+1 416 555 01 23",
          company_id="acme" if number % 5 else "other", is_open=number % 4 > 0, updated_at="2024-05-31T00:00:00Z",
          latitude=f"{43.6 + number / 1000:.3f}", longitude=f"{-79.4 + number % 7 / 100:.2f}", area=str(number),
          contact="shop@a.example", hidden="code")
    for number in range(120)
] + [
    store("near-date-line-1", city="Suva", country="FJ", latitude="-17", longitude="179.5", province=None),
    store("near-date-line-2", city="Taveuni", country="FJ", latitude="-16.8", longitude="-179.9", province=None),
]  # fmt: skip
MAPPING = """[stores.attributes]
area = { from = "area", kind = "number", label = "Area (m²)", show = "list" }
mail = { from = "contact", kind = "email", group = "Contact" }
code = { from = "hidden", show = "never" }
"""
PLACE = {"name": "Toronto", "kind": "city", "city": "Toronto", "province": "ON", "country": "CA"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    companies = [company("acme", name="Acme Ltd"), company("other", name="Other")]
    with serving_stores(tmp_path_factory.mktemp("geometry"), STORES, mapping=MAPPING, companies=companies) as running:
        yield running


@pytest.mark.parametrize("size", ["phone", "desktop"])
def test_a_new_result_begins_at_its_top(look: Look, size: str) -> None:
    visit = look("/explorer", SIZES[size]).wait("122 stores found")
    scroll_to_end(visit)
    visit.page.locator("#order").focus()
    visit.page.locator("#order").select_option("name desc")
    eventually(lambda: top(visit) == 0)
    assert visit.page.evaluate("document.activeElement.id") == "order"
    scroll_to_end(visit)
    visit.click("button", "Next page")
    eventually(lambda: top(visit) == 0)
    eventually(lambda: visit.page.evaluate("document.activeElement.id") == "rows")  # only paging moves the focus
    scroll_to_end(visit)
    visit.page.get_by_role("combobox", name="Search stores").fill("shop")
    visit.wait("60 stores found")
    assert top(visit) == 0


def test_rows_are_lines_of_which_sixteen_are_on_a_screen(look: Look) -> None:
    visit = look("/explorer?near=43.6,-79.4").wait("122 stores, nearest first")
    visit.page.get_by_role("columnheader", name="Area (m²)").wait_for()
    heights = visit.page.locator("tbody tr").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert max(heights) <= 34
    assert box(visit.page.locator("#rows"))["height"] >= 17 * 32
    headings, rows = visit.page.locator("thead th"), box(visit.page.locator("#rows"))
    assert all(is_within(box(headings.nth(at)), rows) for at in range(headings.count()))
    cut = "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.textContent)"
    assert headings.locator(".label").evaluate_all(cut) == []


def test_the_order_is_shown_and_by_name_at_first(look: Look) -> None:
    visit = look("/explorer").wait("122 stores found")
    assert visit.query == "sort_by=name"
    assert visit.page.locator("th[aria-sort=ascending]").inner_text().startswith("Name")
    assert visit.page.locator("#order").evaluate("select => select.selectedOptions[0].text") == "Name ↑"
    visit.page.locator("#order").select_option("created_at asc")
    visit.until(lambda: visit.query == "sort_by=created_at")


def test_countries_have_names_and_only_closed_stores_a_status(look: Look) -> None:
    visit = look("/explorer?q=shop").wait("60 stores found")
    assert visit.page.locator("td.country").first.inner_text() == "Canada"
    assert visit.page.locator("td.name .badge").all_inner_texts() == ["Closed permanently"] * 25  # of the first 50
    visit.page.locator("tr:has(.badge) a").first.click()
    visit.page.locator("#card .status .closed", has_text="Closed permanently").wait_for()
    assert visit.page.locator("tr.selected a").evaluate(
        "name => name.scrollWidth <= name.clientWidth"
    )  # beside the card
    visit.page.locator("summary[data-menu=country]").wait_for(state="hidden")  # of one value


def test_a_phone_has_room_for_the_list(look: Look) -> None:
    visit = look("/explorer", SMALL_PHONE).wait("122 stores found")
    assert box(visit.page.locator("#rows"))["height"] >= 450
    assert box(visit.page.locator("#pager"))["bottom"] <= SMALL_PHONE["height"]
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 375
    own = visit.page.locator("td[data-label]").first  # without headings, a number says what it is
    assert own.evaluate("cell => getComputedStyle(cell, '::after').content") == '" Area (m²)"'
    visit.page.get_by_role("combobox", name="Search stores").fill("suva")
    visit.wait("1 store found")
    assert visit.page.locator("#pager").is_hidden()  # there is no second page


@pytest.mark.parametrize("size", SIZES)
def test_each_menu_opens_inside_the_window(look: Look, size: str) -> None:
    visit = look("/explorer", SIZES[size]).wait("122 stores found")
    visit.page.locator("footer .version").wait_for(state="attached")  # after the counts, which show and hide menus
    menus = visit.page.locator("details.menu:visible")
    assert menus.count() >= 6
    for menu in menus.all():
        menu.locator("summary").first.click()
        panel = menu.locator(".panel")
        wait_within(panel, {"x": 0, "y": 0, "right": SIZES[size]["width"], "bottom": SIZES[size]["height"]})
        assert box(panel)["width"] > 200
        visit.page.keyboard.press("Escape")


def test_a_phone_that_is_turned_has_the_map_beside_the_list(look: Look) -> None:
    visit = look("/explorer", PHONE).wait("122 stores found")
    visit.page.set_viewport_size({"width": PHONE["height"] + 100, "height": PHONE["width"]})
    visit.page.locator(".cluster").first.wait_for()


@pytest.mark.parametrize("size", ["desktop", "wide"])
def test_the_card_never_hides_the_pin(look: Look, size: str) -> None:
    visit = look("/explorer?q=shop", SIZES[size]).wait("60 stores found")
    visit.page.locator(".leaflet-container").wait_for()
    visit.page.get_by_role("link", name="Shop 090").click()
    wait_for_pin(visit)
    assert is_apart(box(visit.page.locator("#card")), box(visit.page.locator("td.name")))
    expect(visit.page.locator("#area")).to_be_hidden()  # nobody moved the map


def test_on_a_phone_the_card_is_lowered_to_show_the_pin(look: Look) -> None:
    visit = look("/explorer?q=shop", SMALL_PHONE)
    visit.page.get_by_role("link", name="Shop 090").click()
    card = visit.page.locator("#card")
    assert box(card)["height"] == SMALL_PHONE["height"]
    visit.click("button", "Show on map")
    wait_for_pin(visit)
    pin, low = box(visit.page.locator(".pin")), box(card)
    assert abs(low["height"] - SMALL_PHONE["height"] * 0.34) <= 1
    assert low["bottom"] == SMALL_PHONE["height"]
    assert pin["bottom"] <= low["y"]
    visit.click("button", "Show the store")
    assert box(card)["height"] == SMALL_PHONE["height"]


def test_the_card_says_first_what_visitors_want_to_know(look: Look) -> None:
    visit = look("/explorer#store=s002")
    card = visit.page.locator("#card")
    parts = ["h2", ".status", "address", "a:text('Directions')", "h3:text('Contact')", "details"]
    heights = [box(card.locator(part))["y"] for part in parts]
    assert heights == sorted(heights)
    assert card.locator("address").inner_text().splitlines() == ["1 Queen St", "Toronto, ON M5V 2T6", "Canada"]
    directions = card.get_by_role("link", name="Directions").get_attribute("href") or ""
    assert directions.startswith("https://")
    assert "43.602%2C-79.38" in directions
    assert card.get_by_role("link", name=re.compile("^Call")).get_attribute("href") == "tel:+14165550123"
    assert card.get_by_role("link", name="shop@a.example").get_attribute("href") == "mailto:shop@a.example"
    assert card.get_by_text("s002", exact=True).is_hidden()
    card.locator("details > summary").click()
    card.get_by_text("s002", exact=True).wait_for()
    assert "code" not in card.inner_text()


def test_images_of_allowed_origins_are_shown_and_others_are_links(visits: Any, served: Served) -> None:
    shown = store("s1", name="Shown", picture="https://images.example/a.svg")
    other = store("s2", name="Other", picture="https://other.example/a.svg")
    mapping = '[stores.attributes]\nphoto = { from = "picture", kind = "image" }'
    running = served([shown, other], "--image-origin", "https://images.example", mapping=mapping)
    visit: Visit = visits(running.address, also="https://images.example/")
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"/>'
    visit.page.route(
        "https://images.example/**", lambda route: route.fulfill(body=drawing, content_type="image/svg+xml")
    )
    visit.open("/explorer#store=s1")
    eventually(lambda: box(visit.page.get_by_role("img", name="Photo"))["height"] == 100)
    visit.page.get_by_role("link", name="Other").click()
    visit.page.get_by_role("link", name="other.example/a.svg").wait_for()


def circles(visit: Visit) -> list[tuple[float, float, float]]:
    """Return the middle and the radius of each circle on the map."""
    visit.page.locator(".cluster").first.wait_for()
    boxes: list[dict[str, float]] = visit.page.locator(".cluster").evaluate_all(
        "all => all.map((each) => { const {x, y, width} = each.getBoundingClientRect(); return {x, y, width}; })"
    )
    return [(each["x"] + each["width"] / 2, each["y"] + each["width"] / 2, each["width"] / 2) for each in boxes]


@pytest.mark.parametrize("zooms", [0, 1, 2])
def test_clusters_do_not_overlap(look: Look, zooms: int) -> None:
    visit = look("/explorer?country=CA").wait("120 stores found")
    visit.page.locator(".cluster").first.wait_for()
    for _ in range(zooms):
        visit.page.locator(".cluster").evaluate_all("all => { for (const each of all) each.dataset.old = ''; }")
        visit.click("button", "Zoom in")
        visit.page.locator(".cluster:not([data-old])").first.wait_for()
    for (x1, y1, r1), (x2, y2, r2) in combinations(circles(visit), 2):
        assert hypot(x1 - x2, y1 - y2) >= r1 + r2 - 1


def test_across_the_antimeridian_all_stores_are_on_the_map(look: Look) -> None:
    visit = look("/explorer?country=FJ").wait("2 stores found")
    visit.page.get_by_role("link", name="a").nth(1).wait_for()
    for at in range(2):
        visit.page.locator("tbody tr a").nth(at).click()
        wait_for_pin(visit)
        visit.page.keyboard.press("Escape")
        visit.page.locator("#card").wait_for(state="hidden")
    visit.open("/explorer?bbox=179,-18,-179,-16").wait("2 stores found")


def test_near_a_point_the_map_shows_the_ten_nearest(look: Look) -> None:
    with_names = look("/explorer?near=43.6,-79.4").wait("122 stores, nearest first")
    area = with_names.page.locator(".leaflet-control-scale-line").first
    eventually(lambda: re.fullmatch(r"(\d+ m|[12] km)", area.inner_text()) is not None)  # they are within 2 km


def test_the_map_names_countries_in_the_language_of_the_visitor(visits: Any, service: Running) -> None:
    visit: Visit = visits(service.address, viewport=DESKTOP)
    visit.open("/explorer")
    assert visit.page.locator(".name-of span", has_text="Canada").inner_text() == "Canada"


def test_pointing_at_a_row_and_at_its_mark_links_the_two(look: Look) -> None:
    visit = look("/explorer?q=suva").wait("1 store found")
    place, pointed = box(visit.page.locator("#map")), visit.page.locator("tr.pointed")

    def is_pointed() -> bool:
        visit.page.mouse.move(10, 10)
        visit.page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
        return pointed.count() == 1

    eventually(is_pointed)  # once the mark is drawn
    visit.page.mouse.move(10, 10)
    pointed.wait_for(state="hidden")


def test_there_are_at_most_five_menus_and_one_for_more(look: Look) -> None:
    visit = look("/explorer").wait("122 stores found")
    menus = visit.page.locator("#menus > details:visible > summary")
    expect(menus).to_have_text(["Near", "Country", "City", "Company", "More filters"])
    visit.page.locator("#more > summary").click()
    area = visit.page.get_by_role("group", name="Area (m²)")
    area.get_by_label("From").fill("100")
    area.get_by_label("Up to").fill("110")
    area.get_by_label("Up to").press("Tab")
    visit.wait("11 stores found")
    assert visit.query == "sort_by=name&attributes.area=100%2F110"
    visit.click("button", "Remove Area (m²): 100 to 110")
    visit.wait("122 stores found")


def test_stores_that_changed_since_a_day_are_found(look: Look) -> None:
    visit = look("/explorer").wait("122 stores found")
    visit.page.locator("#more > summary").click()
    visit.page.get_by_label("Changed since").fill("2024-05-31")
    visit.wait("120 stores found")
    assert visit.query == "sort_by=name&updated_at=2024-05-31%2F.."


@pytest.mark.parametrize("width", [1024, 1280])
@pytest.mark.parametrize("fields", ["", "&fields=created_at,name,address_1,city,country,postal_code,updated_at"])
def test_a_list_by_date_shows_the_dates_as_a_whole(look: Look, width: int, fields: str) -> None:
    visit = look(f"/explorer?sort_by=updated_at{fields}", viewport={"width": width, "height": 800})
    dates = visit.page.locator("td.updated_at")
    assert dates.first.inner_text() == "May 31, 2024"
    assert dates.first.evaluate("({scrollWidth, clientWidth}) => scrollWidth <= clientWidth")


def test_stores_that_the_map_does_not_have_are_counted(visits: Any, served: Served) -> None:
    stores = [store("s1", latitude="43.6", longitude="-79.4"), store("s2"), store("s3", city="Ottawa")]
    visit: Visit = visits(served(stores).address).open("/explorer")
    unplaced = visit.page.locator("#unplaced")
    expect(unplaced).to_have_text("2 not on the map")
    visit.page.get_by_role("combobox", name="Search stores").fill("s1")
    expect(unplaced).to_have_text("")
    visit.open("/explorer?city=ottawa")
    expect(unplaced).to_have_text("1 not on the map")


def test_a_parameter_that_is_none_has_a_suggestion(look: Look) -> None:
    visit = look("/explorer?citty=Suva").wait("122 stores found")
    visit.click("button", "Did you mean city?")
    visit.wait("1 store found")
    assert visit.query == "sort_by=name&city=Suva"


def test_one_store_needs_neither_filters_nor_pages(visits: Any, served: Served) -> None:
    visit: Visit = visits(served([store("s1", name="Only")]).address)
    visit.open("/explorer").wait("1 store found")
    visit.page.locator("#toolbar").wait_for(state="hidden")
    assert visit.page.locator("#pager").is_hidden()


def test_without_stores_the_page_says_so(visits: Any, served: Served) -> None:
    visit: Visit = visits(served([], "--min-stores", "0").address)
    visit.open("/explorer")
    visit.page.get_by_role("heading", name="There are no stores").wait_for()


def test_where_no_store_is_the_page_offers_all_areas(look: Look) -> None:
    visit = look("/explorer?bbox=0,0,1,1")
    visit.page.get_by_role("heading", name="No store in this area").wait_for()
    visit.click("button", "Look at all areas")
    visit.wait("122 stores found")


def test_places_are_chosen_with_the_keyboard_before_words(visits: Any, service: Running) -> None:
    visit: Visit = visits(service.address)
    answer = {"data": [{**PLACE, "latitude": 43.65, "longitude": -79.38, "stores": 120}], "suggestion": None}

    visit.page.route("**/places?**", lambda route: route.fulfill(json=answer))
    visit.open("/explorer").wait("122 stores found")
    search = visit.page.get_by_role("combobox", name="Search stores")
    search.fill("toro")
    visit.page.get_by_role("option", name=re.compile("Place.*Toronto.*ON, Canada.*120")).wait_for()
    assert search.get_attribute("aria-expanded") == "true"
    search.press("ArrowDown")
    chosen = search.get_attribute("aria-activedescendant")
    assert visit.page.locator(f"#{chosen}").get_attribute("aria-selected") == "true"
    search.press("Enter")
    visit.click("button", "Remove Near Toronto")
    assert search.input_value() == ""
    search.fill("toro")
    visit.page.get_by_role("option", name=re.compile("Place.*Toronto")).wait_for()
    search.press("Escape")
    assert search.get_attribute("aria-expanded") == "false"


def test_opening_hours_are_shown_and_filtered(visits: Any, served: Served) -> None:
    days = [{"day": day, "opens": "00:00", "closes": "23:59"} for day in DAYS]
    always = {"timezone": "UTC", "hours": days, "exception_hours": []}
    never = {"timezone": "UTC", "hours": [], "exception_hours": []}
    stores = [store("s1", name="Always", times=dumps(always)), store("s2", name="Never", times=dumps(never))]
    mapping = '[stores.attributes]\nopening = { from = "times", kind = "hours" }'
    visit: Visit = visits(served([*stores, store("s3", name="Unknown")], mapping=mapping).address)
    visit.open("/explorer#store=s1")
    card = visit.page.locator("#card")
    card.locator(".status .open", has_text="Open").wait_for()
    card.locator("summary", has_text="Today: all day").click()
    assert card.locator("details dt:visible").count() >= 7
    assert serious_violations(visit.page) == []
    visit.page.get_by_role("link", name="Never").click()
    card.locator(".status .closed", has_text="Closed").wait_for()
    visit.click("button", "Open now")
    visit.wait("1 store found")
    assert re.fullmatch(r"sort_by=name&open_at=\d{4}-\d\d-\d\dT\d\d:\d\d:00Z", visit.query)
    visit.page.get_by_role("button", name=re.compile("Remove Open at")).wait_for()
    now = visit.page.get_by_role("button", name="Open now", exact=True)
    assert now.get_attribute("aria-pressed") == "true"
    visit.open("/explorer?open_at=2026-01-01T00:00:00Z").wait("1 store found")
    now.wait_for()
    assert now.get_attribute("aria-pressed") == "false"


def test_a_search_closes_the_store_that_it_does_not_find_and_the_map_shows_what_it_finds(look: Look) -> None:
    visit = look("/explorer?q=shop").wait("60 stores found")
    visit.page.get_by_role("link", name="Shop 090").click()
    visit.page.locator(".pin").wait_for()
    visit.page.get_by_role("combobox", name="Search stores").fill("suva")
    visit.wait("1 store found")
    visit.page.locator("#card").wait_for(state="hidden")
    shown = visit.areas
    visit.until(lambda: shown[-1][0] < 179.5 < shown[-1][2] and shown[-1][1] < -17 < shown[-1][3])
    assert visit.query == "sort_by=name&q=suva"
    visit.page.go_back()
    visit.page.locator("#card h2", has_text="Shop 090").wait_for()
    visit.wait("60 stores found")


def test_the_distance_of_the_open_store_is_that_of_the_list(look: Look) -> None:
    visit = look("/explorer?q=shop&limit=10&near=43.6,-79.4#store=s090")  # on another page
    away = visit.page.locator("#card .away")
    expect(away).to_have_text("11.1 km")
    visit.wait("60 stores, nearest first")
    visit.click("button", "Stores nearby")
    expect(away).to_have_text("0 km")
    assert visit.page.locator("td.distance").first.inner_text() == "0 km"
    visit.page.go_back()
    expect(away).to_have_text("11.1 km")
    visit.click("button", "Remove Near a point on the map")
    expect(away).to_have_text("")


def test_a_result_is_shown_whole_when_its_open_store_is_closed_meanwhile(look: Look) -> None:
    visit = look("/explorer?city=Suva").wait("1 store found")
    visit.until(lambda: visit.areas != [])
    for _ in range(4):
        visit.click("button", "Zoom out")
    visit.page.locator("td.name a").first.click()  # the map goes to it
    visit.page.locator(".pin").wait_for()
    with visit.holding("**/clusters?**") as held:
        visit.page.locator("#chips [data-name=city]").click()
        visit.wait("122 stores found")
        visit.until(lambda: len(held) > 0)
        visit.click("button", "Close")
    visit.page.locator(".cluster").first.wait_for()
    expect(visit.page.locator("#unplaced")).to_have_text("")


def test_the_map_offers_to_search_what_it_shows_until_the_open_store_is_closed(look: Look) -> None:
    visit = look("/explorer?limit=122")
    shown = visit.areas
    visit.wait("122 stores found")
    visit.page.locator(".cluster").first.wait_for()
    search = visit.page.locator("#area")
    visit.click("button", "Zoom out")
    search.click()
    visit.page.get_by_role("button", name="Remove In this map area").wait_for()
    area = [float(each) for each in parse_qs(visit.query)["bbox"][0].split(",")]
    visit.click("button", "Remove In this map area")
    visit.wait("122 stores found")
    visit.page.go_back()
    visit.page.get_by_role("button", name="Remove In this map area").wait_for()
    search.wait_for(state="hidden")
    visit.until(lambda: shown[-1] == pytest.approx(area, abs=0.01))
    for close in (lambda: visit.click("button", "Close"), visit.page.go_back):
        visit.page.get_by_role("link", name="Shop 090").click()
        search.wait_for()
        close()
        search.wait_for(state="hidden")
        visit.until(lambda: shown[-1] == pytest.approx(area, abs=0.01))
    visit.page.get_by_role("link", name="Shop 090").click()
    search.wait_for()
    visit.page.locator("#order").select_option("name desc")
    visit.page.locator("th[aria-sort=descending]").wait_for()
    assert search.is_visible()
    visit.page.get_by_role("combobox", name="Search stores").fill("shop")
    visit.wait("60 stores found")
    search.wait_for(state="hidden")
    visit.until(lambda: shown[-1] == pytest.approx(area, abs=0.01))


def test_a_time_is_that_of_the_visitors_clock_and_has_its_zone(visits: Any, served: Served) -> None:
    times = dumps({"timezone": "America/New_York", "hours": [], "exception_hours": []})
    mapping = '[stores.attributes]\nopening = { from = "times", kind = "hours" }'
    stores = [store("s1", times=times), store("s2", times=times)]
    visit: Visit = visits(served(stores, mapping=mapping).address, timezone_id="Europe/Berlin")
    visit.open("/explorer").page.locator("#more > summary").click()
    field = visit.page.get_by_label(re.compile(r"Open at \(your time, (GMT\+[12]|CES?T)\)"))
    field.fill("2026-07-01T08:00")
    visit.page.get_by_label("Open at (your time, GMT+2)").wait_for()
    visit.page.get_by_role(
        "button", name=re.compile(r"Remove Open at Jul\S* 1, 2026,? 8:00\sa\.?m\.? GMT\+2", re.IGNORECASE)
    ).wait_for()
    assert visit.query == "sort_by=name&open_at=2026-07-01T06:00:00Z"
