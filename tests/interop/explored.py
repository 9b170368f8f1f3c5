"""A person's browser at the explorer: Chromium, driven by Playwright, with a record of all that went wrong."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, ViewportSize, expect, sync_playwright

from tests.interop.software import TOOLS, found
from tests.program import eventually

# Root's own may not run in Chromium's sandbox.
_OPTIONS: Final = ("--no-sandbox",)
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 800}
PHONE: Final[ViewportSize] = {"width": 375, "height": 740}
SMALL_PHONE: Final[ViewportSize] = {"width": 375, "height": 720}

# When what hangs is ended: a busy machine may take much longer than the five seconds that Playwright would expect.
_MILLISECONDS: Final = 120_000
expect.set_options(timeout=_MILLISECONDS)

# Of which the map asks where all stores of a result are, before it shows them.
_WORLD: Final = "-180,-85,180,85"

_AXE: Final = TOOLS / "node_modules" / "axe-core" / "axe.min.js"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the system's browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found("chromium", package="chromium"), args=[*_OPTIONS])
        yield browser
        browser.close()


class Visit:
    """A tab at one service.

    origin   of the service; a request to another is an error
    also     the start of URLs elsewhere that may be requested
    allowed  the statuses of answers that the test causes, which the browser logs as errors
    """

    def __init__(self, context: BrowserContext, origin: str, *allowed: int, also: str = "") -> None:
        self.origin, self.errors = origin, list[str]()
        # What the map has shown, as west, south, east, north.
        self.areas: list[list[float]] = []
        self._reachable = (f"{origin}/", "blob:", *([also] if also else []))
        self.page: Page = context.new_page()
        self.page.set_default_timeout(_MILLISECONDS)
        self.page.on("console", lambda message: self._logged(message.type, message.text, allowed))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._requested(request.url))
        self.page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}"))

    def open(self, path: str) -> "Visit":
        """Go to a path of the service."""
        self.page.goto(self.origin + path)
        return self

    @property
    def query(self) -> str:
        """The query in the address."""
        return urlsplit(self.page.url).query

    @property
    def fragment(self) -> str:
        """The fragment in the address."""
        return urlsplit(self.page.url).fragment

    def wait(self, text: str) -> "Visit":
        """Wait until the head of the list has a text."""
        self.page.get_by_role("heading", name=text, exact=True).wait_for()
        return self

    def until(self, look: Callable[[], bool]) -> None:
        """Wait until a call returns true. Playwright handles the events of the page only inside its own calls."""

        def looked() -> bool:
            self.page.wait_for_timeout(10)
            return look()

        eventually(looked)

    @contextmanager
    def holding(self, url: str) -> Iterator[list[Route]]:
        """Hold the requests to a URL until the block ends."""
        held, is_over = list[Route](), False

        def hold(route: Route) -> None:
            if is_over:
                route.continue_()
            else:
                held.append(route)

        self.page.route(url, hold)
        yield held
        is_over = True
        for each in held:
            each.continue_()

    def rows(self) -> list[str]:
        """Return the names of the stores in the list."""
        return self.page.locator("td.name").all_inner_texts()

    def click(self, role: Any, name: str) -> None:
        """Click the control of a role and a name."""
        self.page.get_by_role(role, name=name, exact=True).click()

    def _logged(self, kind: str, text: str, allowed: tuple[int, ...]) -> None:
        expected = any(f"status of {status} " in text for status in allowed) or (0 in allowed and "ERR_" in text)
        if kind in ("error", "warning") and not expected:
            self.errors.append(text)

    def _requested(self, url: str) -> None:
        if not url.startswith(self._reachable):
            self.errors.append(f"a request to {url}")
        elif "/clusters?" in url and (area := parse_qs(urlsplit(url).query)["bbox"][0]) != _WORLD:
            self.areas.append([float(each) for each in area.split(",")])


def serious_violations(page: Page, part: str = "html") -> list[tuple[str, list[str]]]:
    """Return the rules that axe finds violated seriously in a part of a page, with the elements."""
    if not _AXE.exists():
        pytest.fail("there is no axe-core: run `make interop`, which installs it", pytrace=False)
    page.evaluate(_AXE.read_text())
    violations = page.evaluate("(part) => axe.run(part).then(({violations}) => violations)", part)
    serious = [each for each in violations if each["impact"] in ("serious", "critical")]
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in serious]


def box(found: Locator) -> Mapping[str, float]:
    """Return where an element is: x, y, width, height."""
    place = eventually(found.first.bounding_box)
    assert place is not None
    x, y, width, height = place["x"], place["y"], place["width"], place["height"]
    return {"x": x, "y": y, "width": width, "height": height, "right": x + width, "bottom": y + height}


def is_apart(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether two elements do not overlap."""
    across = one["right"] <= other["x"] or other["right"] <= one["x"]
    return across or one["bottom"] <= other["y"] or other["bottom"] <= one["y"]


def is_within(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether an element is in another."""
    across = other["x"] <= one["x"] and one["right"] <= other["right"]
    return across and other["y"] <= one["y"] and one["bottom"] <= other["bottom"]


def wait_within(found: Locator, place: Mapping[str, float]) -> None:
    """Wait until an element is in a place: what comes into it, or into others, may move it."""
    eventually(lambda: is_within(box(found), place))


def wait_for_pin(visit: Visit) -> None:
    """Wait until the pin of the open store is on the map, where its card does not cover it."""
    pin, place, card = (visit.page.locator(part) for part in (".pin", "#map", "#card"))
    eventually(lambda: is_within(box(pin), box(place)) and is_apart(box(pin), box(card)))


def scroll_to_end(visit: Visit) -> None:
    """Scroll the list to its end."""
    visit.page.locator("#rows").evaluate("rows => { rows.scrollTop = rows.scrollHeight; }")
    assert top(visit) > 0


def top(visit: Visit) -> int:
    """Return how far the list is scrolled."""
    return int(visit.page.locator("#rows").evaluate("rows => rows.scrollTop"))
