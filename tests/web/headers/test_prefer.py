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
    ("path", "headers"),
    [("/stores", HEADERS), ("/stores", {"Prefer": "handling=strict"}), ("/health?x=1", STRICT), ("/nope?x=1", STRICT)],
)
async def test_a_preference_that_was_not_applied_is_not_reported(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    assert "Preference-Applied" not in (await client.get(path, headers=headers)).headers
