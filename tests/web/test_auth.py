"""Authentication by x-api-key."""

import pytest
from multidict import CIMultiDict

from service.access.api_key import Principal
from service.model.errors import Unauthorized
from service.model.operation import KEY_HEADER
from service.web.pipeline.auth import no_authentication
from tests.web.live import KEY, Client, authentication, exchange, with_keys


@pytest.mark.parametrize(
    "keys", [[], [""], ["wrong"], [KEY, KEY], [KEY, "wrong"], [KEY.upper()], [f"{KEY}x"], [KEY[:-1]], ["clé"]]
)
@pytest.mark.parametrize("path", ["/stores", "/companies", "/companies/acme"])
async def test_a_key_that_is_missing_empty_repeated_or_unknown_is_401(
    client: Client, path: str, keys: list[str]
) -> None:
    response = await client.get(path, headers=CIMultiDict((KEY_HEADER, key) for key in keys))
    assert (response.status, response.headers["WWW-Authenticate"]) == (401, "APIKey")
    body = await response.json()
    assert list(body) == ["detail"]
    assert isinstance(body["detail"], str)


async def test_the_name_of_the_header_is_case_insensitive(client: Client) -> None:
    assert (await client.get("/stores", headers={"X-API-KEY": KEY})).status == 200


async def test_a_key_of_bytes_that_are_not_utf_8_is_401(client: Client) -> None:
    request = b"GET /stores HTTP/1.1\r\nHost: t\r\nConnection: close\r\nx-api-key: \xff\xfe\r\n\r\n"
    assert (await exchange(client, request)).startswith(b"HTTP/1.1 401 ")


async def test_no_response_contains_a_key(client: Client) -> None:
    for path in ("/stores", "/nope", "/metrics", "/ready", "/openapi.json"):
        for key in (KEY, "wrong-key"):
            response = await client.get(path, headers={KEY_HEADER: key})
            assert key not in await response.text() + str(response.headers)


def test_each_key_has_its_own_principal() -> None:
    authenticate = authentication(["one", "two"])
    assert (authenticate(with_keys("one")), authenticate(with_keys("two"))) == (Principal("key 1"), Principal("key 2"))


def test_without_keys_every_request_is_rejected() -> None:
    with pytest.raises(Unauthorized):
        authentication([])(with_keys("anything"))


def test_without_authentication_every_request_is_accepted() -> None:
    assert no_authentication(with_keys()) == Principal("anonymous")
