"""Public keys: where they may be, where and for which websites they are valid, and that no response depends on them."""

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec
import orjson
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
from tests.web.live import DEFAULTS, Client, ServiceServer, stable_fields
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

    def __init__(self, folder: Path, entries: Iterable[KeyEntry]) -> None:
        self.file = folder / "keys.json"
        self.file.write_bytes(encode_keys(entries))
        self.ring = Keyring({}, self.file, folder / "backup.json")
        self.entries: list[Any] = []

    async def client(
        self, snapshots: SnapshotHolder, aiohttp_client: AiohttpClient, *, clock: float | None = None, **changes: Any
    ) -> Client:
        await self.ring.start()
        settings = msgspec.structs.replace(DEFAULTS, **changes)
        keys = KeyAuthentication(self.ring, (lambda: clock) if clock is not None else time.time)
        authenticate = no_authentication if settings.no_auth else keys
        site = make_site(snapshots, authenticate, settings, log=self._write)
        client: Client = await aiohttp_client(ServiceServer(site.public))
        return client

    def _write(self, entry: object) -> bool:
        self.entries.append(entry)
        return True


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return Service(tmp_path, ENTRIES)


@pytest.fixture
async def client(service: Service, snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient) -> Client:
    await serve(snapshots, data)
    return await service.client(snapshots, aiohttp_client)


async def public(client: Client, target: str, *fields: str, key: str = PUBLIC, **more: Any) -> Reply:
    """Return the response to a request from a page of the shop, with the key at the end of its address."""
    separator = "&" if "?" in target else "?"
    return await ask(client, f"{target}{separator}key={key}", *(fields or (FROM_SHOP,)), key="", **more)


def detail(reply: Reply) -> str:
    return str(reply.json()["detail"])


class Sent(NamedTuple):
    """A request, and what it has from where."""

    method: str
    path: str
    query: str
    header_keys: tuple[str, ...]
    fields: tuple[str, ...]

    @property
    def wire(self) -> bytes:
        target = f"{self.path}?{self.query}" if self.query else self.path
        keys = tuple(f"x-api-key: {key}" for key in self.header_keys)
        return request(target, *keys, *self.fields, "Connection: close", method=self.method, key="")


OF_KEYS = {SECRET: (), PUBLIC: (SHOP, WWW), FOREIGN: (OTHER,)}


def verdict(sent: Sent) -> tuple[int, str, str | None]:
    """Return the status of a request, the beginning of the detail of an error, and the origin that may read it.

    From the description alone, with the library's parser of queries.
    """
    origin = next((each[8:] for each in sent.fields if each.startswith("Origin: ")), None)
    pairs = parse_qsl(sent.query, keep_blank_values=True)
    named = [value for name, value in pairs if name == "key"]
    others = {name: value for name, value in pairs if name != "key"}
    given = [*filter(None, named), *filter(None, sent.header_keys)]
    key = given[0] if len(given) == 1 else ""
    public, anyone = key != SECRET, "*" if named else None
    is_from_website = origin in OF_KEYS.get(key, ()) if origin is not None else SAME_ORIGIN in sent.fields
    allowed = origin if public else None
    is_valid = others.get("limit") != "x"
    limit, page = int(others.get("limit", "1000")) if is_valid else 0, int(others.get("page_num", "1"))
    is_small = limit <= 50 and limit * page <= 1000
    steps = (
        (sent.method in ("GET", "HEAD"), (405, "Method Not Allowed", None)),
        (not any(named) or len(given) == 1, (401, TWICE, anyone)),
        (not any(named) or key.startswith("sd_pub_"), (401, ONLY, anyone)),
        (key in OF_KEYS, (401, "The", anyone)),
        (not public or sent.path in ("/stores", "/stores/s1", "/clusters", "/places"), (403, PLACE, anyone)),
        (not public or is_from_website, (403, WEBSITE, anyone)),
        (is_valid, (422, "", allowed)),
        (
            not public or sent.path != "/stores" or is_small,
            (403, AMOUNT, anyone or allowed),
        ),
    )
    return next((failed for passes, failed in steps if not passes), (200, "", allowed))


KEYS: Sequence[tuple[tuple[str, ...], str]] = (
    *[((key,), "{0}") for key in (SECRET, PUBLIC, FOREIGN, REVOKED, EXPIRED, LOST, "", "sd_pub_x")],
    *[
        ((), f"{{0}}&key={key}")
        for key in (SECRET, PUBLIC, FOREIGN, REVOKED, EXPIRED, LOST, "", "sd_pub_x", "%C3%A9%FF")
    ],
    *[((), f"{way}") for way in (f"key={PUBLIC}&{{0}}", f"%6bey={PUBLIC}&{{0}}", f"{{0}}&k%65%79={PUBLIC}&key=")],
    *[((), f"{{0}}&{way}") for way in (f"key=sd%5Fpub%5f{PUBLIC[7:]}", f"Key={PUBLIC}", "key", f"key%3D{PUBLIC}")],
    ((), f"key={PUBLIC}&{{0}}&key={PUBLIC}"),
    ((SECRET,), f"{{0}}&key={PUBLIC}"),
    ((PUBLIC,), f"{{0}}&key={PUBLIC}"),
    ((SECRET,), "{0}&key="),
    ((SECRET,), "{0}&key=x"),
    (("",), f"{{0}}&key={PUBLIC}"),
    ((PUBLIC, PUBLIC), "{0}"),
)
WEBSITES: Sequence[tuple[str, ...]] = (
    *[(f"Origin: {origin}",) for origin in (SHOP, WWW, OTHER, "null", "", f"{SHOP}:444", "http://shop.example")],
    *[(f"Sec-Fetch-Site: {site}",) for site in ("same-origin", "same-site", "cross-site", "none")],
    (),
    (f"Origin: {OTHER}", SAME_ORIGIN),
)
AMOUNTS = ("limit=20", "limit=50&page_num=20", "limit=50&page_num=21", "limit=51", "page_num=1", "limit=x", "")


async def check(client: Client, sent: Sent) -> None:
    (reply,) = await ask_all(client, sent.wire)
    status, why, allowed = verdict(sent)
    assert (reply.status, reply.headers.get(ALLOWED)) == (status, allowed), sent
    if reply.body and status > 400 and why:
        assert detail(reply).startswith(why), sent
    if allowed is not None:
        assert "origin" in reply.listed("Vary"), sent
    if status == 401:
        assert reply.headers["WWW-Authenticate"] == "APIKey"


@pytest.mark.parametrize("website", WEBSITES, ids=range(len(WEBSITES)))
async def test_a_key_is_judged_as_described_wherever_it_is(client: Client, website: tuple[str, ...]) -> None:
    for (header_keys, way), method in product(KEYS, ("GET", "HEAD")):
        await check(client, Sent(method, "/stores", way.format("limit=2"), header_keys, website))


async def test_checks_are_in_their_order_on_every_path(client: Client) -> None:
    paths = ("/stores", "/stores/s1", "/companies", "/companies/acme", "/stores.csv", "/clusters", "/places")
    needed = {"/clusters": "bbox=-180,-90,180,90&zoom=1", "/places": "q=Toronto"}
    for path, amount, method in product(paths, AMOUNTS, ("GET", "HEAD", "POST")):
        if path == "/stores" or amount in ("limit=20", "limit=50"):
            wanted = needed.get(path, "")
            if path in ("/stores/s1", "/clusters") and amount:
                amount = ""  # noqa: PLW2901 - these know no limit
            query = "&".join(filter(None, (amount, wanted)))
            for keys, website in product((((SECRET,), ""), ((PUBLIC,), ""), ((), f"key={PUBLIC}")), WEBSITES[:4]):
                header_keys, own = keys
                await check(client, Sent(method, path, "&".join(filter(None, (query, own))), header_keys, website))


def body_fields(reply: Reply) -> dict[str, str]:
    """Return the fields that may not depend on the key."""
    fields = {name: value for name, value in stable_fields(reply.headers).items() if not name.startswith("access-")}
    return {**fields, "vary": fields["vary"].removesuffix(", Origin")}


@pytest.mark.parametrize("coding", ["identity", "gzip", "br", "zstd"])
@pytest.mark.parametrize("path", ["/stores?limit=2&city=toronto&x=1", "/stores/s1", "/places?q=Toronto&limit=3"])
async def test_no_response_depends_on_the_key_or_where_it_is(client: Client, path: str, coding: str) -> None:
    encoding, (bare, _, query) = f"Accept-Encoding: {coding}", path.partition("?")
    secret = await ask(client, path, encoding, key=SECRET)
    assert secret.status == 200
    pairs = query.split("&") if query else []
    spelled = [
        [*pairs[:at], f"{name}={PUBLIC}", *pairs[at:]] for at in range(len(pairs) + 1) for name in ("key", "%6bey")
    ]
    for method, others in product(("GET", "HEAD"), spelled):
        target = f"{bare}?{'&'.join(others)}"
        for fields in ((FROM_SHOP,), (SAME_ORIGIN,), (f"Origin: {WWW}",)):
            reply = await ask(client, target, encoding, *fields, method=method, key="")
            assert (reply.status, body_fields(reply)) == (200, body_fields(secret)), target
            assert reply.body == (secret.body if method == "GET" else b"")
        fresh = await ask(client, target, encoding, FROM_SHOP, f"If-None-Match: {secret.etag}", method=method, key="")
        assert (fresh.status, fresh.etag, fresh.headers[ALLOWED]) == (304, secret.etag, SHOP)
        failed = await ask(client, target, encoding, FROM_SHOP, 'If-Match: "x"', method=method, key="")
        assert (failed.status, failed.headers[ALLOWED]) == (412, SHOP)


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


async def test_the_key_is_no_unknown_parameter_to_those_that_are_strict(client: Client) -> None:
    assert (await public(client, "/stores?limit=1", FROM_SHOP, "Prefer: handling=strict")).status == 200
    assert (await ask(client, "/stores?limit=1&key=", "Prefer: handling=strict", key=SECRET)).status == 200


async def test_errors_of_parameters_records_and_preconditions_can_be_read_by_the_website(client: Client) -> None:
    for target, field, status in (
        ("/stores?limit=x", "A: a", 422),
        ("/stores/nobody", "A: a", 404),
        ("/stores?limit=1", "X-Dataset-Version: x", 412),
        ("/clusters?bbox=-180,-90,180,90&zoom=22", "A: a", 200),
    ):
        reply = await public(client, target, FROM_SHOP, field)
        assert (reply.status, reply.headers[ALLOWED]) == (status, SHOP)
        assert "etag" in reply.listed("Access-Control-Expose-Headers")


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


async def test_preflights_follow_the_last_key_of_a_website_to_its_end(
    tmp_path: Path, snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient
) -> None:
    await serve(snapshots, data)
    keys = [entry(name=f"until-{days}", origins=(SHOP,), expires_at=TODAY + timedelta(days=days)) for days in (2, 4, 3)]
    service = Service(tmp_path, keys)
    for days, status in ((1, 204), (3.5, 204), (4, 405)):
        client = await service.client(snapshots, aiohttp_client, clock=TODAY.timestamp() + days * 86_400)
        reply = await ask(client, "/stores", FROM_SHOP, PREFLIGHT, method="OPTIONS", key="")
        assert reply.status == status


async def test_origins_of_the_setting_are_allowed_as_before(
    service: Service, snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient
) -> None:
    await serve(snapshots, data)
    for setting, allowed in (("*", "*"), (SHOP, SHOP), (OTHER, SHOP)):
        client = await service.client(snapshots, aiohttp_client, cors_origin=(setting,))
        assert (await public(client, "/stores?limit=1")).headers[ALLOWED] == allowed
        refused = await public(client, "/stores?limit=1", f"Origin: {OTHER}")
        assert (refused.status, refused.headers[ALLOWED]) == (403, OTHER if setting == OTHER else "*")
        secret = await ask(client, "/stores", FROM_SHOP, key=SECRET)
        assert secret.headers.get(ALLOWED) == (allowed if setting != OTHER else None)


async def test_a_public_key_is_no_key_to_the_probes(client: Client) -> None:
    assert "last_reload" in (await ask(client, "/ready", key=SECRET)).json()
    for reply in (await ask(client, "/ready", FROM_SHOP, key=PUBLIC), await public(client, "/ready")):
        assert (reply.status, "last_reload" in reply.json(), reply.headers.get(ALLOWED)) == (200, False, None)


async def test_without_authentication_the_parameter_is_not_read(
    service: Service, snapshots: SnapshotHolder, data: Data, aiohttp_client: AiohttpClient
) -> None:
    await serve(snapshots, data)
    client = await service.client(snapshots, aiohttp_client, no_auth=True)
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


def test_an_older_program_which_forbids_unknown_members_refuses_a_file_with_public_keys_alone() -> None:
    known = {"name", "sha256", "created_at", "expires_at", "revoked_at", "rate", "burst"}
    secret, public = orjson.loads(encode_keys(ENTRIES[:2]))["keys"]
    assert (set(secret) <= known, set(public) <= known) == (True, False)
