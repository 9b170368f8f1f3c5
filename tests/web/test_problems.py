"""Errors as problem details (RFC 9457), for who asks for them."""

from http import HTTPStatus
from typing import Any

import msgspec
import pytest

from service.snapshot.publication import Publication
from service.snapshot.snapshot import SnapshotHolder
from service.web.connections.limits import MAX_BODY_BYTES, MAX_FIELD_BYTES, MAX_LINE_BYTES
from tests.web.live import Client, lasting
from tests.web.reply import Asked, Reply, ask, ask_all, request

PROBLEM = "application/problem+json"
WANTED = f"Accept: {PROBLEM}"
ERRORS = [
    (Asked("/stores", key=""), 401),
    (Asked("/nope", key=""), 404),
    (Asked("/companies/nobody"), 404),
    (Asked("/stores", method="POST", key=""), 405),
    (Asked("/health", method="POST", key=""), 405),
    (Asked("/stores", ("X-Dataset-Version: x",)), 412),
    (Asked("/companies/acme", ('If-Match: "x"',)), 412),
    (Asked("/stores?limit=0&sort_by=x"), 422),
    (Asked("/companies/acme?x=1", ("Prefer: handling=strict",)), 422),
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


@pytest.mark.parametrize(("asked", "status"), ERRORS, ids=str)
async def test_every_error_is_a_problem_for_who_names_them(client: Client, asked: Asked, status: int) -> None:
    plain, problem = await asked.of(client), await asked.of(client, WANTED)
    check_plain(plain, status)
    check_problem(problem, status)
    assert problem.json()["errors" if status == 422 else "detail"] == plain.json()["detail"]
    told = {"content-type": "", "content-length": ""}
    assert lasting(problem.headers) | told == lasting(plain.headers) | told
    assert plain.headers["Cache-Control"] == "no-store"
    assert "accept" in plain.listed("Vary")


@pytest.mark.parametrize("asked", [Asked("/nope", key=""), Asked("/stores", key=""), Asked("/stores?limit=0")], ids=str)
async def test_head_has_the_fields_of_get(client: Client, asked: Asked) -> None:
    get, head = await asked.of(client, WANTED), await ask(client, asked.target, WANTED, method="HEAD", key=asked.key)
    assert (head.status, head.body) == (get.status, b"")
    assert lasting(head.headers) == lasting(get.headers)


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
async def test_problem_details_are_asked_for_by_name(client: Client, accepted: str) -> None:
    check_problem(await ask(client, "/nope", f"Accept: {accepted}"), 404)


@pytest.mark.parametrize(
    "accepted",
    [
        "",
        "*/*",
        "application/*",
        "application/json",
        "application/*+json",
        "application/problem+xml",
        "application/problem",
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
async def test_they_are_not_answered_to_who_does_not_ask_for_them(client: Client, accepted: str) -> None:
    check_plain(await ask(client, "/nope", f"Accept: {accepted}"), 404)


async def test_they_may_be_named_in_any_of_several_lines(client: Client) -> None:
    check_problem(await ask(client, "/nope", "Accept: text/html", WANTED), 404)


async def test_what_is_no_error_is_what_it_always_is(client: Client) -> None:
    for target in ("/stores", "/health", "/ready", "/openapi.json"):
        answer = await ask(client, target, WANTED)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")


async def test_data_that_is_still_loaded_is_a_problem(loading_client: Client) -> None:
    answer = await ask(loading_client, "/stores", WANTED)
    check_problem(answer, 503)
    assert answer.headers["Retry-After"] == "1"


async def test_a_fault_of_ours_is_a_problem_and_tells_nothing_of_the_inside(
    client: Client, replica: SnapshotHolder
) -> None:
    assert replica.current is not None
    no_table: Any = None
    dataset = msgspec.structs.replace(replica.current.dataset, stores=no_table)
    await replica.swap(msgspec.structs.replace(replica.current, dataset=dataset), Publication(generation=2))
    answer = await ask(client, "/stores", WANTED)
    check_problem(answer, 500)
    assert answer.json()["detail"] == "Internal Server Error"
    check_plain(await ask(client, "/stores"), 500)


async def test_a_body_that_is_too_large_is_a_problem_too(client: Client) -> None:
    length, body = f"Content-Length: {MAX_BODY_BYTES + 1}", bytes(MAX_BODY_BYTES + 1)
    (answer,) = await ask_all(client, request("/stores", WANTED, length) + body)
    check_problem(answer, 413)
    (plain,) = await ask_all(client, request("/stores", length) + body)
    check_plain(plain, 413)


async def test_malformed_http_is_never_answered_with_a_problem(client: Client) -> None:
    for bad in (
        b"GET /stores HTTP/1.1\r\nHost: t\r\n%b\r\nno colon\r\n\r\n",
        b"GET /stores HTTP/9.9\r\nHost: t\r\n%b\r\n\r\n",
    ):
        (answer,) = await ask_all(client, bad % WANTED.encode())
        check_plain(answer, 400)


@pytest.mark.parametrize(("target", "status"), [("/stores", 405), ("/nope", 404)])
async def test_a_method_that_nobody_knows_is_a_problem_too(client: Client, target: str, status: int) -> None:
    (answer,) = await ask_all(client, request(target, WANTED, "Connection: close", method="BREW"))
    check_problem(answer, status)
    (plain,) = await ask_all(client, request(target, "Connection: close", method="BREW"))
    check_plain(plain, status)


async def test_fields_that_are_too_large_are_a_problem_for_who_asked_before_them(client: Client) -> None:
    large = f"q: {'a' * (MAX_FIELD_BYTES + 1)}"
    (answer,) = await ask_all(client, request("/stores", WANTED, large))
    check_problem(answer, 431)
    (plain,) = await ask_all(client, request("/stores", large))
    check_plain(plain, 431)


async def test_an_address_that_is_too_long_is_an_error_in_either_shape(client: Client) -> None:
    target = f"/stores?q={'a' * MAX_LINE_BYTES}"
    (plain,) = await ask_all(client, request(target))
    check_plain(plain, 414)
    (answer,) = await ask_all(client, request(target, WANTED))
    assert answer.status == 414
    assert answer.headers["Cache-Control"] == "no-store"
