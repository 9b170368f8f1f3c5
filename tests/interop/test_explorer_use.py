"""Using the explorer: what a person writes and where they were is kept, and a click does one thing."""

import re
from collections.abc import Iterator
from json import dumps
from typing import Any

import pytest
from playwright.sync_api import expect

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
)
from tests.program import Running, eventually

pytestmark = pytest.mark.process

HOURS = dumps({"timezone": "Europe/London", "hours": [], "exception_hours": []})
STORES = [
    store(f"s{number:03}", name=f"Shop {number:03}", city="Leeds" if number < 60 else f"Town {number % 9}",
          country="GB" if number < 60 else "US", province=None if number < 60 else f"P{number % 5}",
          company_id="acme" if number % 5 else "other", phone_number="+44 113 496 0123",
          is_open=number % 4 > 0, times=HOURS, latitude=f"{(53 if number < 60 else 40) + number / 1000:.3f}",
          longitude=f"{(-1.5 if number < 60 else -100) + number % 7 / 100:.2f}")
    for number in range(120)
]  # fmt: skip
MAPPING = '[stores.attributes]\nopening = { from = "times", kind = "hours" }'


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    companies = [company("acme", name="Acme Ltd"), company("other", name="Other")]
    with serving_stores(tmp_path_factory.mktemp("use"), STORES, mapping=MAPPING, companies=companies) as running:
        yield running


def scale(visit: Visit) -> str:
    """Return the length that the scale of the map has."""
    return visit.page.locator(".leaflet-control-scale-line").first.inner_text()


def test_a_time_that_is_set_is_written_anew_without_losing_the_focus(look: Look) -> None:
    visit = look("/explorer?open_at=2026-07-01T12:00:00Z")
    visit.page.locator("#more > summary").click()
    field = visit.page.get_by_label(re.compile("^Open at"))
    field.focus()
    for typed, value in {"12": "2026-", "12 ": "2026-12-12"}.items():  # the day or the month comes first
        with visit.page.expect_response(re.compile(r"/stores\?.*facets=country%2C")):
            visit.page.keyboard.type(typed.strip())
        expect(visit.page).to_have_url(re.compile(f"open_at={value}"))
        expect(field).to_be_focused()
    assert field.input_value().startswith("2026-12-12")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_map_returns_to_what_it_showed_before_the_store_was_opened(look: Look, viewport: Any) -> None:
    visit = look("/explorer?limit=250", viewport)
    shown = visit.areas
    visit.wait("120 stores found")
    if viewport is PHONE:
        visit.click("tab", "Map")
    visit.page.locator(".cluster").first.wait_for()
    home = shown[-1]
    visit.click("button", "Zoom in")
    visit.until(lambda: shown[-1] != home)
    before = shown[-1]
    if viewport is PHONE:
        visit.click("tab", "List")
    for name in ("Shop 002", "Shop 110"):  # on a desktop, the second from the first
        left = shown[-1]
        visit.page.get_by_role("link", name=name).click()
        if viewport is PHONE:
            visit.click("button", "Show on map")
        visit.until(lambda: shown[-1] != left)  # noqa: B023 - it ends in this turn
        if viewport is PHONE or name == "Shop 110":
            visit.click("button", "Close")
            visit.until(lambda: shown[-1] == pytest.approx(before, abs=0.01))
        if viewport is PHONE:
            visit.click("tab", "List")


def test_the_list_stays_where_it_was_while_a_store_is_open(look: Look) -> None:
    visit = look("/explorer").wait("120 stores found")
    scroll_to_end(visit)
    at = top(visit)
    for close in ("Escape", "Close"):
        visit.page.get_by_role("link", name="Shop 045").click()
        visit.page.locator("#card h2").wait_for()
        visit.page.keyboard.press("Escape") if close == "Escape" else visit.click("button", close)
        visit.page.locator("#card").wait_for(state="hidden")
        assert top(visit) == at
        expect(visit.page.get_by_role("link", name="Shop 045")).to_be_focused()
    visit.open("/explorer#store=s002").page.locator("#card h2").wait_for()  # as if it were opened on the map
    visit.wait("120 stores found")
    scroll_to_end(visit)
    visit.click("button", "Close")
    assert top(visit) == at


def test_the_open_store_and_the_focus_stay_in_the_list_when_the_attributes_come(visits: Any, service: Running) -> None:
    visit: Visit = visits(service.address)
    link = visit.page.locator("tr.selected a")
    with visit.holding("**/openapi.json") as held:
        visit.open("/explorer#store=s002").wait("120 stores found")
        visit.until(lambda: len(held) == 1)
        link.focus()
        visit.page.locator("tbody").evaluate("body => { body.dataset.old = ''; }")
    visit.page.locator("tbody:not([data-old])").wait_for()
    expect(link).to_be_focused()
    expect(link).to_have_text("Shop 002")


def test_on_a_phone_the_filters_begin_at_their_start_with_a_new_result(look: Look) -> None:
    visit = look("/explorer", PHONE).wait("120 stores found")
    bar = visit.page.locator("#toolbar")
    left = "bar => bar.scrollLeft"
    bar.evaluate("bar => { bar.scrollLeft = 300; }")
    visit.page.locator("summary[data-menu=company_id]").click()
    visit.page.get_by_label("Acme Ltd 96").check()
    visit.wait("96 stores found")
    assert bar.evaluate(left) > 0  # the menu that is used stays
    visit.page.keyboard.press("Escape")
    visit.page.get_by_role("combobox", name="Search stores").fill("shop 01")
    visit.wait("8 stores found")
    assert bar.evaluate(left) == 0
    assert is_within(box(visit.page.locator("#chips .chip")), {"x": 0, "y": 0, "right": 375, "bottom": 740})


@pytest.mark.parametrize("seen", ["", "the map", "another result"])
def test_on_a_phone_show_on_map_goes_to_the_store(look: Look, seen: str) -> None:
    visit = look("/explorer", SMALL_PHONE).wait("120 stores found")
    if seen:
        visit.click("tab", "Map")
        visit.page.locator(".cluster").first.wait_for()
        visit.click("tab", "List")
    if seen == "another result":
        visit.page.get_by_role("combobox", name="Search stores").fill("shop 00")
        visit.wait("10 stores found")
    visit.page.get_by_role("link", name="Shop 002").click()
    visit.click("button", "Show on map")
    eventually(lambda: re.fullmatch(r"(\d+ m|[1-5] km)", scale(visit)) is not None)
    wait_for_pin(visit)


def test_on_a_phone_the_map_says_how_many_stores_there_are(look: Look) -> None:
    visit = look("/explorer#tab=map", SMALL_PHONE).wait("120 stores found")
    total, place = box(visit.page.locator("#total")), box(visit.page.locator("#map"))
    assert is_apart(total, place)
    assert place["height"] >= 450
    assert visit.page.locator("#area").is_hidden()  # nobody moved the map
    assert visit.page.locator("#rows").is_hidden()
    visit.page.get_by_role("combobox", name="Search stores").fill("nothing like this")
    visit.wait("0 stores found")


def test_on_a_phone_the_map_of_one_store_leads_back_to_it(visits: Any, served: Served) -> None:
    visit: Visit = visits(served([store("s1", name="Only", latitude="50", longitude="8")]).address, viewport=PHONE)
    visit.open("/explorer").wait("1 store found")
    visit.page.locator("footer .version").wait_for()
    visit.page.get_by_role("link", name="Only").click()
    visit.click("button", "Show on map")
    visit.page.locator(".pin").wait_for()
    visit.click("button", "Close")
    visit.click("tab", "List")
    visit.page.get_by_role("link", name="Only").wait_for()


def test_on_a_phone_the_map_gives_way_to_what_is_wrong(visits: Any, service: Running) -> None:
    visit: Visit = visits(service.address, 422, viewport=PHONE)
    visit.open("/explorer?near=here#tab=map")
    visit.page.get_by_text("Expected latitude,longitude in decimal degrees").wait_for()
    expect(visit.page.locator("#map")).to_be_hidden()


@pytest.mark.parametrize("viewport", [DESKTOP, SMALL_PHONE], ids=["desktop", "phone"])
def test_choosing_a_point_is_cancelled_by_a_button(look: Look, viewport: Any) -> None:
    visit = look("/explorer?country=GB", viewport).wait("60 stores found")
    near = visit.page.locator("summary[data-menu=near]")
    cancel = visit.page.get_by_role("button", name="Cancel")
    for cancelled in (True, False):
        near.click()
        visit.click("button", "Pick a point on the map")
        expect(cancel).to_be_focused()
        place = box(visit.page.locator("#map"))
        assert is_within(box(cancel), place)
        assert is_apart(box(cancel), box(visit.page.locator("#map-note")))
        visit.page.locator("#map.picking").wait_for()
        if cancelled:
            assert serious_violations(visit.page) == []
            cancel.click()
        visit.page.mouse.click(place["x"] + 40, place["y"] + 250)
        expect(cancel).to_be_hidden()
        expect(visit.page.locator("#map-note")).to_be_hidden()
        assert not (cancelled and "near=" in visit.query)
    visit.wait("60 stores, nearest first")


def test_a_click_outside_a_menu_only_closes_it(look: Look) -> None:
    visit = look("/explorer").wait("120 stores found")
    visit.page.locator(".cluster").first.wait_for()
    shown = scale(visit)
    menu = visit.page.locator("details:has(> summary[data-menu=near])")
    for part in ("td.name a >> nth=9", "td.city >> nth=9", ".cluster", "#map", "th button >> nth=-1"):
        menu.locator("> summary").click()
        expect(menu).to_have_attribute("open", "")
        place = box(visit.page.locator(part))
        visit.page.mouse.click(place["x"] + 9, place["bottom"] - 9)
        expect(menu).not_to_have_attribute("open", "")
        assert visit.page.locator("#card").is_hidden(), part
    assert (visit.query, scale(visit)) == ("sort_by=name", shown)
    menu.locator("> summary").click()
    visit.page.locator("summary[data-menu=city]").click()  # another menu opens at once
    visit.page.get_by_label("Leeds 60").check()
    visit.wait("60 stores found")
    visit.page.get_by_role("link", name="Shop 040").click()
    expect(visit.page.locator("details[open]")).to_have_count(0)
    visit.page.get_by_role("link", name="Shop 040").click()
    visit.page.locator("#card h2", has_text="Shop 040").wait_for()


def test_the_number_of_a_store_is_read_and_called_where_it_is_opened(look: Look) -> None:
    visit = look("/explorer#store=s001", SMALL_PHONE)
    number = visit.page.locator("#card").get_by_role("link", name="Call +44 113 496 0123")
    assert number.get_attribute("href") == "tel:+441134960123"
    assert number.inner_text() == "Call +44 113 496 0123"
    assert is_within(box(number), {"x": 0, "y": 0, "right": 375, "bottom": 720})


def test_the_stores_nearby_and_those_of_a_company_are_looked_for_afresh(look: Look) -> None:
    visit = look("/explorer?q=shop+001&city=Leeds#store=s001").wait("1 store found")
    visit.click("button", "Stores nearby")
    visit.wait("120 stores, nearest first")
    assert visit.query == "near=53.001,-1.49"
    visit.page.get_by_role("button", name="Remove Near Shop 001").wait_for()
    assert visit.page.get_by_role("combobox", name="Search stores").input_value() == ""
    visit.page.locator("#card").get_by_role("button", name="Acme Ltd").click()
    visit.wait("96 stores found")
    assert visit.query == "company_id=acme&sort_by=name"
    expect(visit.page.locator("#card h2")).to_have_text("Shop 001")


def test_a_link_does_not_say_whose_position_it_has(visits: Any, service: Running) -> None:
    place = {"latitude": 53.012345, "longitude": -1.54321}
    visit: Visit = visits(service.address, geolocation=place, permissions=["geolocation"])
    visit.open("/explorer").wait("120 stores found")
    visit.page.locator("summary[data-menu=near]").click()
    visit.click("button", "Use my position")
    visit.page.get_by_role("button", name="Remove Near your position").wait_for()
    other: Visit = visits(service.address)
    other.open(visit.page.url.removeprefix(service.address))
    other.page.get_by_role("button", name="Remove Near a point on the map").wait_for()
    assert "position" not in other.page.locator("#chips").inner_text()


def test_one_condition_is_cleared_like_many(look: Look) -> None:
    visit = look("/explorer?is_open=false").wait("30 stores found")
    visit.page.get_by_role("button", name="Remove Status: Closed permanently").wait_for()
    visit.click("button", "Clear all")
    visit.wait("120 stores found")


def test_a_filter_that_is_chosen_or_used_stays_though_it_has_no_other_value(look: Look) -> None:
    visit = look("/explorer?country=GB&city=Leeds&q=shop+001").wait("1 store found")
    menu = visit.page.locator("details:has(> summary[data-menu=country])")
    expect(menu.locator("> summary")).to_have_text("Country · 1")
    menu.locator("> summary").click()
    box(menu.locator(".panel"))
    visit.page.get_by_label("United Kingdom 1").evaluate("choice => { choice.dataset.old = ''; }")
    visit.page.get_by_label("United Kingdom 1").uncheck()
    visit.page.get_by_role("button", name="Remove Country").wait_for(state="hidden")
    expect(menu.locator("input:not([data-old])[value=GB]")).to_be_focused()
    visit.page.get_by_label("United Kingdom 1").check()
    visit.page.get_by_role("button", name="Remove Country: United Kingdom").wait_for()
    visit.page.get_by_label("United Kingdom 1").uncheck()
    visit.page.get_by_role("button", name="Remove Country").wait_for(state="hidden")
    visit.page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
