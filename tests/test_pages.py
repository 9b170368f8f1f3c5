"""examples/pages/pages.py: static pages of stores for search engines."""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import orjson
import pytest
from hypothesis import given, strategies as st

from examples.pages import pages
from service.model.words import spoken
from tests.directory import store, write_directory
from tests.program import run_here

pytestmark = pytest.mark.process

SCRIPT: Final = Path(pages.__file__)
BASE: Final = "https://shop.example/stores/"
EVIL: Final = "</script><b>&"
MAPPING: Final = """
[stores.attributes]
opening_hours = { from = "Hours", kind = "hours", timezone = "Europe/Berlin" }
services = { from = "Services", kind = "list" }
parking = { from = "Parking", kind = "flag" }
site = { from = "Site", kind = "url" }
"""
FULL: Final = store(
    "s/1", name=EVIL, address_1="1 Main St", city="Köln", province="NW", country="DE", postal_code="50667",
    latitude="50.9", longitude="6.95", phone_number="+49 221 5550100", updated_at="2026-01-02T03:04:05Z",
    Hours="Mo 09:00-18:00; 2026 Dec 24 09:00-12:00; 2026 Dec 25 off", Services="Café; <b>", Parking="yes",
    Site="https://shop.example/a?b&c",
)  # fmt: skip
NONE: Final = dict.fromkeys(("Hours", "Services", "Parking", "Site"), "")
PLAIN: Final = store("plain", company_id="acme-ltd", city="Osaka", country="JP", **NONE)
CLOSED: Final = store("closed", is_open=False, **NONE)
COMPANIES: Final = [{"company_id": each, "name": each} for each in ("acme", "acme-ltd")]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return stores as the program exports them."""
    folder = tmp_path_factory.mktemp("pages")
    data = write_directory(folder / "data", [FULL, PLAIN, CLOSED], COMPANIES)
    (data / "mapping.toml").write_text(MAPPING)
    assert run_here("export", data, folder / "stores.ndjson").returncode == 0
    return folder / "stores.ndjson"


@pytest.fixture(scope="module")
def out(lines: Path) -> Path:
    """Return the folder that was made of them."""
    assert run(lines, lines.with_name("out")).returncode == 0
    return lines.with_name("out")


def run(lines: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable, SCRIPT, lines, out, "--base-url", BASE.rstrip("/")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def made(out: Path) -> list[str]:
    """Return the paths of all files in a folder."""
    return sorted(file.relative_to(out).as_posix() for file in out.rglob("*") if file.is_file())


def data_of(page: str) -> Any:
    """Return the structured data of a page."""
    return orjson.loads(re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)[0])


SCRIPTS: Final = ["東京駅前店", "ΑΘΗΝΑ ", "Łódź", "McDonald's", "E.Leclerc", "!!", "a/../b", "ÆØ", "한국 서울"]
PATH: Final = f"de/nw/koln/script-b-s-1-{sha256(b's/1').hexdigest()[:8]}.html"


def test_each_open_store_has_a_page_and_each_folder_an_index(out: Path) -> None:
    assert made(out) == sorted([
        *(".store-directory.json", "style.css", "sitemap.xml", "sitemap-1.xml", "index.html"),
        *("de/index.html", "de/nw/index.html", "de/nw/koln/index.html", PATH),
        *("jp/index.html", "jp/_/index.html", "jp/_/osaka/index.html", "jp/_/osaka/acme-ltd-plain.html"),
    ])  # fmt: skip
    root = (out / "index.html").read_text()
    listed = re.findall(r'<li><a href="([^"]*)">([^<]*)</a>([^<]*)</li>', root)
    assert listed == [("de/", "DE", " (1)"), ("jp/", "JP", " (1)")]


def test_a_page_has_what_is_known_of_its_store_and_nothing_else(out: Path) -> None:
    page = (out / PATH).read_text()
    url = BASE + PATH
    assert f'<link rel="canonical" href="{url}">' in page
    assert "<h1>&lt;/script&gt;&lt;b&gt;&amp;</h1>" in page
    assert "<dt>Monday</dt><dd>09:00 to 18:00</dd>" in page
    assert "<dt>2026-12-25</dt><dd>closed</dd>" in page
    assert "<dt>Services</dt><dd>Café, &lt;b&gt;</dd><dt>Parking</dt><dd>yes</dd>" in page
    assert 'href="https://shop.example/a?b&amp;c"' in page
    assert page.count("<script") == 1
    interval = {"@type": "OpeningHoursSpecification"}
    assert data_of(page) == {
        "@context": "https://schema.org",
        "@type": "Store",
        "@id": url,
        "url": url,
        "name": EVIL,
        "address": {
            "@type": "PostalAddress",
            "streetAddress": "1 Main St",
            "addressLocality": "Köln",
            "addressRegion": "NW",
            "postalCode": "50667",
            "addressCountry": "DE",
        },
        "geo": {"@type": "GeoCoordinates", "latitude": 50.9, "longitude": 6.95},
        "telephone": "+49 221 5550100",
        "openingHoursSpecification": [
            {**interval, "dayOfWeek": "https://schema.org/Monday", "opens": "09:00", "closes": "18:00"}
        ],
        "specialOpeningHoursSpecification": [
            {**interval, "validFrom": day, "validThrough": day, "opens": opens, "closes": closes}
            for day, opens, closes in (("2026-12-24", "09:00", "12:00"), ("2026-12-25", "00:00", "00:00"))
        ],
    }
    plain = data_of((out / "jp/_/osaka/acme-ltd-plain.html").read_text())
    assert plain["name"] == "acme-ltd"
    assert plain.keys() == {"@context", "@type", "@id", "url", "name", "address"}


def test_links_lead_to_files(out: Path) -> None:
    for file in out.rglob("*.html"):
        for link in re.findall(r'href="([^":]+)"', file.read_text()):
            target = file.parent / link
            assert (target / "index.html" if link.endswith("/") else target).is_file(), (file, link)


def test_the_sitemap_is_an_index_of_all_pages(out: Path) -> None:
    name = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    index, part = (ET.parse(out / each) for each in ("sitemap.xml", "sitemap-1.xml"))  # noqa: S314 - our own
    assert [each.text for each in index.iter(f"{name}loc")] == [f"{BASE}sitemap-1.xml"]
    assert {each.text for each in part.iter(f"{name}loc")} == {BASE + PATH, f"{BASE}jp/_/osaka/acme-ltd-plain.html"}
    assert [each.text for each in part.iter(f"{name}lastmod")] == ["2026-01-02T03:04:05Z"]


def test_another_run_touches_only_what_changed_and_removes_only_its_own(lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(lines, out)
    (out / "jp" / "own.html").write_text("of the owner")
    before = {path: (out / path).stat().st_mtime_ns for path in made(out)}
    fewer = tmp_path / "fewer.ndjson"
    fewer.write_bytes(b"".join(line for line in lines.read_bytes().splitlines(keepends=True) if b"plain" not in line))
    assert run(fewer, out).returncode == 0
    after = {path: (out / path).stat().st_mtime_ns for path in made(out)}
    assert after[PATH] == before[PATH]
    assert {path for path in after if path.startswith("jp")} == {"jp/own.html"}
    assert not (out / "jp" / "_").exists()


def test_a_folder_with_files_of_others_is_left_alone(lines: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.html").write_text("mine")
    ended = run(lines, tmp_path)
    assert ended.returncode == 1
    assert "other files" in ended.stderr
    assert made(tmp_path) == ["mine.html"]


@given(st.text(max_size=80) | st.sampled_from(SCRIPTS))
def test_a_slug_has_the_words_of_a_search_within_its_limits(text: str) -> None:
    whole = "-".join(spoken([text])[0].split())
    slug = pages.slug(text)
    assert slug == (whole or "_") or (whole.startswith(slug) and (len(whole) > 60 or len(whole.encode()) > 180))
    assert len(slug) <= 60
    assert len(slug.encode()) <= 180
