"""Settings that change answers."""

import pytest

from tests.web.conftest import SiteClient
from tests.web.reply import ask


@pytest.mark.parametrize("cache_control", ["private, max-age=60", "no-store", "public, s-maxage=5"])
async def test_cache_control_applies_to_responses_with_data_only(site_client: SiteClient, cache_control: str) -> None:
    client = await site_client(cache_control=cache_control)
    for target in ("/stores", "/companies/acme"):
        for field in ("If-None-Match: *", "Accept-Encoding: gzip, *;q=0", "Accept: */*"):
            assert (await ask(client, target, field)).headers.getall("Cache-Control") == [cache_control]
        assert (await ask(client, target, "X-Dataset-Version: x")).headers["Cache-Control"] == "no-store"
    assert (await ask(client, "/openapi.json")).headers["Cache-Control"] == "no-cache"
