"""Errors as problem details (RFC 9457), which a client selects by Accept."""

from http import HTTPStatus
from typing import Any

import msgspec
import pytest

from service.publishing.snapshot import SnapshotHolder
from service.publishing.workspace import Publication
from service.web.connections.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_LINE_BYTES
from tests.web.live import KEY, Client, stable_fields
from tests.web.reply import Reply, RequestSpec, ask, ask_all, request

PROBLEM = "application/problem+json"
ACCEPT_PROBLEM = f"Accept: {PROBLEM}"
ERRORS = [
    (RequestSpec("/stores", key=""), 401),
    (RequestSpec("/nope", key=""), 404),
    (RequestSpec("/companies/nobody"), 404),
    (RequestSpec("/stores", method="POST", key=""), 405),
    (RequestSpec("/health", method="POST", key=""), 405),
    (RequestSpec("/stores", ("X-Dataset-Version: x",)), 412),
    (RequestSpec("/companies/acme", ('If-Match: "x"',)), 412),
    (RequestSpec("/stores?limit=0&sort_by=x"), 422),
    (RequestSpec("/companies/acme?x=1", ("Prefer: handling=strict",)), 422),
]


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


@pytest.mark.parametrize(("spec", "status"), ERRORS, ids=str)
async def test_every_error_is_a_problem_if_accept_names_problem_details(
    client: Client, spec: RequestSpec, status: int
) -> None:
    plain, problem = await spec.send(client), await spec.send(client, ACCEPT_PROBLEM)
    check_plain(plain, status)
    check_problem(problem, status)
    assert problem.json()["errors" if status == 422 else "detail"] == plain.json()["detail"]
    ignored = {"content-type": "", "content-length": ""}
    assert stable_fields(problem.headers) | ignored == stable_fields(plain.headers) | ignored
    assert plain.headers["Cache-Control"] == "no-store"
    assert "accept" in plain.listed("Vary")


@pytest.mark.parametrize(
    "accepted",
    [
        PROBLEM,
        "Application/Problem+JSON",
        f"application/json, {PROBLEM}",
        f"{PROBLEM};q=0.1, application/json",
        f"{PROBLEM};q=0.001",
        f"{PROBLEM} ; Q=1.000",
        f"{PROBLEM};charset=utf-8",
        f'{PROBLEM};x="a,b";q=0.5',
        f'{PROBLEM};x="q=0"',
        f'text/plain;x="a, b", {PROBLEM}',
        f", ,{PROBLEM},",
        f"*/*;q=0, {PROBLEM}",
        f"{PROBLEM};q=1, */*;q=0",
    ],
)
async def test_problem_details_are_selected_by_name(client: Client, accepted: str) -> None:
    check_problem(await ask(client, "/nope", f"Accept: {accepted}"), 404)


@pytest.mark.parametrize(
    "accepted",
    [
        *("", "*/*", "application/*", "application/json", "application/*+json"),
        *("application/problem+xml", "application/problem"),
        f"{PROBLEM}s",
        f"x{PROBLEM}",
        f"{PROBLEM};q=0",
        f"{PROBLEM};q=0.000, application/json",
        f"{PROBLEM};x=y;q=0",
        f"{PROBLEM} ;\tQ=0.0",
        f'text/plain;x="a, {PROBLEM}"',
        f'text/plain;x="a\\", {PROBLEM}"',
        "é",
    ],
)
async def test_problem_details_are_not_sent_unless_named_with_a_weight(client: Client, accepted: str) -> None:
    check_plain(await ask(client, "/nope", f"Accept: {accepted}"), 404)


async def test_accept_may_have_several_lines(client: Client) -> None:
    check_problem(await ask(client, "/nope", "Accept: text/html", ACCEPT_PROBLEM), 404)


async def test_accept_does_not_change_successful_responses(client: Client) -> None:
    for target in ("/stores", "/health", "/ready", "/openapi.json"):
        answer = await ask(client, target, ACCEPT_PROBLEM)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")


async def test_a_503_during_loading_is_a_problem(loading_client: Client) -> None:
    answer = await ask(loading_client, "/stores", ACCEPT_PROBLEM)
    check_problem(answer, 503)
    assert answer.headers["Retry-After"] == "1"


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


async def test_a_413_is_a_problem(client: Client) -> None:
    length, body = f"Content-Length: {MAX_BODY_BYTES + 1}", bytes(MAX_BODY_BYTES + 1)
    (answer,) = await ask_all(client, request("/stores", ACCEPT_PROBLEM, length) + body)
    check_problem(answer, 413)
    (plain,) = await ask_all(client, request("/stores", length) + body)
    check_plain(plain, 413)


async def test_malformed_http_is_never_answered_with_a_problem(client: Client) -> None:
    for bad in (
        b"GET /stores HTTP/1.1\r\nHost: t\r\n%b\r\nno colon\r\n\r\n",
        b"GET /stores HTTP/9.9\r\nHost: t\r\n%b\r\n\r\n",
    ):
        (answer,) = await ask_all(client, bad % ACCEPT_PROBLEM.encode())
        check_plain(answer, 400)


@pytest.mark.parametrize(("target", "status"), [("/stores", 405), ("/nope", 404)])
async def test_an_error_for_a_nonstandard_method_is_a_problem(client: Client, target: str, status: int) -> None:
    (answer,) = await ask_all(client, request(target, ACCEPT_PROBLEM, "Connection: close", method="BREW"))
    check_problem(answer, status)
    (plain,) = await ask_all(client, request(target, "Connection: close", method="BREW"))
    check_plain(plain, status)


async def test_a_431_is_a_problem_if_accept_precedes_the_large_field(client: Client) -> None:
    large = f"q: {'a' * (MAX_FIELD_BYTES + 1)}"
    (answer,) = await ask_all(client, request("/stores", ACCEPT_PROBLEM, large))
    check_problem(answer, 431)
    (plain,) = await ask_all(client, request("/stores", large))
    check_plain(plain, 431)


async def test_a_414_may_be_plain_or_a_problem(client: Client) -> None:
    target = f"/stores?q={'a' * MAX_LINE_BYTES}"
    (plain,) = await ask_all(client, request(target))
    check_plain(plain, 414)
    (answer,) = await ask_all(client, request(target, ACCEPT_PROBLEM))
    assert answer.status == 414
    assert answer.headers["Cache-Control"] == "no-store"
