"""Errors: which request gets which, what it says, and in which form (RFC 9457, which a client selects by Accept)."""

from http import HTTPStatus
from itertools import product
from typing import Any

import msgspec
import pytest

from service.access.api_key import Principal
from service.model.errors import Unauthorized, UnknownPath
from service.publishing.snapshot import SnapshotHolder
from service.publishing.workspace import Publication
from service.web.connections.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_LINE_BYTES
from service.web.http.response import error_answer
from service.web.pipeline.auth import no_authentication
from tests.web.conftest import Listeners
from tests.web.live import KEY, Client, authentication, with_keys
from tests.web.reply import Reply, ask, ask_all, request

PATHS = (
    *("/stores", "/companies", "/companies/acme", "/openapi.json", "/docs", "/docs/page.js", "/docs/key.js"),
    *("/explorer", "/explorer/page.js", "/embed/store-locator.js", "/favicon.ico", "/health", "/ready", "/metrics"),
)
UNKNOWN = (
    *(
        "/nope",
        "/nope/",
        "/stores//",
        "//stores",
        "//evil.example/",
        "//",
        "/stores%2F",
        "/stores%2F/",
        "/a/b/c/d?e=/f",
    ),
    *("/companies//", "/companies/acme//", "/companies/acme/stores", "/Stores", "/docs/nope.js"),
)
HELP = '</docs>; rel="help"'
PROBLEM = "application/problem+json"
ACCEPT_PROBLEM = f"Accept: {PROBLEM}"
CLOSE = "Connection: close"


def check_problem(answer: Reply, status: int) -> None:
    assert (answer.status, answer.headers.getall("Content-Type")) == (status, [PROBLEM])
    problem = answer.json()
    assert (problem["type"], problem["title"]) == ("about:blank", HTTPStatus(status).phrase)
    assert (problem["status"], isinstance(problem["detail"], str)) == (status, True)
    members = ["type", "title", "status", "detail"]
    assert list(problem) == (members if status != 422 else [*members, "errors"])


def check_plain(answer: Reply, status: int) -> None:
    assert (answer.status, answer.headers.getall("Content-Type")) == (status, ["application/json"])
    assert list(answer.json()) == ["detail"]


@pytest.mark.parametrize("method", ["GET", "POST", "PROPFIND", "BREW", "get"])
async def test_one_trailing_slash_on_a_known_path_redirects_whatever_the_method(client: Client, method: str) -> None:
    for path in PATHS:
        answer = await ask(client, f"{path}/?limit=2&x=%2F", method=method)
        assert (answer.status, answer.headers["Location"]) == (307, f"{path}?limit=2&x=%2F")


async def test_an_unknown_path_is_404(client: Client) -> None:
    for target, method in product(UNKNOWN, ("GET", "DELETE")):
        answer = await ask(client, target, method=method)
        assert (answer.status, answer.body, answer.headers["Link"]) == (404, b'{"detail":"Not Found"}', HELP)


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "BREW", "get", "!"]
)
async def test_a_method_that_is_not_allowed_is_405_without_a_key(client: Client, method: str) -> None:
    for path in PATHS:
        answer = await ask(client, path, method=method, key="")
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
        assert answer.json() == {"detail": "Method Not Allowed"}


async def test_an_absolute_target_is_routed_by_its_path(client: Client) -> None:
    assert (await ask(client, "http://anywhere.example/stores?limit=1")).status == 200


async def test_a_key_that_is_missing_empty_repeated_or_unknown_is_401(client: Client) -> None:
    others = ("", "wrong", KEY.upper(), f"{KEY}x", KEY[:-1], "clé", "\udcff")
    for keys in ([], [KEY, KEY], [KEY, "wrong"], *([key] for key in others)):
        answer = await ask(client, "/stores", *(f"X-API-Key: {key}" for key in keys), key="")
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "APIKey"), keys
        assert answer.headers.getall("Link") == [HELP]
        assert isinstance(answer.json()["detail"], str)
    assert (await ask(client, "/stores", f"X-API-KEY: {KEY}", key="")).status == 200


def test_each_key_has_its_own_principal_without_keys_there_is_none_and_without_authentication_one() -> None:
    authenticate = authentication(["one", "two"])
    assert (authenticate(with_keys("one")), authenticate(with_keys("two"))) == (Principal("key 1"), Principal("key 2"))
    with pytest.raises(Unauthorized):
        authentication([])(with_keys("anything"))
    assert no_authentication(with_keys()) == Principal("anonymous")


async def test_no_response_contains_a_key(client: Client) -> None:
    for path, key in product(("/stores", "/nope", "/metrics", "/ready", "/openapi.json"), (KEY, "wrong-key")):
        answer = await ask(client, path, key=key)
        assert key not in answer.plain.decode() + str(answer.headers)


@pytest.mark.parametrize(
    "accept",
    [
        *(PROBLEM, "Application/Problem+JSON", f"application/json, {PROBLEM}", f"{PROBLEM};q=0.1, application/json"),
        *(f"{PROBLEM};q=0.001", f"{PROBLEM} ; Q=1.000", f"{PROBLEM};charset=utf-8", f'{PROBLEM};x="a,b";q=0.5'),
        *(f'{PROBLEM};x="q=0"', f'text/plain;x="a, b", {PROBLEM}', f", ,{PROBLEM},", f"*/*;q=0, {PROBLEM}"),
        f"{PROBLEM};q=1, */*;q=0",
    ],
)
def test_problem_details_are_selected_by_name(accept: str) -> None:
    assert error_answer(UnknownPath(), [accept]).media_type == PROBLEM
    assert error_answer(UnknownPath(), ["text/html", accept]).media_type == PROBLEM


@pytest.mark.parametrize(
    "accept",
    [
        *("", "*/*", "application/*", "application/json", "application/*+json", "application/problem+xml", "é"),
        *(
            "application/problem",
            f"{PROBLEM}s",
            f"x{PROBLEM}",
            f"{PROBLEM};q=0",
            f"{PROBLEM};q=0.000, application/json",
        ),
        *(f"{PROBLEM};x=y;q=0", f"{PROBLEM} ;\tQ=0.0"),
        *(f'text/plain;x="a, {PROBLEM}"', f'text/plain;x="a\\", {PROBLEM}"'),
    ],
)
def test_problem_details_are_not_sent_unless_named_with_a_weight(accept: str) -> None:
    assert error_answer(UnknownPath(), [accept]).media_type == "application/json"


async def test_a_503_during_loading_is_a_problem(loading_client: Client) -> None:
    check_problem(await ask(loading_client, "/stores", ACCEPT_PROBLEM), 503)
    answer = await ask(loading_client, "/stores")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json() == {"detail": "The data is still being loaded"}


async def test_an_internal_error_is_a_problem_with_details_only_in_the_log(
    client: Client, snapshots: SnapshotHolder, caplog: pytest.LogCaptureFixture
) -> None:
    assert snapshots.current is not None
    no_table: Any = None
    dataset = msgspec.structs.replace(snapshots.current.dataset, stores=no_table)
    await snapshots.swap(msgspec.structs.replace(snapshots.current, dataset=dataset), Publication(generation=2))
    answer = await ask(client, "/stores?city=secret", ACCEPT_PROBLEM)
    check_problem(answer, 500)
    assert answer.json()["detail"] == "Internal Server Error"
    plain = await ask(client, "/stores")
    check_plain(plain, 500)
    assert plain.json() == {"detail": "Internal Server Error"}
    assert "'NoneType' object has no attribute" in caplog.text
    assert not any(secret in caplog.text for secret in ("secret", KEY))


LARGE = f"q: {'a' * (MAX_FIELD_BYTES + 1)}"
LENGTH = f"Content-Length: {MAX_BODY_BYTES + 1}"


@pytest.mark.parametrize(
    ("target", "field", "body", "status"),
    [("/stores", LENGTH, bytes(MAX_BODY_BYTES + 1), 413), ("/stores", LARGE, b"", 431)],
)
async def test_an_error_of_framing_is_a_problem_if_accept_precedes_it(
    client: Client, target: str, field: str, body: bytes, status: int
) -> None:
    (problem,) = await ask_all(client, request(target, ACCEPT_PROBLEM, field) + body)
    check_problem(problem, status)
    (plain,) = await ask_all(client, request(target, field) + body)
    check_plain(plain, status)


async def test_a_414_may_be_plain_or_a_problem(client: Client) -> None:
    target = f"/stores?q={'a' * MAX_LINE_BYTES}"
    (plain,) = await ask_all(client, request(target))
    check_plain(plain, 414)
    (answer,) = await ask_all(client, request(target, ACCEPT_PROBLEM))
    assert (answer.status, answer.headers["Cache-Control"]) == (414, "no-store")


async def test_malformed_http_is_never_answered_with_a_problem(client: Client) -> None:
    for bad in (b"1.1\r\nHost: t\r\n%b\r\nno colon\r\n\r\n", b"9.9\r\nHost: t\r\n%b\r\n\r\n"):
        (answer,) = await ask_all(client, b"GET /stores HTTP/" + bad % ACCEPT_PROBLEM.encode())
        check_plain(answer, 400)


async def test_the_admin_listener_has_no_help_link(listeners: Listeners) -> None:
    public, admin = await listeners()
    assert "Link" not in (await ask(admin, "/stores", key="")).headers
    for path in ("/stores", "/health"):
        assert (await ask(public, path, key="")).headers["Link"] == HELP


async def test_the_missing_icon_is_204_and_cached_for_a_day(client: Client) -> None:
    for method in ("GET", "HEAD"):
        reply = await ask(client, "/favicon.ico", method=method, key="")
        assert (reply.status, reply.body) == (204, b"")
        assert reply.headers["Cache-Control"] == "public, max-age=86400"
        assert not {"Content-Type", "Content-Length", "Link"} & set(reply.headers)
    assert "/favicon.ico" not in (await ask(client, "/openapi.json")).json()["paths"]
