"""The identifier of a request, and its trace."""

import re

import pytest
from hypothesis import given, strategies as st

from service.web.http.forwarded import trace_id
from tests.web.conftest import SiteClient
from tests.web.live import HEADERS, Client, ask, exchange

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SAFE = ("abc", "0af7651916cd43dd8448eb211c80319c", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "01ARZ3+/=:@~._", "x" * 128)
UNSAFE = (
    "sd_0123456789abcdefghijklmnop",
    "x-sd_0123456789abcdef",
    "",
    "x" * 129,
    *("a b", "a,b", '"a"', "a\tb", "ä", "a;b", "<script>", "a\\b"),
)


@pytest.mark.parametrize("received", SAFE)
async def test_a_safe_identifier_is_echoed(client: Client, received: str) -> None:
    async with client.get("/stores", headers={**HEADERS, "X-Request-Id": received}) as response:
        assert response.headers.getall("X-Request-Id") == [received]


@pytest.mark.parametrize("received", UNSAFE)
async def test_an_unsafe_identifier_is_replaced(client: Client, received: str) -> None:
    answer = (await ask(client, "/stores", headers=(f"X-Request-Id: {received}",))).decode("latin-1")
    assert re.findall(r"\r\nX-Request-Id: (.*)\r\n", answer) != [received]
    assert re.search(r"\r\nX-Request-Id: [0-9a-f]{16}-[0-9a-f]+\r\n", answer)


@pytest.mark.parametrize("target", ["/stores", "/stores?limit=0", "/companies/nobody", "/nope", "/stores/", "/health"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "BREW"])
async def test_every_response_has_a_unique_identifier(client: Client, target: str, method: str) -> None:
    answers = [(await ask(client, target, method=method)).partition(b"\r\n\r\n")[0] for _ in range(2)]
    first, second = (re.findall(rb"\r\nX-Request-Id: (\S+)", answer) for answer in answers)
    assert len(first) == len(second) == 1
    assert first != second


async def test_the_response_to_malformed_http_has_an_identifier(client: Client) -> None:
    assert b"\r\nX-Request-Id: " in await exchange(client, b"NONSENSE\r\n\r\n")


async def test_generated_identifiers_differ_between_runs(site_client: SiteClient) -> None:
    runs = set()
    for _ in range(2):
        answer = await ask(await site_client(), "/health")
        runs.add(re.findall(rb"\r\nX-Request-Id: ([0-9a-f]{16})-", answer)[0])
    assert len(runs) == 2


@pytest.mark.parametrize(
    "parent",
    [
        f"00-{TRACE}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-00",
        f"01-{TRACE}-{PARENT}-01",
        f"fe-{TRACE}-{PARENT}-01-what-a-later-version-adds",
    ],
)
def test_a_valid_traceparent_has_a_trace(parent: str) -> None:
    assert trace_id(parent) == TRACE


@pytest.mark.parametrize(
    "parent",
    [
        None,
        "",
        f"00-{TRACE}-{PARENT}",
        f"00-{TRACE}-{PARENT}-01-more",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-01\n",
        f"01-{TRACE}-{PARENT}-01-{'x' * 2000}",
    ],
)
def test_an_invalid_traceparent_has_no_trace(parent: str | None) -> None:
    assert trace_id(parent) is None


@given(st.text(max_size=80) | st.from_regex(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}", fullmatch=True))
def test_a_trace_identifier_is_32_hexadecimal_digits(parent: str) -> None:
    trace = trace_id(parent)
    assert trace is None or (re.fullmatch("[0-9a-f]{32}", trace) and trace in parent)
