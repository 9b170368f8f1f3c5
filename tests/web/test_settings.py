"""Settings that change answers."""

import pytest

from service.settings import parse_origin
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


@pytest.mark.parametrize("text", ["*", "https://shop.example", "capacitor://localhost", "http://[::1]:8080"])
def test_an_origin_of_any_scheme_or_any_origin_may_be_allowed(text: str) -> None:
    assert parse_origin(text) == text


@pytest.mark.parametrize(
    "text", ["", "null", "https://*.shop.example", "https://shop.example/", "https://shop.example;x"]
)
def test_an_invalid_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        parse_origin(text)
