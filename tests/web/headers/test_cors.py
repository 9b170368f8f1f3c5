"""CORS: what pages of other origins may send and read (the Fetch standard)."""

from itertools import product

import pytest

from tests.web.conftest import Listeners, SiteClient
from tests.web.live import Client
from tests.web.reply import Reply, RequestSpec, ask

LISTED = ("https://a.example", "http://b.example:8081")
ORIGIN = f"Origin: {LISTED[0]}"
OTHER = "Origin: https://c.example"
SIMILAR = (
    *("https://a.example.evil.example", "https://evil.example/https://a.example", "http://a.example"),
    *("https://a.example:444", "http://b.example", "http://b.example:80", "https://a.example/"),
    *("https://a.example https://a.example", "https://a.example, https://a.example", "a.example", "*", ""),
    *("https://sub.a.example", "https://a.exampleé"),
)
PREFLIGHT = "Access-Control-Request-Method: GET"
ALLOWED, EXPOSED = "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"
CORS_FIELDS = {ALLOWED.lower(), EXPOSED.lower()}
READABLE = {
    *("link", "etag", "x-dataset-version", "x-ignored-parameters", "x-total-count", "content-disposition"),
    *("retry-after", "x-request-id", "ratelimit", "ratelimit-policy"),
}
SENDABLE = {"x-api-key", "prefer", "x-dataset-version", "x-request-id", "traceparent"} | {
    f"if-{condition}" for condition in ("none-match", "modified-since", "match", "unmodified-since")
}
KNOWN = ("/stores", "/companies", "/companies/acme", "/openapi.json", "/docs", "/docs/page.js", "/health", "/ready")
ANSWERS = [
    (RequestSpec("/stores"), 200),
    (RequestSpec("/companies/acme", method="HEAD"), 200),
    (RequestSpec("/stores", ("If-None-Match: *",)), 304),
    (RequestSpec("/openapi.json", key=""), 200),
    (RequestSpec("/openapi.json", ("If-None-Match: *",), key=""), 304),
    (RequestSpec("/health", key=""), 200),
    (RequestSpec("/metrics", key=""), 200),
    (RequestSpec("/stores/", key=""), 307),
    (RequestSpec("/stores", key=""), 401),
    (RequestSpec("/nope", key=""), 404),
    (RequestSpec("/companies/nobody"), 404),
    (RequestSpec("/stores", method="POST"), 405),
    (RequestSpec("/stores", ("X-Dataset-Version: x",)), 412),
    (RequestSpec("/stores", ('If-Match: "x"',)), 412),
    (RequestSpec("/stores?limit=0"), 422),
]


def cors_fields(answer: Reply) -> set[str]:
    return {name.lower() for name in answer.headers if name.lower().startswith("access-control-")}


@pytest.fixture
async def any_origin(site_client: SiteClient) -> Client:
    return await site_client(cors_origin=("*",))


@pytest.fixture
async def listed(site_client: SiteClient) -> Client:
    return await site_client(cors_origin=LISTED)


async def test_with_any_origin_allowed_every_response_allows_it(any_origin: Client) -> None:
    for (spec, status), origin in product(ANSWERS, ((), (ORIGIN,), ("Origin: null",))):
        answer = await spec.send(any_origin, *origin)
        assert (answer.status, answer.headers.getall(ALLOWED)) == (status, ["*"]), spec
        assert (cors_fields(answer), answer.listed(EXPOSED)) == (CORS_FIELDS, READABLE)
        assert "origin" not in answer.listed("Vary")


async def test_a_listed_origin_is_named_in_every_response(listed: Client) -> None:
    for (spec, status), origin in product(ANSWERS, LISTED):
        answer = await spec.send(listed, f"Origin: {origin}")
        assert (answer.status, answer.headers.getall(ALLOWED)) == (status, [origin]), spec
        assert (cors_fields(answer), answer.listed(EXPOSED)) == (CORS_FIELDS, READABLE)
        assert "origin" in answer.listed("Vary")


async def test_any_other_origin_gets_only_vary_origin(listed: Client) -> None:
    for (spec, status), origin in product(ANSWERS, ((), (OTHER,), ("Origin: null",))):
        answer = await spec.send(listed, *origin)
        assert (answer.status, cors_fields(answer)) == (status, set()), spec
        assert "origin" in answer.listed("Vary")


async def test_with_no_origin_allowed_there_are_no_cors_fields(client: Client) -> None:
    for spec, status in ANSWERS:
        answer = await spec.send(client, ORIGIN)
        assert (answer.status, cors_fields(answer)) == (status, set()), spec
        assert "origin" not in answer.listed("Vary")


async def test_an_origin_similar_to_a_listed_one_is_not_allowed(listed: Client) -> None:
    for origin in SIMILAR:
        answer = await ask(listed, "/stores", f"Origin: {origin}")
        assert (answer.status, cors_fields(answer)) == (200, set()), origin
        assert (await ask(listed, "/stores", f"Origin: {origin}", PREFLIGHT, method="OPTIONS", key="")).status == 405, (
            origin
        )


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
async def test_a_preflight_is_answered_without_a_key(listed: Client, any_origin: Client, method: str) -> None:
    preflight = (f"Access-Control-Request-Method: {method}", "Access-Control-Request-Headers: x-api-key")
    for target, (client, allowed) in product(KNOWN, ((listed, LISTED[0]), (any_origin, "*"))):
        answer = await ask(client, target, ORIGIN, *preflight, method="OPTIONS", key="")
        assert (answer.status, answer.body, answer.headers.getall(ALLOWED)) == (204, b"", [allowed])
        assert answer.listed("Access-Control-Allow-Methods") == {"get", "head"}
        assert answer.listed("Access-Control-Allow-Headers") == SENDABLE
        assert answer.headers["Access-Control-Max-Age"] == "7200"
        assert "access-control-allow-credentials" not in cors_fields(answer)
        assert not {"content-length", "content-type", "transfer-encoding"} & {name.lower() for name in answer.headers}
        assert ("origin" in answer.listed("Vary")) is (client is listed)


@pytest.mark.parametrize(
    ("target", "fields", "status"),
    [
        ("/stores", (OTHER, PREFLIGHT), 405),
        ("/stores", ("Origin: null", PREFLIGHT), 405),
        ("/stores", (PREFLIGHT,), 405),
        ("/stores", (ORIGIN,), 405),
        ("/stores", (), 405),
        ("/nope", (ORIGIN, PREFLIGHT), 404),
        ("/stores/", (ORIGIN, PREFLIGHT), 307),
        ("//", (ORIGIN, PREFLIGHT), 404),
    ],
)
async def test_an_options_request_that_is_not_an_allowed_preflight_is_handled_as_any_other_method(
    listed: Client, target: str, fields: tuple[str, ...], status: int
) -> None:
    answer = await ask(listed, target, *fields, method="OPTIONS", key="")
    assert answer.status == status
    assert "access-control-allow-methods" not in cors_fields(answer)
    assert status != 405 or answer.headers["Allow"] == "GET, HEAD"


async def test_with_no_origin_allowed_there_is_no_preflight(client: Client) -> None:
    answer = await ask(client, "/stores", ORIGIN, PREFLIGHT, method="OPTIONS", key="")
    assert (answer.status, cors_fields(answer)) == (405, set())


async def test_vary_names_every_field_that_a_response_depends_on(
    site_client: SiteClient, listed: Client, client: Client
) -> None:
    negotiated = {"accept-encoding", "prefer", "x-dataset-version"}
    for site, more in (
        (client, {"x-api-key"}),
        (listed, {"x-api-key", "origin"}),
        (await site_client(cors_origin=("*",), no_auth=True), set()),
        (await site_client(cors_origin=LISTED, no_auth=True), {"origin"}),
    ):
        assert (await ask(site, "/stores")).listed("Vary") == negotiated | more | {"accept"}
        assert (await ask(site, "/stores", "If-None-Match: *")).listed("Vary") == negotiated | more | {"accept"}
        assert (await ask(site, "/stores.csv")).listed("Vary") == negotiated | more
        assert (await ask(site, "/companies")).listed("Vary") == negotiated | more
        negotiated_error = {"accept", "prefer", "x-dataset-version"}
        assert (await ask(site, "/stores?limit=0")).listed("Vary") == negotiated_error | more
        assert (await ask(site, "/companies/nobody")).listed("Vary") == negotiated_error | more
        assert (await ask(site, "/nope")).listed("Vary") == {"accept"} | more & {"origin"}
        assert (await ask(site, "/openapi.json")).listed("Vary") == {"accept-encoding"} | more & {"origin"}


async def test_the_admin_listener_has_no_cors(listeners: Listeners) -> None:
    for origins in (("*",), LISTED):
        _, admin = await listeners(cors_origin=origins)
        for target in ("/health", "/ready", "/metrics", "/nope"):
            answer = await ask(admin, target, ORIGIN)
            assert cors_fields(answer) == set()
            assert "origin" not in answer.listed("Vary")
        assert (await ask(admin, "/health", ORIGIN, PREFLIGHT, method="OPTIONS")).status == 405
