"""The rate of each client of a public key, and that of the key: a request that one of them refuses takes of neither."""

import re
from collections import Counter
from copy import copy
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st
from multidict import CIMultiDict, CIMultiDictProxy
from pytest_aiohttp import AiohttpClient

from service.access import token_bucket
from service.access.api_key import Principal, new_key
from service.access.rate_limiter import RateLimiter, RedisLimiter
from service.access.token_bucket import MemoryLimiter, Rate
from service.model.errors import TooManyRequests
from service.publishing.snapshot import SnapshotHolder
from service.settings import Settings
from service.web.http.forwarded import client_network
from service.web.http.request import RequestFields
from service.web.pipeline.auth import RateLimits
from service.web.pipeline.counters import Event
from tests.access.example_keys import entry
from tests.access.fake_redis import Fake, deciding
from tests.access.gcra_model import Bucket, Clock
from tests.loaded import Data, serve
from tests.web.live import Client
from tests.web.reply import Reply, ask
from tests.web.test_public_keys import SHOP, Service

EXACT = st.builds(Rate, st.sampled_from((1, 2, 4, 8)), st.sampled_from((1, 60, 3600)), st.integers(1, 6))
ADDRESSES = ("192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1")
NO_FIELDS = RequestFields(CIMultiDictProxy(CIMultiDict()))
NETWORKS = {
    "192.0.2.1": "192.0.2.1",
    "::ffff:192.0.2.1": "192.0.2.1",
    "2001:db8::1": "2001:0db8:0000:0000",
    "2001:db8::ffff:0:0:1": "2001:0db8:0000:0000",
    "2001:db8:0:1::1": "2001:0db8:0000:0001",
    "fe80::1%eth0": "fe80:0000:0000:0000",
    "::1": "0000:0000:0000:0000",
    "unix": "unix",
}


def test_a_client_is_an_address_of_ipv4_or_64_bits_of_ipv6() -> None:
    assert {address: client_network(address) for address in NETWORKS} == NETWORKS


class Limited:
    """The rates of one key whose clock the test controls, and of each decision whether it was allowed, and by whom."""

    def __init__(self, principal: Principal, **settings: object) -> None:
        self.clock, self.principal = Clock(), principal
        self.counted: Counter[Event] = Counter()
        limiter = RateLimiter(MemoryLimiter(clock=self.clock))
        made = msgspec.convert(settings | {"rate_limit_fields": True}, Settings)
        count = lambda event: self.counted.update([event])  # noqa: E731 - as it is called
        self.rates = RateLimits(limiter, MemoryLimiter(clock=self.clock), made, count)

    def ask(self, address: str | None, fields: RequestFields = NO_FIELDS) -> tuple[str, int]:
        """Return who refuses a request, and how many more that allows; "" and the same of a client if none does."""
        try:
            lines = self.rates.check(self.principal, address, fields)
        except TooManyRequests as refused:
            owner = str(refused.body.detail).split()[1]
            return owner, self._remaining("".join(refused.headers.values()))
        assert isinstance(lines, str)
        return "", self._remaining(lines)

    @staticmethod
    def _remaining(fields: str) -> int:
        return int(re.findall(";r=([0-9]+);", fields)[0])


@given(EXACT, EXACT, st.lists(st.tuples(st.integers(0, 40), st.sampled_from(ADDRESSES)), min_size=1, max_size=80))
def test_each_decision_is_that_of_two_models_of_which_a_refusal_takes_of_neither(
    own: Rate, per_client: Rate, requests: list[tuple[int, str]]
) -> None:
    limited = Limited(Principal("shop", own, origins=frozenset({SHOP}), per_client=per_client))
    key, clients = Bucket(own), {address: Bucket(per_client) for address in ADDRESSES}
    for step, address in requests:
        limited.clock.now += step / 64
        before = copy(clients[address])
        of_client = clients[address].take(limited.clock.now)
        expected = ("", of_client.remaining)
        if not of_client.allowed:
            expected = ("client", 0)
        elif not (of_key := key.take(limited.clock.now)).allowed:
            clients[address] = before
            expected = ("key", of_key.remaining)
        assert limited.ask(address) == expected


def test_without_a_rate_of_its_own_only_the_clients_of_a_key_are_limited() -> None:
    limited = Limited(Principal("shop", per_client=Rate(1, 60, 2)))
    assert [limited.ask(address) for address in ("a", "a", "a", "b")] == [("", 1), ("", 0), ("client", 0), ("", 1)]
    assert limited.counted == {Event.RATE_ALLOWED: 3, Event.CLIENT_REFUSED: 1}
    limited.principal = msgspec.structs.replace(limited.principal, name="other")
    assert limited.ask("a") == ("", 1)  # the clients of two keys at one address are not one


def test_who_owns_many_addresses_escapes_the_limit_of_a_client_but_not_that_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(token_bucket, "MAX_BUCKETS", 100)
    limited = Limited(Principal("shop", Rate(1, 86_400, 109), per_client=Rate(1, 86_400, 1)))
    assert [limited.ask("first")[0] for _ in range(2)] == ["", "client"]
    for number in range(100):
        assert limited.ask(f"2001:db8:0:{number:x}::1")[0] == ""
    assert limited.ask("first")[0] == ""  # the least recently used one starts afresh
    assert [limited.ask(f"10.0.0.{number}")[0] for number in range(9)] == [*[""] * 7, "key", "key"]


def forwarded(value: str) -> RequestFields:
    return RequestFields(CIMultiDictProxy(CIMultiDict({"X-Forwarded-For": value})))


def test_the_first_refusal_behind_an_untrusted_proxy_is_a_warning_that_says_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for settings, peer, warned in (({}, "192.0.2.9", True), ({"trusted_proxy": ("192.0.2.9",)}, "192.0.2.9", False)):
        caplog.clear()
        limited = Limited(Principal("shop", per_client=Rate(1, 60, 1)), **settings)
        assert [limited.ask(peer)[0] for _ in range(3)] == ["", "client", "client"]
        assert caplog.messages == []
        for _ in range(3):
            limited.ask(peer, forwarded("198.51.100.1"))
        text = "all clients behind 192.0.2.9 share the rate of one: set --trusted-proxy"
        assert caplog.messages == [text] * warned


def test_clients_on_a_unix_socket_are_one_unless_its_proxy_is_trusted(caplog: pytest.LogCaptureFixture) -> None:
    for settings, owner in (({}, "client"), ({"trusted_proxy": ("unix",)}, "")):
        limited = Limited(Principal("shop", per_client=Rate(1, 60, 1)), **settings)
        assert [limited.ask(None, forwarded(f"198.51.100.{number}"))[0] for number in (1, 2)] == ["", owner]
    assert caplog.messages == ["all clients behind unix share the rate of one: set --trusted-proxy"]


PUBLIC, PLAIN = new_key("sd_pub_"), new_key("sd_pub_")
KEYS = (
    entry(PUBLIC, name="shop", origins=(SHOP,), rate="1/d", burst=4, per_client="2/d"),
    entry(PLAIN, name="unlimited", origins=(SHOP,)),
)


@pytest.fixture
async def service(tmp_path: Path, snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient) -> Service:
    await serve(snapshots, data)
    return Service(tmp_path, KEYS, snapshots, aiohttp_client)


async def from_address(client: Client, address: str, target: str = "/stores?limit=1", key: str = PUBLIC) -> Reply:
    fields = (f"Origin: {SHOP}", f"X-Forwarded-For: {address}")
    return await ask(client, f"{target}&key={key}", *fields, key="")


async def test_a_client_over_its_rate_gets_a_429_that_the_website_can_read(service: Service) -> None:
    changes = {"trusted_proxy": ("127.0.0.1",), "rate_limit_fields": True}
    client = await service.client(clock=None, **changes)
    replies = [await from_address(client, address) for address in ("2001:db8::1", "2001:db8::2", "2001:db8::3")]
    assert [reply.status for reply in replies] == [200, 200, 429]
    refused = replies[-1]
    assert refused.json() == {"detail": "The client exceeds its request rate limit"}
    assert refused.headers["Access-Control-Allow-Origin"] == SHOP
    assert {"retry-after", "ratelimit"} <= refused.listed("Access-Control-Expose-Headers")
    assert [reply.headers["RateLimit-Policy"] for reply in replies] == ['"default";q=2;w=86400'] * 3
    others = [await from_address(client, f"192.0.2.{number}") for number in (1, 2, 3)]
    assert [reply.status for reply in others] == [200, 200, 429]
    assert others[-1].json() == {"detail": "The key exceeds its request rate limit"}
    assert others[-1].headers["RateLimit-Policy"] == '"default";q=1;w=86400'
    assert {each.key for each in service.entries} == {"shop"}
    assert [each.client for each in service.entries][2:4] == ["2001:db8::3", "192.0.2.1"]
    text = (await ask(client, "/metrics", key="")).plain.decode()
    counts = dict(re.findall(r'^store_directory_rate_limit_total\{result="(\w+)"\} (\S+)$', text, re.MULTILINE))
    assert counts == {"allowed": "4.0", "refused": "1.0", "client_refused": "1.0", "store_failed": "0.0"}


async def test_requests_for_too_much_count_and_those_of_other_websites_do_not(service: Service) -> None:
    client = await service.client(trusted_proxy=("127.0.0.1",))
    for fields in ((), ("Origin: null",), ("Origin: https://evil.example",)):
        for target in (f"/stores?limit=1&key={PUBLIC}", f"/companies?key={PUBLIC}"):
            assert (await ask(client, target, *fields, key="")).status == 403
    statuses = [
        (await from_address(client, "192.0.2.1", target)).status for target in ("/stores?limit=51", "/stores?limit=x")
    ]
    assert statuses == [403, 422]
    assert (await from_address(client, "192.0.2.1")).status == 429
    assert [(await from_address(client, "192.0.2.1", key=PLAIN)).status for _ in range(9)] == [200] * 9


@pytest.mark.process
async def test_a_request_that_the_rate_store_refuses_takes_nothing_of_its_client() -> None:
    principal = Principal("shop", Rate(1, 86_400, 4), per_client=Rate(1, 86_400, 1))
    async with Fake(deciding(b"*2\r\n:0\r\n$1\r\n4\r\n")).serving() as fake:
        limiter = RateLimiter(MemoryLimiter(), RedisLimiter(fake.url))
        rates = RateLimits(limiter, MemoryLimiter(), Settings(), lambda _: None)
        waiting = rates.check(principal, "a", NO_FIELDS)
        assert callable(waiting)
        with pytest.raises(TooManyRequests, match="The key exceeds"):
            await waiting()
        with pytest.raises(TooManyRequests, match="The key exceeds"):  # decided by the last refusal of the store
            rates.check(principal, "a", NO_FIELDS)
        await rates.close()
