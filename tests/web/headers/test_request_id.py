"""The identifier of a request, and its trace."""

import re
from itertools import product

from service.web.http.forwarded import safe_id, trace_id
from tests.web.conftest import SiteClient
from tests.web.live import Client, exchange
from tests.web.reply import ask

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SAFE = ("abc", "0af7651916cd43dd8448eb211c80319c", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "01ARZ3+/=:@~._", "x" * 128)
UNSAFE = (
    *("sd_0123456789abcdefghijklmnop", "x-sd_0123456789abcdef", "", "x" * 129),
    *("a b", "a,b", '"a"', "a\tb", "ä", "a;b", "<script>", "a\\b"),
)


def test_only_a_safe_identifier_is_one() -> None:
    assert [safe_id(received) for received in SAFE] == [*SAFE]
    assert [safe_id(received) for received in (None, *UNSAFE)] == [None] * (1 + len(UNSAFE))


async def identifier(client: Client, target: str, *fields: str, method: str = "GET") -> str:
    (found,) = (await ask(client, target, *fields, method=method)).headers.getall("X-Request-Id")
    return found


async def test_a_safe_identifier_is_echoed_and_another_replaced(client: Client) -> None:
    assert await identifier(client, "/stores", f"X-Request-Id: {SAFE[0]}") == SAFE[0]
    assert re.fullmatch("[0-9a-f]{16}-[0-9a-f]+", await identifier(client, "/stores", f"X-Request-Id: {UNSAFE[0]}"))


async def test_every_response_has_a_unique_identifier_and_every_run_its_own(
    client: Client, site_client: SiteClient
) -> None:
    targets = ("/stores", "/stores?limit=0", "/companies/nobody", "/nope", "/stores/", "/health")
    asked = [*product(targets, ("GET", "HEAD", "POST", "BREW"))] * 2
    found = [await identifier(client, target, method=method) for target, method in asked]
    assert len({*found}) == len(found)
    assert b"\r\nX-Request-Id: " in await exchange(client, b"NONSENSE\r\n\r\n")
    assert found[0].partition("-")[0] != (await identifier(await site_client(), "/health")).partition("-")[0]


def test_only_a_valid_traceparent_has_a_trace() -> None:
    valid = (*(f"{version}-{TRACE}-{PARENT}-01" for version in ("00", "01")), f"00-{TRACE}-{PARENT}-00")
    for parent in (*valid, f"fe-{TRACE}-{PARENT}-01-what-a-later-version-adds"):
        assert trace_id(parent) == TRACE
    for invalid in (
        *(None, "", f"00-{TRACE}-{PARENT}", f"00-{TRACE}-{PARENT}-01-more", f"ff-{TRACE}-{PARENT}-01"),
        *(f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01", f"00-{TRACE.upper()}-{PARENT}-01"),
        *(f"00-{TRACE}-{PARENT}-01\n", f"01-{TRACE}-{PARENT}-01-{'x' * 2000}"),
    ):
        assert trace_id(invalid) is None, invalid
