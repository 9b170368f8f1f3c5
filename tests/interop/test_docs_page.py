"""/docs in Chromium: it leads to an answer, and is a reference."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from service import INTERFACE_VERSION, __version__
from tests.directory import company, store, write_directory
from tests.interop.explored import DESKTOP, PHONE, Visit, serious_violations
from tests.program import Running, eventually, serving

pytestmark = pytest.mark.process

KEY = "the-key"
STORES = [
    store(
        f"s{number}",
        name="Café Größe",
        city="Köln / Süd",
        country="DE",
        company_id="acme",
        latitude="50.9",
        longitude="6.9",
    )
    for number in range(20)
]


class Go(Protocol):
    """Opens the page in a new browser; with the key in the link unless `key` is None."""

    def __call__(self, *allowed: int, key: str | None = KEY, **options: Any) -> Visit: ...


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    data = write_directory(tmp_path_factory.mktemp("docs") / "data", STORES, [company("acme")])
    with serving("--data", data, "--cache", tmp_path_factory.mktemp("cache"), "--api-key", KEY) as serves:
        yield serves


@pytest.fixture
def go(visits: Any, service: Running) -> Go:
    def opened(*allowed: int, key: str | None = KEY, **options: Any) -> Visit:
        visit: Visit = visits(service.address, *allowed, **options)
        return visit.open("/docs" if key is None else f"/docs#key={key}")

    return opened


def answered(visit: Visit, text: str) -> None:
    visit.page.locator("#status", has_text="200 OK").wait_for()
    visit.page.locator("#answer", has_text=text).wait_for()


def test_with_the_key_of_a_link_there_is_an_answer_without_a_click(go: Go) -> None:
    visit = go()
    answered(visit, '"total_count": 20')
    assert KEY not in visit.page.url
    assert not visit.page.get_by_label("Your API key").is_visible()
    assert "/stores?limit=2'" in visit.page.locator("#curl").inner_text()


def test_without_a_key_the_page_asks_for_it_first_and_says_if_it_is_wrong(go: Go) -> None:
    visit = go(401, key=None)
    field = visit.page.get_by_label("Your API key")
    field.fill("wrong")
    field.press("Enter")
    visit.page.get_by_text("The key is not accepted").wait_for()
    field.fill(KEY)
    field.press("Enter")
    answered(visit, '"total_count": 20')


def test_each_example_is_of_this_data_and_has_an_answer(go: Go) -> None:
    visit = go()
    answered(visit, '"total_count": 20')
    examples = visit.page.get_by_role("group", name="Examples").get_by_role("button")
    stores = '"store_id": "s'
    expected = [
        *(stores, '"limit": 2', '"total_count": 20', '"distance": 0', '"kind": "city"', '"count": 20'),
        *(stores, '"company_id": "acme"', "Köln / Süd"),
    ]
    for example, text in zip(examples.all(), expected, strict=True):
        example.click()
        answered(visit, text)


def test_the_last_answer_wins_on_a_slow_line(go: Go) -> None:
    visit = go()
    answered(visit, '"total_count": 20')
    examples = visit.page.get_by_role("group", name="Examples").get_by_role("button")
    with visit.page.expect_response("**/stores?q=*"), visit.holding("**/stores?q=*"):
        examples.nth(2).click()
        examples.last.click()
        answered(visit, "store_id,")
    visit.page.evaluate("fetch('/health').then((answer) => answer.text())")  # by then the page has the other
    answered(visit, "store_id,")


def test_without_keys_nothing_is_asked(visits: Any, tmp_path: Path) -> None:
    data = write_directory(tmp_path / "data", STORES, [company("acme")])
    with serving("--data", data, "--cache", tmp_path / "cache", "--no-auth") as serves:
        visit: Visit = visits(serves.address)
        answered(visit.open("/docs"), '"total_count": 20')
        assert "x-api-key" not in visit.page.locator("#curl").inner_text()


def test_the_versions_of_interface_and_program_are_shown(go: Go) -> None:
    versions = f"interface {INTERFACE_VERSION}, store-directory {__version__}"
    go().page.get_by_text(versions, exact=True).wait_for()


def test_an_operation_is_tried_with_nothing_filled_in_but_a_short_page(go: Go) -> None:
    visit = go()
    operation = visit.page.locator("#operations-Stores-list_stores")
    operation.locator(".opblock-summary-control").click()
    visit.click("button", "Try it out")
    filled = "fields => fields.map(({value}) => value).filter(value => value && value !== 'application/json')"
    eventually(lambda: operation.locator("input, select, textarea").evaluate_all(filled) == ["10"])
    operation.get_by_text("Example: 43.65,-79.38").wait_for()
    visit.click("button", "Execute")
    visit.page.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
    assert "/stores?limit=10" in visit.page.locator(".request-url pre").inner_text()


def test_an_operation_fills_at_most_four_screens(go: Go) -> None:
    visit = go()
    operation = visit.page.locator("#operations-Stores-list_stores")
    operation.locator(".opblock-summary-control").click()
    operation.locator("table.parameters").first.wait_for()
    eventually(lambda: operation.locator("tr.response").count() > 1)
    assert operation.evaluate("each => each.offsetHeight") <= 4 * DESKTOP["height"]


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(28, 32, 34)")])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["wide", "phone"])
def test_it_is_dark_where_the_system_is_and_nothing_sticks_out(
    go: Go, scheme: Any, background: str, viewport: Any
) -> None:
    visit = go(viewport=viewport, color_scheme=scheme)
    answered(visit, '"total_count": 20')
    visit.page.locator("#operations-Stores-list_stores").wait_for()
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    assert visit.page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    assert serious_violations(visit.page, "#first") == []
