"""Rate limits of keys, over HTTP."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import pytest
from pytest_aiohttp import AiohttpClient

from service.access.api_key import Principal
from service.access.token_bucket import Rate
from service.model.errors import Unauthorized
from service.model.operation import KEY_HEADER
from service.publishing.snapshot import SnapshotHolder
from service.web.http.request import RequestFields
from service.web.pipeline.auth import Authentication
from service.web.site import make_site
from tests.access.fake_redis import Fake, deciding, silent
from tests.loaded import Data, serve
from tests.web.live import DEFAULTS, Client, ServiceServer
from tests.web.reply import Reply, RequestSpec, ask, ask_all, request

RATES = {"slow": Rate(1, 3600, 3), "wide": Rate(1, 60, 100), "free": None}
# A list with one string, which has integers as parameters (RFC 9651).
POLICY_FIELD = re.compile(r'"default";q=[0-9]{1,15};w=[1-9][0-9]{0,14}')
FIELD = re.compile(r'"default";r=(?P<r>[0-9]{1,15});t=(?P<t>[0-9]{1,15})')
FIELDS = {"RateLimit", "RateLimit-Policy"}

RatedClient = Callable[..., Awaitable[Client]]


class Authenticated(Authentication):
    """Accepts each key as the name of a principal, with the rate of that name."""

    def __call__(self, fields: RequestFields, keys: Sequence[str] = ()) -> Principal:
        names = [*keys, *fields.all.getall(KEY_HEADER, ())]
        if len(names) != 1 or names[0] not in RATES:
            raise Unauthorized
        return Principal(names[0], RATES[names[0]])


authenticate = Authenticated()


@pytest.fixture
async def rated(snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient) -> AsyncIterator[RatedClient]:
    async with AsyncExitStack() as opened:

        async def make(**changes: Any) -> Client:
            await serve(snapshots, data)
            site = make_site(snapshots, authenticate, msgspec.structs.replace(DEFAULTS, **changes))
            opened.push_async_callback(site.public.close)
            return await aiohttp_client(ServiceServer(site.public))

        yield make


async def statuses(client: Client, *specs: RequestSpec) -> list[int]:
    return [(await spec.send(client)).status for spec in specs]


async def test_requests_over_the_rate_are_429(rated: RatedClient) -> None:
    client = await rated()
    answers = [await ask(client, "/stores", key="slow") for _ in range(4)]
    assert [answer.status for answer in answers] == [200, 200, 200, 429]
    refused = answers[-1]
    assert refused.json() == {"detail": "The key exceeds its request rate limit"}
    assert refused.headers["Content-Type"] == "application/json"
    assert refused.headers["Cache-Control"] == "no-store"
    assert 3590 < int(refused.headers["Retry-After"]) <= 3600
    assert not FIELDS & set(refused.headers)


async def test_requests_without_authentication_do_not_count(rated: RatedClient) -> None:
    client = await rated(cors_origin=("*",))
    preflight = ("Origin: https://a.example", "Access-Control-Request-Method: GET")
    uncounted = [
        (RequestSpec("/stores", preflight, method="OPTIONS", key="slow"), 204),
        (RequestSpec("/stores", method="POST", key="slow"), 405),
        (RequestSpec("/stores/", key="slow"), 307),
        (RequestSpec("/nope", key="slow"), 404),
        (RequestSpec("/ready", key="slow"), 200),
        (RequestSpec("/openapi.json", key="slow"), 200),
        (RequestSpec("/stores", key="other"), 401),
    ]
    for spec, status in uncounted * 2:
        answer = await spec.send(client)
        assert (answer.status, FIELDS & set(answer.headers)) == (status, set())
    assert await statuses(client, *[RequestSpec("/stores", key="slow")] * 4) == [200, 200, 200, 429]


async def test_a_key_without_a_rate_and_other_keys_are_not_limited(rated: RatedClient) -> None:
    client = await rated(rate_limit_fields=True)
    await statuses(client, *[RequestSpec("/stores", key="slow")] * 4)
    for _ in range(20):
        answer = await ask(client, "/stores", key="free")
        assert (answer.status, FIELDS & set(answer.headers)) == (200, set())
    assert (await ask(client, "/stores", key="wide")).status == 200
    assert await counted(client) == {"allowed": 4, "refused": 1, "client_refused": 0, "store_failed": 0}


async def test_concurrent_requests_on_many_connections_get_exactly_the_burst(rated: RatedClient) -> None:
    client = await rated()
    lists = await asyncio.gather(
        *(ask_all(client, *[request("/stores?limit=1", key="wide")] * 9, last("wide")) for _ in range(30))
    )
    assert sum(answer.status == 200 for answers in lists for answer in answers) == 100


def last(key: str) -> bytes:
    return request("/stores?limit=1", "Connection: close", key=key)


def quota(answer: Reply) -> tuple[int, int]:
    """Return the values of the RateLimit field: the remaining requests, and the seconds until there is one more."""
    (policy,), (field,) = (answer.headers.getall(name) for name in ("RateLimit-Policy", "RateLimit"))
    assert POLICY_FIELD.fullmatch(policy)
    found = FIELD.fullmatch(field)
    assert found is not None, field
    return int(found["r"]), int(found["t"])


async def test_with_rate_fields_every_authenticated_response_has_the_remaining_requests(rated: RatedClient) -> None:
    client = await rated(rate_limit_fields=True)
    specs = [
        (RequestSpec("/stores", key="wide"), 200),
        (RequestSpec("/stores", ("If-None-Match: *",), key="wide"), 304),
        (RequestSpec("/stores", key="wide", method="HEAD"), 200),
        (RequestSpec("/companies/nobody", key="wide"), 404),
        (RequestSpec("/stores", ("X-Dataset-Version: x",), key="wide"), 412),
        (RequestSpec("/stores?limit=0", key="wide"), 422),
    ]
    for left, (spec, status) in zip(range(99, 0, -1), specs, strict=False):
        answer = await spec.send(client)
        assert (answer.status, quota(answer)[0]) == (status, left)
        assert answer.headers["RateLimit-Policy"] == '"default";q=1;w=60'
        assert 1 <= quota(answer)[1] <= 60


async def test_requests_during_loading_count(snapshots: SnapshotHolder, aiohttp_client: AiohttpClient) -> None:
    settings = msgspec.structs.replace(DEFAULTS, rate_limit_fields=True)
    client: Client = await aiohttp_client(ServiceServer(make_site(snapshots, authenticate, settings).public))
    answers = [await ask(client, "/stores", key="slow") for _ in range(4)]
    assert [answer.status for answer in answers] == [503, 503, 503, 429]
    assert (quota(answers[0])[0], quota(answers[3])) == (2, (0, int(answers[3].headers["Retry-After"])))


async def counted(client: Client) -> dict[str, int]:
    text = (await ask(client, "/metrics", key="")).plain.decode()
    found = re.findall(r'^store_directory_rate_limit_total\{result="(\w+)"\} (\S+)$', text, re.MULTILINE)
    return {result: int(float(value)) for result, value in found}


async def test_an_unresponsive_rate_store_refuses_no_request(rated: RatedClient) -> None:
    async with Fake(silent).serving() as fake:
        client = await rated(rate_store=fake.url, workers=2, rate_limit_fields=True)
        answers = [await ask(client, "/stores", key="wide") for _ in range(5)]
        assert [answer.status for answer in answers] == [200] * 5
        assert [quota(answer)[0] for answer in answers] == [49, 48, 47, 46, 45]
        assert await counted(client) == {"allowed": 5, "refused": 0, "client_refused": 0, "store_failed": 5}


async def test_a_request_that_the_rate_store_allows_is_answered(rated: RatedClient) -> None:
    async with Fake(deciding(b"*2\r\n:1\r\n$1\r\n1\r\n")).serving() as fake:
        client = await rated(rate_store=fake.url)
        assert (await ask(client, "/stores", key="wide")).status == 200
