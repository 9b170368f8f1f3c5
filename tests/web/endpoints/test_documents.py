"""/openapi.json and /docs."""

import re

from tests.web.live import Client


async def test_the_page_loads_only_assets_that_the_service_has(client: Client) -> None:
    response = await client.get("/docs")
    html = await response.text()
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "connect-src 'self'" in response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert "://" not in html
    loaded = re.findall(r'(?:src|href)="(docs/[^"]+)"', html)
    assert len(loaded) == 3
    for path in loaded:
        assert (await client.get(f"/{path}")).status == 200


async def test_the_page_shows_the_document_of_this_service(client: Client) -> None:
    script = await (await client.get("/docs/page.js")).text()
    assert 'new URL("openapi.json", SERVICE)' in script
    assert "validatorUrl: null" in script
    assert (await (await client.get("/openapi.json")).json())["openapi"] == "3.1.0"
