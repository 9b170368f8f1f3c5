"""Public keys: where they may be, where and for which websites they are valid, and that no response depends on them."""

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest_aiohttp import AiohttpClient

from service.access.api_key import new_key
from service.access.key_file import KeyEntry, encode_keys, whole_seconds
from service.access.keyring import Keyring
from service.publishing.snapshot import SnapshotHolder
from service.web.pipeline.auth import KeyAuthentication, no_authentication
from service.web.site import make_site
from tests.access.example_keys import entry
from tests.loaded import Data, serve
from tests.web.live import DEFAULTS, Client, ServiceServer
from tests.web.reply import Reply, ask, ask_all, request

SHOP, WWW, OTHER = "https://shop.example", "https://www.shop.example", "https://other.example"
PUBLIC, FOREIGN, REVOKED, EXPIRED, LOST = (new_key("sd_pub_") for _ in range(5))
SECRET = new_key()
TODAY = whole_seconds(datetime.now(UTC))
ENTRIES = (
    entry(SECRET, name="secret"),
    entry(PUBLIC, name="shop", origins=(SHOP, "https://*.shop.example")),
    entry(FOREIGN, name="other", origins=(OTHER,)),
    entry(REVOKED, name="revoked", origins=("https://revoked.example",), revoked_at=TODAY),
    entry(EXPIRED, name="expired", origins=("https://expired.example",), expires_at=TODAY - timedelta(days=1)),
    entry(LOST, name="lost"),
)
PLACE = "A public key is for /stores, /stores/{store_id}, /clusters and /places"
WEBSITE = "The key is not for this website"
AMOUNT = "A public key needs a limit of at most 50, within the first 1,000 records"
TWICE = "The key is given twice"
ONLY = "Only a public key (sd_pub_…) may be in the address: send others in the header x-api-key"
ALLOWED = "Access-Control-Allow-Origin"
FROM_SHOP, SAME_ORIGIN = f"Origin: {SHOP}", "Sec-Fetch-Site: same-origin"


class Service:
    """A service with the keys of a file, and what it logged."""

    def __init__(
        self, folder: Path, entries: Iterable[KeyEntry], snapshots: SnapshotHolder, connect: AiohttpClient
    ) -> None:
        self._snapshots, self._connect = snapshots, connect
        self.file = folder / "keys.json"
        self.file.write_bytes(encode_keys(entries))
        self.ring = Keyring({}, self.file, folder / "backup.json")
        self.entries: list[Any] = []

    async def client(self, *, clock: float | None = None, **changes: Any) -> Client:
        await self.ring.start()
        settings = msgspec.structs.replace(DEFAULTS, **changes)
        keys = KeyAuthentication(self.ring, (lambda: clock) if clock is not None else time.time)
        authenticate = no_authentication if settings.no_auth else keys
        site = make_site(self._snapshots, authenticate, settings, log=self._write)
        client: Client = await self._connect(ServiceServer(site.public))
        return client

    def _write(self, entry: object) -> bool:
        self.entries.append(entry)
        return True


@pytest.fixture
async def service(tmp_path: Path, snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient) -> Service:
    await serve(snapshots, data)
    return Service(tmp_path, ENTRIES, snapshots, aiohttp_client)


@pytest.fixture
async def client(service: Service) -> Client:
    return await service.client()


async def public(client: Client, target: str, *fields: str, key: str = PUBLIC, **more: Any) -> Reply:
    """Return the response to a request from a page of the shop, with the key at the end of its address."""
    separator = "&" if "?" in target else "?"
    return await ask(client, f"{target}{separator}key={key}", *(fields or (FROM_SHOP,)), key="", **more)


def detail(reply: Reply) -> str:
    return str(reply.json()["detail"])


READS = (FROM_SHOP,)
MAP = "/clusters?bbox=-180,-90,180,90&zoom=1"
LOCATION = f"key={PUBLIC}"
# What is sent: target, keys in the header, further fields. What comes: status, the beginning of the detail of an
# error, and who may read it.
VERDICTS: Sequence[tuple[str, Sequence[str], Sequence[str], int, str, str | None]] = (
    ("/stores?limit=2", [SECRET], (), 200, "", None),
    ("/stores?limit=2", [SECRET], READS, 200, "", None),
    *(("/stores?limit=2", [PUBLIC], (f"Origin: {origin}",), 200, "", origin) for origin in (SHOP, WWW)),
    ("/stores?limit=2", [FOREIGN], (f"Origin: {OTHER}",), 200, "", OTHER),
    ("/stores?limit=2", [PUBLIC], (SAME_ORIGIN,), 200, "", ""),
    *(
        ("/stores?limit=2", [PUBLIC], (field,), 403, WEBSITE, None)
        for field in (
            *(f"Origin: {origin}" for origin in (OTHER, "null", "", f"{SHOP}:444", "http://shop.example")),
            *(f"Sec-Fetch-Site: {site}" for site in ("same-site", "cross-site", "none")),
            "A: a",
        )
    ),
    ("/stores?limit=2", [PUBLIC], (f"Origin: {OTHER}", SAME_ORIGIN), 403, WEBSITE, None),
    *(("/stores?limit=2", [key], READS, 401, "The", None) for key in (REVOKED, EXPIRED, LOST, "", "sd_pub_x")),
    ("/stores?limit=2", [PUBLIC, PUBLIC], READS, 401, "The", None),
    *(
        (f"/stores?{query}", (), READS, 200, "", SHOP)
        for query in (
            *(f"limit=2&{LOCATION}", f"{LOCATION}&limit=2", f"%6bey={PUBLIC}&limit=2"),
            *(f"limit=2&k%65%79={PUBLIC}&key=", f"limit=2&key=sd%5Fpub%5f{PUBLIC[7:]}"),
        )
    ),
    *((f"/stores?limit=2&key={key}", (), READS, 401, "The", "*") for key in (REVOKED, EXPIRED, LOST, "", "sd_pub_x")),
    *((f"/stores?limit=2&key={key}", (), READS, 401, ONLY, "*") for key in (SECRET, "%C3%A9%FF")),
    (f"/stores?limit=2&key={FOREIGN}", (), READS, 403, WEBSITE, "*"),
    *((f"/stores?limit=2&{pair}", (), READS, 401, "The", None) for pair in (f"Key={PUBLIC}", f"key%3D{PUBLIC}")),
    (f"/stores?limit=2&{LOCATION}&{LOCATION}", (), READS, 401, TWICE, "*"),
    *((f"/stores?limit=2&{LOCATION}", [key], READS, 401, TWICE, "*") for key in (SECRET, PUBLIC)),
    ("/stores?limit=2&key=x", [SECRET], READS, 401, TWICE, "*"),
    ("/stores?limit=2&key=", [SECRET], READS, 200, "", None),
    (f"/stores?limit=2&{LOCATION}", [""], READS, 200, "", SHOP),
    # The order of checks: operation, website, parameters, amount, version, record.
    *((target, [PUBLIC], READS, 200, "", SHOP) for target in ("/stores/s1", MAP, "/places?q=Toronto")),
    *(
        (path, [PUBLIC], (f"Origin: {OTHER}",), 403, PLACE, None)
        for path in ("/companies", "/companies/acme", "/stores.csv")
    ),
    ("/stores?limit=x", [PUBLIC], (f"Origin: {OTHER}",), 403, WEBSITE, None),
    ("/stores?limit=x", [PUBLIC], READS, 422, "", SHOP),
    *((f"/stores?{amount}", [PUBLIC], READS, 200, "", SHOP) for amount in ("limit=50", "limit=50&page_num=20")),
    *(
        (f"/stores?{amount}", [PUBLIC], (FROM_SHOP, "X-Dataset-Version: x"), 403, AMOUNT, SHOP)
        for amount in ("limit=50&page_num=21", "limit=51", "page_num=1", "")
    ),
    (f"/stores?limit=51&{LOCATION}", (), READS, 403, AMOUNT, "*"),
    ("/stores?limit=2", [PUBLIC], (FROM_SHOP, "X-Dataset-Version: x"), 412, "", SHOP),
    ("/stores/nobody", [PUBLIC], (FROM_SHOP, "X-Dataset-Version: x"), 412, "", SHOP),
    ("/stores/nobody", [PUBLIC], READS, 404, "", SHOP),
)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_key_is_judged_as_described_wherever_it_is(client: Client, method: str) -> None:
    for target, keys, fields, status, why, allowed in VERDICTS:
        sent = (*(f"x-api-key: {key}" for key in keys), *fields)
        reply = await ask(client, target, *sent, method=method, key="")
        assert (reply.status, reply.headers.get(ALLOWED)) == (status, allowed or None), (target, sent)
        assert not (reply.body and why) or detail(reply).startswith(why), (target, sent)
        assert allowed is None or "origin" in reply.listed("Vary"), (target, sent)
        assert status != 401 or reply.headers["WWW-Authenticate"] == "APIKey"
        assert (await ask(client, target, *sent, method="POST", key="")).status == 405


async def test_responses_of_other_keys_that_are_cached_are_looked_up_without_the_key(client: Client) -> None:
    async def hits() -> int:
        text = (await ask(client, "/metrics", key="")).plain.decode()
        return int(float(text.partition('store_directory_response_cache_total{result="hit"} ')[2].split("\n")[0]))

    for _ in range(2):
        await ask(client, "/stores?limit=3", key=SECRET)
    before = await hits()
    for target in ("/stores?limit=3&key={}", "/stores?key={}&limit=3", "/stores?%6b%65y={}&limit=3"):
        for method in ("GET", "HEAD"):
            assert (await ask(client, target.format(PUBLIC), FROM_SHOP, method=method, key="")).status == 200
    assert await hits() == before + 6


async def test_a_cached_page_that_is_too_large_for_public_keys_is_refused(client: Client) -> None:
    for target in ("/stores?limit=60", "/stores", "/stores?limit=50&page_num=40"):
        sent = [request(target, "Connection: keep-alive", key=SECRET)] * 3
        replies = await ask_all(client, *sent, request(target, FROM_SHOP, "Connection: close", key=PUBLIC))
        assert [reply.status for reply in replies] == [200, 200, 200, 403]


@pytest.mark.parametrize("end", [" HTTP/1.1", " HTTP/1.0"])
async def test_the_public_key_of_one_request_is_not_that_of_the_next_on_a_connection(client: Client, end: str) -> None:
    fields = f"{end}\r\nHost: t\r\n{FROM_SHOP}\r\nConnection: keep-alive\r\n\r\n".encode()
    lines = [f"/stores?limit=1&key={PUBLIC}", "/stores?limit=1", f"/stores?limit=1&key={FOREIGN}", "/stores?key=x"]
    sent = [f"GET {line}".encode() + fields for line in (lines[0], *lines, *lines)]
    replies = await ask_all(client, *sent, request("/health", "Connection: close", key=""))
    assert [reply.status for reply in replies] == [200, *(200, 401, 403, 401) * 2, 200]


async def test_the_key_is_in_no_link_ignored_parameter_redirect_or_log(client: Client, service: Service) -> None:
    for target in ("/stores?key={}&limit=1&x=1", "/stores?limit=1&%6Bey={}&x=1", "/stores/?x=1&limit=1&key={}"):
        for fields in ((), ("Accept: application/geo+json",)):
            reply = await ask(client, target.format(PUBLIC), FROM_SHOP, *fields, key="")
            text = str(reply.headers) + reply.plain.decode()
            assert "sd_pub" not in text
            assert "key" not in text.replace("x-api-key", "")
            if reply.status == 200:
                assert reply.headers["X-Ignored-Parameters"] == "x"
    assert reply.headers["Location"] == "/stores?x=1&limit=1"
    assert {each.key for each in service.entries} == {"shop", None}
    assert "sd_pub" not in str(service.entries)


async def test_redirects_drop_the_key_whatever_the_method(client: Client) -> None:
    for method in ("GET", "POST", "BREW"):
        for query, kept in ((f"key={PUBLIC}&a=1", "?a=1"), (f"key={PUBLIC}", ""), ("%6bey=x&&a", "?&a")):
            reply = await ask(client, f"/stores/?{query}", method=method, key="")
            assert (reply.status, reply.headers["Location"]) == (307, f"/stores{kept}")


async def test_problem_details_say_why_a_key_is_refused(client: Client) -> None:
    reply = await public(client, "/companies", FROM_SHOP, "Accept: application/problem+json")
    assert reply.json() == {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": PLACE}


PREFLIGHT = "Access-Control-Request-Method: GET"


async def test_preflights_are_answered_for_the_websites_of_valid_keys_on_their_paths(client: Client) -> None:
    for path in ("/stores", "/stores/s1", "/clusters", "/places", f"/stores?limit=20&key={PUBLIC}"):
        for origin in (SHOP, WWW, OTHER):
            reply = await ask(client, path, f"Origin: {origin}", PREFLIGHT, method="OPTIONS", key="")
            assert (reply.status, reply.headers[ALLOWED]) == (204, origin)
            assert "x-api-key" in reply.listed("Access-Control-Allow-Headers")
            assert "origin" in reply.listed("Vary")
        for origin in ("https://revoked.example", "https://expired.example", "null", "https://x.example", "*"):
            reply = await ask(client, path, f"Origin: {origin}", PREFLIGHT, method="OPTIONS", key="")
            assert (reply.status, reply.headers.get(ALLOWED)) == (405, None)
        assert (await ask(client, path, f"Origin: {SHOP}", method="OPTIONS", key="")).status == 405
    for path in ("/companies", "/stores.csv", "/companies/acme", "/openapi.json", "/ready", "/explorer"):
        reply = await ask(client, path, f"Origin: {SHOP}", PREFLIGHT, method="OPTIONS", key="")
        assert (reply.status, reply.headers.get(ALLOWED)) == (405, None)


async def test_preflights_follow_the_last_key_of_a_website_to_its_end(service: Service) -> None:
    keys = [entry(name=f"until-{days}", origins=(SHOP,), expires_at=TODAY + timedelta(days=days)) for days in (2, 4, 3)]
    service.file.write_bytes(encode_keys(keys))
    for days, status in ((1, 204), (3.5, 204), (4, 405)):
        client = await service.client(clock=TODAY.timestamp() + days * 86_400)
        reply = await ask(client, "/stores", FROM_SHOP, PREFLIGHT, method="OPTIONS", key="")
        assert reply.status == status


async def test_origins_of_the_setting_are_allowed_as_before(service: Service) -> None:
    for setting, allowed in (("*", "*"), (SHOP, SHOP), (OTHER, SHOP)):
        client = await service.client(cors_origin=(setting,))
        assert (await public(client, "/stores?limit=1")).headers[ALLOWED] == allowed
        refused = await public(client, "/stores?limit=1", f"Origin: {OTHER}")
        assert (refused.status, refused.headers[ALLOWED]) == (403, OTHER if setting == OTHER else "*")
        secret = await ask(client, "/stores", FROM_SHOP, key=SECRET)
        assert secret.headers.get(ALLOWED) == (allowed if setting != OTHER else None)


async def test_a_public_key_is_no_key_to_the_probes(client: Client) -> None:
    assert "last_reload" in (await ask(client, "/ready", key=SECRET)).json()
    for reply in (await ask(client, "/ready", FROM_SHOP, key=PUBLIC), await public(client, "/ready")):
        assert (reply.status, "last_reload" in reply.json(), reply.headers.get(ALLOWED)) == (200, False, None)


async def test_without_authentication_the_parameter_is_not_read(service: Service) -> None:
    client = await service.client(no_auth=True)
    for query in ("key=x", "key=x&key=y", f"key={PUBLIC}", f"%6bey={REVOKED}&limit=1000"):
        reply = await ask(client, f"/companies?{query}", "Prefer: handling=strict", key="")
        assert (reply.status, "key" in reply.headers["Link"]) == (200, False)


async def test_a_revoked_key_is_refused_like_an_unknown_one(service: Service, client: Client) -> None:
    assert (await public(client, "/stores?limit=1")).status == 200
    revoked = [msgspec.structs.replace(each, revoked_at=TODAY) for each in ENTRIES]
    service.file.write_bytes(encode_keys(revoked))
    await service.ring.start()
    replies = [await public(client, "/stores?limit=1", key=key) for key in (PUBLIC, new_key("sd_pub_"), LOST)]
    assert {(reply.status, reply.plain) for reply in replies} == {
        (401, b'{"detail":"The key in the parameter key is not valid"}')
    }
    assert (await ask(client, "/stores", FROM_SHOP, PREFLIGHT, method="OPTIONS", key="")).status == 405
