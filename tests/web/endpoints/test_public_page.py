"""`--explorer public`: how the page for everyone is served. What it does is tested in a browser: tests/interop."""

import re
from pathlib import Path
from typing import Final

from tests.web.conftest import SiteClient
from tests.web.endpoints.test_explorer_files import loaded

PUBLIC: Final = {"explorer": "public", "explorer_key": "sd_pub_abc"}


async def test_it_has_the_key_and_the_look_of_the_operator(site_client: SiteClient, tmp_path: Path) -> None:
    (tmp_path / "Logo.PNG").write_bytes(b"\x89PNG")
    client = await site_client(**PUBLIC, title='A "shop" <b>', logo=str(tmp_path / "Logo.PNG"), accent="#b3261e")
    html = await (await client.get("/explorer")).text()
    assert "<title>A &quot;shop&quot; &lt;b&gt;</title>" in html
    assert '<store-locator key="sd_pub_abc" ' in html
    assert "#b3261e" in await (await client.get("/explorer/page.css")).text()
    logo = await client.get("/explorer/logo.png")
    assert (logo.headers["Content-Type"], await logo.read()) == ("image/png", b"\x89PNG")


async def test_it_is_plain_without_settings_and_has_no_way_to_the_api(site_client: SiteClient) -> None:
    client = await site_client(no_auth=True, explorer="public")
    html = await (await client.get("/explorer")).text()
    assert "<title>Stores</title>" in html
    assert '<store-locator key="" ' in html
    style = await (await client.get("/explorer/page.css")).text()
    assert not re.search("{[A-Z]", html + style)
    assert not re.search("docs|openapi|csv", html)
    assert (await client.get("/explorer/logo.svg")).headers["Content-Type"] == "image/svg+xml"
    assert (await client.get("/explorer/filters.js")).status == 404


async def test_what_it_loads_is_relative_and_is_there(site_client: SiteClient) -> None:
    assert "/embed/store-locator.js" in await loaded(await site_client(**PUBLIC), "/explorer")


async def test_pages_of_the_origins_that_are_named_may_frame_it_and_no_others(site_client: SiteClient) -> None:
    client = await site_client(**PUBLIC)
    assert "; frame-ancestors 'none';" in (await client.get("/explorer")).headers["Content-Security-Policy"]
    client = await site_client(**PUBLIC, frame_ancestors=("https://Shop.example", "http://localhost:8000"))
    policy = (await client.get("/explorer")).headers["Content-Security-Policy"]
    assert "; frame-ancestors https://shop.example http://localhost:8000;" in policy
    assert "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';" in policy


async def test_it_can_be_turned_off(site_client: SiteClient) -> None:
    assert (await (await site_client(**PUBLIC, no_explorer=True)).get("/explorer")).status == 404
