"""The order of checks: path, method, key, parameters, record."""

import pytest

from tests.web.live import Client, ask

PATHS = (
    *("/stores", "/companies", "/companies/acme", "/openapi.json", "/docs", "/docs/page.js", "/docs/key.js"),
    *("/explorer", "/explorer/page.js", "/embed/store-locator.js", "/favicon.ico", "/health", "/ready", "/metrics"),
)


@pytest.mark.parametrize("method", ["GET", "POST", "PROPFIND"])
async def test_one_trailing_slash_on_a_known_path_redirects_whatever_the_method(client: Client, method: str) -> None:
    for path in PATHS:
        answer = await ask(client, f"{path}/?limit=2&x=%2F", method=method)
        assert answer.startswith(b"HTTP/1.1 307 ")
        assert f"\r\nLocation: {path}?limit=2&x=%2F\r\n".encode() in answer


@pytest.mark.parametrize(
    "target",
    [
        *("/nope", "/nope/", "/stores//", "//stores", "//evil.example/", "//", "/stores%2F", "/stores%2F/"),
        *("/companies//", "/companies/acme//", "/companies/acme/stores", "/Stores", "/docs/nope.js"),
    ],
)
async def test_an_unknown_path_is_404(client: Client, target: str) -> None:
    for method in ("GET", "DELETE"):
        answer = await ask(client, target, method=method)
        assert answer.startswith(b"HTTP/1.1 404 ")
        assert answer.endswith(b'{"detail":"Not Found"}')


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
async def test_a_method_that_is_not_allowed_is_405_without_a_key(client: Client, method: str) -> None:
    for path in PATHS:
        response = await client.request(method, path)
        assert (response.status, response.headers["Allow"]) == (405, "GET, HEAD")
        assert await response.json() == {"detail": "Method Not Allowed"}


@pytest.mark.parametrize(
    ("target", "status"),
    [("/stores", 405), ("/companies/acme?x=1", 405), ("/stores/?x=1", 307), ("/nope", 404), ("/companies//", 404)],
)
async def test_a_nonstandard_method_is_handled_like_any_other(client: Client, target: str, status: int) -> None:
    for method in ("BREW", "get", "M-SEARCH-2", "!"):
        answer = await ask(client, target, method=method)
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        if status == 405:
            assert b"\r\nAllow: GET, HEAD\r\n" in answer
        if status == 307:
            assert b"\r\nLocation: /stores?x=1\r\n" in answer


async def test_an_absolute_target_is_routed_by_its_path(client: Client) -> None:
    answer = await ask(client, "http://anywhere.example/stores?limit=1")
    assert answer.startswith(b"HTTP/1.1 200 ")
