"""What the explorer says is so, and what it shows has its room, on a desktop and on a phone."""

import re
from collections.abc import Iterator
from json import dumps
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.directory import store
from tests.interop.conftest import Look, Served, serving_stores
from tests.interop.explored import DESKTOP, PHONE, SMALL_PHONE, Visit, box, is_within, wait_within
from tests.program import Running

pytestmark = pytest.mark.process

HOURS = dumps({"timezone": "Europe/London", "hours": [], "exception_hours": []})
STORES = [
    store(f"s{number}", name=f"Schwäbische Bäckerei Müller {number}", city=f"Town {number % 2}", company_id="acme",
          times=None if number else HOURS, is_open=number != 2, opened="2020-05-01", updated_at="2025-09-30T00:00:00Z",
          latitude=f"{50 + number}", longitude="8")
    for number in range(4)
]  # fmt: skip
MAPPING = (
    '[stores.attributes]\nopening = { from = "times", kind = "hours" }\nopened = { from = "opened", kind = "date" }'
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving_stores(tmp_path_factory.mktemp("look"), STORES, mapping=MAPPING) as running:
        yield running


@pytest.mark.parametrize(("number", "said"), [(0, "Closed"), (1, "Hours unknown"), (2, "Closed permanently")])
def test_a_store_without_hours_is_not_said_to_be_open_beside_those_with_hours(
    look: Look, number: int, said: str
) -> None:
    visit = look(f"/explorer#store=s{number}")
    expect(visit.page.locator("#card .status")).to_have_text(said)


def test_a_store_is_said_to_be_open_in_data_without_hours(visits: Any, served: Served) -> None:
    visit: Visit = visits(served([store("s1", is_open=True)]).address)
    visit.open("/explorer#store=s1")
    visit.page.locator("footer .version").wait_for()
    visit.page.wait_for_load_state("networkidle")
    expect(visit.page.locator("#card .status")).to_have_text("Open")


def test_on_a_phone_the_formats_of_a_download_are_seen_whole(look: Look) -> None:
    visit = look("/explorer", PHONE).wait("4 stores found")
    visit.page.locator("#take-away summary").click()
    formats = visit.page.locator(".format")
    expect(formats).to_have_count(4)
    panel = box(visit.page.locator("#take-away .panel"))
    for at in range(4):
        assert is_within(box(formats.nth(at)), panel)
        assert formats.nth(at).evaluate("each => each.scrollWidth <= each.clientWidth")


def test_a_menu_stays_in_the_window_when_its_content_comes(visits: Any, service: Running) -> None:
    visit: Visit = visits(service.address, viewport={"width": 840, "height": 375})
    panel = visit.page.locator("#take-away .panel")
    with visit.holding("**/takeaway.js") as held:
        visit.open("/explorer").wait("4 stores found")
        visit.page.locator("#take-away summary").click()
        wait_within(panel, {"x": 0, "y": 0, "right": 840, "bottom": 100})
        visit.until(lambda: len(held) == 1)
    expect(visit.page.locator(".format")).to_have_count(4)
    wait_within(panel, {"x": 0, "y": 0, "right": 840, "bottom": 375})


def test_on_a_phone_the_button_of_an_open_menu_stays_in_sight(look: Look) -> None:
    visit = look("/explorer", PHONE).wait("4 stores found")
    for menu, field in {"#more > summary": "Changed since", "summary[data-menu=city]": "Town 1 2"}.items():
        button = visit.page.locator(menu)
        button.click()
        if menu == "#more > summary":
            visit.page.get_by_label(field).fill("2025-01-01")
            visit.page.get_by_label(field).press("Tab")
        else:
            visit.page.get_by_label(field).check()
        tabs, window = box(visit.page.locator("#tabs")), {"right": 375, "bottom": 740}
        wait_within(button, {"x": tabs["right"], "y": 0, **window})
        wait_within(visit.page.locator("details.menu[open] .panel"), {"x": 0, "y": 0, **window})
        visit.page.keyboard.press("Escape")


def test_filters_are_not_crossed_out_before_the_service_says_which_it_has(visits: Any, served: Served) -> None:
    address = served(STORES, "--api-key", "secret", mapping=MAPPING).address
    visit: Visit = visits(address)
    visit.open("/explorer?open_at=2026-07-01T12:00:00Z&attributes.opened=2020-05-01&opned=1")
    visit.page.get_by_role("heading", name="An API key is needed").wait_for()
    expect(visit.page.locator("#chips .chip")).to_have_count(3)
    assert visit.page.locator("#chips .unknown").count() == 0
    visit.page.get_by_label("API key").fill("secret")
    visit.click("button", "Open")
    expect(visit.page.locator("#chips .unknown")).to_have_text(re.compile("^opned: 1"))


def test_beside_an_open_store_names_have_the_room_that_dates_leave(look: Look) -> None:
    visit = look("/explorer?sort_by=updated_at").wait("4 stores found")
    visit.page.get_by_role("link", name="Müller 3").click()
    visit.page.locator("#card h2").wait_for()
    names, rows = box(visit.page.locator("td.name")), box(visit.page.locator("#rows"))
    assert names["width"] > 0.6 * rows["width"]


def test_words_that_no_store_has_are_not_said_to_be_a_filter(look: Look) -> None:
    visit = look("/explorer?q=nothing+like+this")
    empty = visit.page.locator("#empty p")
    expect(empty).to_have_text("Check the spelling, or search for fewer words.")
    visit.open("/explorer?q=nothing&city=Town+1")
    expect(empty).to_have_text("Remove a filter, or search for fewer words.")


def test_a_point_without_a_name_is_said_to_be_one(look: Look) -> None:
    visit = look("/explorer?near=-74.021,-0.11")
    visit.page.get_by_role("button", name="Remove Near a point on the map").wait_for()
    visit.open("/explorer?near=-74.021,-0.11&radius=5000")
    visit.page.get_by_role("button", name="Remove Within 5 km of a point on the map").wait_for()


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        *(("", 0), ("city=Town+1", 0), ("updated_at=2025-01-01/..", 1), ("is_open=false", 1)),
        *(("open_at=2026-07-01T12:00:00Z", 1), ("attributes.opened=2020-05-01", 1)),
    ],
)
def test_more_filters_are_marked_while_one_is_set(look: Look, query: str, marked: int) -> None:
    visit = look(f"/explorer?{query}")
    visit.page.get_by_role("button", name="Open now").wait_for()
    expect(visit.page.locator("#more > summary.set")).to_have_count(marked)


def test_a_map_that_is_higher_than_the_world_is_where_it_was_moved(visits: Any, served: Served) -> None:
    places = {"West": (40, -120), "Middle": (50, 0), "East": (-35, 150)}
    stores = [store(name, name=name, latitude=str(x), longitude=str(y)) for name, (x, y) in places.items()]
    visit: Visit = visits(served(stores).address, viewport=SMALL_PHONE, reduced_motion="reduce")
    visit.open("/explorer#tab=map").wait("3 stores found")
    visit.until(lambda: visit.areas != [])
    expect(visit.page.locator("#area")).to_be_hidden()
    visit.click("tab", "List")
    visit.page.get_by_role("link", name="East").click()
    visit.click("button", "Show on map")
    expect(visit.page.locator("#area")).to_be_visible()
    visit.click("button", "Close")
    expect(visit.page.locator("#area")).to_be_hidden()


@pytest.mark.parametrize("viewport", [DESKTOP, SMALL_PHONE], ids=["desktop", "phone"])
def test_what_is_closed_leaves_its_room_to_a_long_name(visits: Any, served: Served, viewport: Any) -> None:
    names = [
        "Schwäbische Bäckerei & Konditorei Müller-Lüdenscheidt GmbH",
        "東京都千代田区丸の内一丁目駅前大型家具専門店" * 2,
        "Short",
    ]
    stores = [store(f"s{at}", name=name, is_open=False) for at, name in enumerate(names)]
    visit: Visit = visits(served([*stores, store("open", name=f"龍{names[1]}")]).address, viewport=viewport)
    visit.open("/explorer").wait("4 stores found")
    lines = visit.page.locator("td.name .line")
    widths = []
    for at in range(3):
        line, name, closed = (box(lines.nth(at).locator(part)) for part in (":scope", "a", ".badge"))
        assert is_within(closed, line)
        assert name["width"] >= line["width"] - 26 or at == 1
        widths.append(closed["width"])
    assert min(widths) >= 12
    assert is_within(box(lines.nth(3).locator("a")), box(lines.nth(3)))
    if viewport is DESKTOP:  # the sign, or the words as a whole
        assert (widths[0] < 30, widths[1] > 100, widths[2] < 30) == (True, True, True)
    else:
        assert min(widths) > 100
