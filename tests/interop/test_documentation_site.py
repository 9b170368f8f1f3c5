"""The documentation as a site: every page, nothing of other servers, and a search that works offline."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.interop.explored import chromium

ROOT = Path(__file__).parents[2]
# What a browser loads without being asked, by element; of `link` only some.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
LINKED = {"stylesheet", "icon", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload"}


class LoadedAddresses(HTMLParser):
    """The addresses that a page makes a browser load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        address = attributes.get(LOADED.get(tag, ""))
        if address and (tag != "link" or LINKED & set((attributes.get("rel") or "").split())):
            self.found.add(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the site as `make docs` does: any warning, such as of a broken link, is an error."""
    folder = tmp_path_factory.mktemp("site")
    options = ("-q", "-W", "--keep-going", "-b", "html", "-c", "tools/site", "-d", f"{folder}/doctrees")
    command = [sys.executable, "-m", "sphinx", *options, ".", f"{folder}/html"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, f"`make interop` installs what makes the site\n{ended.stderr}"
    return folder / "html"


def sources() -> set[Path]:
    """Return the pages of the repository that the site must have."""
    patterns = ("*.md", "docs/*.md", "examples/README.md", "examples/*/README.md", "bench/README.md")
    return {page.relative_to(ROOT) for pattern in patterns for page in ROOT.glob(pattern)}


def test_every_page_and_picture_is_in_the_site(site: Path) -> None:
    assert [page for page in sources() if not (site / page.with_suffix(".html")).exists()] == []
    pictures = {picture.name for picture in (ROOT / "docs").glob("*.png")}
    assert pictures
    assert pictures <= {picture.name for picture in (site / "_images").iterdir()}
    assert (site / "index.html").read_bytes() == (site / "README.html").read_bytes()


def test_no_page_or_stylesheet_loads_anything_of_another_server(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    loaded = {page: LoadedAddresses(page.read_text("utf-8")).found for page in pages}
    assert all(loaded.values())
    assert [each for found in loaded.values() for each in found if re.match(r"\w+:|//", each)] == []
    for sheet in site.rglob("*.css"):
        urls = re.findall(r"url\(['\"]?(?!data:)([^)]*)|@import ['\"]([^'\"]*)", sheet.read_text("utf-8"))
        assert [url for pair in urls for url in pair if re.match(r"\w+:|//", url)] == [], sheet


def test_llms_txt_lists_each_page_of_the_index_once_and_links_to_its_markdown(site: Path) -> None:
    heading, _, summary, _, section, _, *items = (site / "llms.txt").read_text("utf-8").splitlines()
    assert (heading, section) == ("# Store Directory", "## Documentation")
    assert summary.startswith("> ")
    links = [re.fullmatch(r"- \[[^]]+\]\(_sources/([^)]+)\): \S.*", item) for item in items]
    listed = [link[1] for link in links if link]
    assert len(listed) == len(items) == len(set(listed))
    docs = {page.as_posix() for page in sources() if page.parts[0] == "docs"}
    assert docs - {"docs/README.md"} <= set(listed)
    assert [page for page in listed if (site / "_sources" / page).read_bytes() != (ROOT / page).read_bytes()] == []


def test_a_search_works_without_a_server(site: Path) -> None:
    addresses: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: addresses.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.get_by_placeholder("Search").fill("slowloris")
        page.keyboard.press("Enter")
        page.locator("#search-results a", has_text="Hostile clients").click()
        page.locator("h1", has_text="Hostile clients").wait_for()
    assert [url for url in addresses if not url.startswith((site.as_uri(), "data:"))] == []
    assert any("/docs/hostile.html" in url for url in addresses)
