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


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("HTTPS://Shop.Example", "https://shop.example"),
        ("https://shop.example:443", "https://shop.example"),
        ("http://shop.example:80", "http://shop.example"),
        ("http://shop.example:443", "http://shop.example:443"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://192.0.2.1", "http://192.0.2.1"),
        ("*", "*"),
    ],
)
def test_an_origin_is_normalized_as_browsers_write_it(text: str, origin: str) -> None:
    assert parse_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "shop.example", "https://", "https://shop.example/", "https://shop.example/path"),
        *("https://shop.example?x", "https://shop.example#x", "https://me@shop.example", "https://shop.example:"),
        *("https://shop.example:0x50", "https://shop.example:65536", "https://shop.example, https://other.example"),
        *("https://shöp.example", "//shop.example", "https:shop.example"),
    ],
)
def test_an_invalid_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_origin(text)
