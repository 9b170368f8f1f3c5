"""CORS: what pages of other origins may send and read (the Fetch standard)."""

from itertools import product

import pytest

from tests.web.conftest import Listeners, SiteClient
from tests.web.live import Client
from tests.web.reply import Reply, RequestSpec, ask

LISTED = ("https://a.example", "http://b.example:8081")
OTHER = "https://c.example"
SIMILAR = (
    *("https://a.example.evil.example", "https://evil.example/https://a.example", "http://a.example"),
    *("https://a.example:444", "http://b.example", "http://b.example:80", "https://a.example/"),
    *("https://a.example https://a.example", "https://a.example, https://a.example", "a.example", "*", ""),
    *("https://sub.a.example", "https://a.exampleé"),
)
PREFLIGHT = "Access-Control-Request-Method: GET"
ALLOWED, EXPOSED = "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"
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
    (RequestSpec("/openapi.json", ("If-None-Match: *",), key=""), 304),
    (RequestSpec("/metrics", key=""), 200),
    (RequestSpec("/stores/", key=""), 307),
    (RequestSpec("/stores", key=""), 401),
    (RequestSpec("/nope", key=""), 404),
    (RequestSpec("/stores", method="POST"), 405),
    (RequestSpec("/stores?limit=0"), 422),
]
# The setting, what pages send as Origin, and who is allowed.
ORIGINS: list[tuple[tuple[str, ...], str, list[str]]] = [
    *((("*",), origin, ["*"]) for origin in ("", LISTED[0], "null")),
    *((LISTED, origin, [origin]) for origin in LISTED),
    *((LISTED, origin, []) for origin in ("", OTHER, "null")),
    ((), LISTED[0], []),
]


def cors_fields(answer: Reply) -> set[str]:
    return {name.lower() for name in answer.headers if name.lower().startswith("access-control-")}


@pytest.mark.parametrize(("setting", "origin", "allowed"), ORIGINS)
async def test_every_response_says_who_may_read_it(
    site_client: SiteClient, setting: tuple[str, ...], origin: str, allowed: list[str]
) -> None:
    client = await site_client(cors_origin=setting)
    for spec, status in ANSWERS:
        answer = await spec.send(client, *([f"Origin: {origin}"] if origin else []))
        assert (answer.status, answer.headers.getall(ALLOWED, [])) == (status, allowed), spec
        assert answer.listed(EXPOSED) == (READABLE if allowed else set())
        assert cors_fields(answer) == ({ALLOWED.lower(), EXPOSED.lower()} if allowed else set())
        assert ("origin" in answer.listed("Vary")) is (setting == LISTED)


async def test_an_origin_similar_to_a_listed_one_is_not_allowed(site_client: SiteClient) -> None:
    client = await site_client(cors_origin=LISTED)
    for origin in SIMILAR:
        answer = await ask(client, "/stores", f"Origin: {origin}")
        assert (answer.status, cors_fields(answer)) == (200, set()), origin
        refused = await ask(client, "/stores", f"Origin: {origin}", PREFLIGHT, method="OPTIONS", key="")
        assert refused.status == 405, origin


@pytest.mark.parametrize(("setting", "allowed"), [(LISTED, LISTED[0]), (("*",), "*")])
async def test_a_preflight_is_answered_without_a_key(
    site_client: SiteClient, setting: tuple[str, ...], allowed: str
) -> None:
    client = await site_client(cors_origin=setting)
    for target, method in product(KNOWN, ("GET", "HEAD", "DELETE")):
        preflight = (f"Access-Control-Request-Method: {method}", "Access-Control-Request-Headers: x-api-key")
        answer = await ask(client, target, f"Origin: {LISTED[0]}", *preflight, method="OPTIONS", key="")
        assert (answer.status, answer.body, answer.headers.getall(ALLOWED)) == (204, b"", [allowed])
        assert answer.listed("Access-Control-Allow-Methods") == {"get", "head"}
        assert answer.listed("Access-Control-Allow-Headers") == SENDABLE
        assert answer.headers["Access-Control-Max-Age"] == "7200"
        assert "access-control-allow-credentials" not in cors_fields(answer)
        assert not {"content-length", "content-type", "transfer-encoding"} & {name.lower() for name in answer.headers}
        assert ("origin" in answer.listed("Vary")) is (setting == LISTED)


async def test_an_options_request_that_is_not_an_allowed_preflight_is_handled_as_any_other_method(
    site_client: SiteClient, client: Client
) -> None:
    listed, origin = await site_client(cors_origin=LISTED), f"Origin: {LISTED[0]}"
    for site, target, fields, status in (
        *(
            (listed, "/stores", fields, 405)
            for fields in ((f"Origin: {OTHER}", PREFLIGHT), (PREFLIGHT,), (origin,), ())
        ),
        (client, "/stores", (origin, PREFLIGHT), 405),
        (listed, "/nope", (origin, PREFLIGHT), 404),
        (listed, "/stores/", (origin, PREFLIGHT), 307),
        (listed, "//", (origin, PREFLIGHT), 404),
    ):
        answer = await ask(site, target, *fields, method="OPTIONS", key="")
        assert (answer.status, "access-control-allow-methods" in cors_fields(answer)) == (status, False)
        assert status != 405 or answer.headers["Allow"] == "GET, HEAD"


async def test_vary_names_every_field_that_a_response_depends_on(site_client: SiteClient) -> None:
    of_data = {"prefer", "x-dataset-version"}
    for origins, no_auth in product(((), LISTED, ("*",)), (False, True)):
        site = await site_client(cors_origin=origins, no_auth=no_auth)
        more = (set() if no_auth else {"x-api-key"}) | ({"origin"} if origins == LISTED else set())
        for target, fields, expected in (
            ("/stores", (), of_data | more | {"accept", "accept-encoding"}),
            ("/stores", ("If-None-Match: *",), of_data | more | {"accept", "accept-encoding"}),
            ("/stores.csv", (), of_data | more | {"accept-encoding"}),
            ("/companies", (), of_data | more | {"accept-encoding"}),
            ("/stores?limit=0", (), of_data | more | {"accept"}),
            ("/companies/nobody", (), of_data | more | {"accept"}),
            ("/nope", (), more & {"origin"} | {"accept"}),
            ("/openapi.json", (), more & {"origin"} | {"accept-encoding"}),
        ):
            assert (await ask(site, target, *fields)).listed("Vary") == expected, (origins, no_auth, target)


async def test_the_admin_listener_has_no_cors(listeners: Listeners) -> None:
    for origins in (("*",), LISTED):
        _, admin = await listeners(cors_origin=origins)
        for target in ("/health", "/ready", "/metrics", "/nope"):
            answer = await ask(admin, target, f"Origin: {LISTED[0]}")
            assert (cors_fields(answer), "origin" in answer.listed("Vary")) == (set(), False)
        assert (await ask(admin, "/health", f"Origin: {LISTED[0]}", PREFLIGHT, method="OPTIONS")).status == 405
