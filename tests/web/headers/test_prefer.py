"""Prefer: handling=strict (RFC 7240)."""

import pytest

from service.web.http.header_fields import is_strict
from tests.web.live import HEADERS, Client

STRICT = {**HEADERS, "Prefer": "handling=strict"}


@pytest.mark.parametrize(
    ("headers", "strict"),
    [
        ([], False),
        (["handling=strict"], True),
        (["HANDLING = strict"], True),
        (['respond-async, handling="strict"; x=1'], True),
        (["respond-async", "handling=strict"], True),
        (["handling=lenient, handling=strict"], False),
        (["handling=strict", "handling=lenient"], True),
        (["handling"], False),
        (['foo="a, handling=strict"'], False),
        (['foo="a\\", handling=strict"'], False),
        (['foo="a", handling=strict'], True),
        (['handling="strict'], False),
        (["handling=stricter"], False),
        (["handling=strict;x=1, handling=lenient"], True),
        (["strict"], False),
        (["x" * 1008 + ",handling=strict"], True),
        (["x" * 1009 + ",handling=strict"], False),
        (["x," * 63 + "handling=strict"], True),
        (["x," * 64 + "handling=strict"], False),
        (["x," * 32, "x," * 32, "handling=strict"], False),
        (["handling=strict", "x" * 1010], False),
    ],
)
def test_the_first_of_a_repeated_preference_wins(headers: list[str], *, strict: bool) -> None:
    assert is_strict(headers) is strict


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/stores?city=Ottawa", 200),
        ("/companies/acme", 200),
        ("/companies/nobody", 404),
        ("/stores?limit=0", 422),
        ("/stores?x=1", 422),
    ],
)
async def test_an_applied_preference_is_reported(client: Client, path: str, status: int) -> None:
    response = await client.get(path, headers=STRICT)
    assert (response.status, response.headers["Preference-Applied"]) == (status, "handling=strict")


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/stores", HEADERS), ("/stores", {"Prefer": "handling=strict"}), ("/health?x=1", STRICT), ("/nope?x=1", STRICT)],
)
async def test_a_preference_that_was_not_applied_is_not_reported(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    assert "Preference-Applied" not in (await client.get(path, headers=headers)).headers


async def test_unknown_parameters_are_reported_last_once_each_in_their_order(client: Client) -> None:
    response = await client.get("/stores?z=1&limit=0&a=1&z=2", headers=STRICT)
    items = (await response.json())["detail"]
    assert [(item["loc"], item["type"]) for item in items] == [
        (["query", "limit"], "greater_than_equal"),
        (["query", "z"], "extra_forbidden"),
        (["query", "a"], "extra_forbidden"),
    ]
    assert items[1] == {"loc": ["query", "z"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}


async def test_the_company_operation_has_no_known_parameter(client: Client) -> None:
    response = await client.get("/companies/acme?limit=1", headers=STRICT)
    assert [item["loc"] for item in (await response.json())["detail"]] == [["query", "limit"]]
