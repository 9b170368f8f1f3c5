"""Take the pictures of the documentation, of the bundled data: `make pictures`."""

import sys
from pathlib import Path
from typing import Final

from playwright.sync_api import ViewportSize

from tests.interop.explored import DESKTOP, PHONE, chromium
from tests.program import serving

# File -> address, size, theme.
_PICTURES: Final[dict[str, tuple[str, ViewportSize, str]]] = {
    "explorer.png": ("/explorer?country=DE&country=FR", DESKTOP, "light"),
    "explorer-store.png": ("/explorer?q=toronto#store=red-river-macleod-optical-00062", DESKTOP, "dark"),
    "explorer-phone.png": (
        "/explorer?near=43.65,-79.38#place=Toronto&tab=map&store=red-river-macleod-optical-00062",
        PHONE,
        "light",
    ),
}


def main(folder: Path) -> None:
    """Write the pictures into a folder."""
    with serving("--no-auth") as service, chromium() as browser:
        for name, (path, viewport, theme) in _PICTURES.items():
            page = browser.new_page(
                viewport=viewport,
                color_scheme="dark" if theme == "dark" else "light",
                locale="en-CA",
                reduced_motion="reduce",
            )
            page.goto(service.address + path)
            page.locator("td.name").first.wait_for(state="attached")
            page.wait_for_load_state("networkidle")
            page.screenshot(path=folder / name, animations="disabled")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
