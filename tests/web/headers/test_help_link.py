"""The link from an error to the documentation (RFC 8288), and the icon that browsers request."""

import pytest

from tests.web.conftest import Listeners
from tests.web.live import Client
from tests.web.reply import RequestSpec, ask, ask_all, request

HELP = '</docs>; rel="help"'
UNAUTHORIZED = [
    RequestSpec("/stores", key=""),
    RequestSpec("/companies?x=1", key="wrong"),
    RequestSpec("/companies/a%2Fb", key=""),
]
UNKNOWN = [
    RequestSpec(path) for path in ("//", "/nope", "/nope/", "/stores//", "/companies/acme/stores", "/a/b/c/d?e=/f")
]
OTHERS = [
    RequestSpec("/stores?limit=0"),
    RequestSpec("/companies/nobody"),
    RequestSpec("/stores", method="POST"),
    RequestSpec("/stores", ("X-Dataset-Version: x",)),
    RequestSpec("/stores/"),
    RequestSpec("/health"),
]


@pytest.mark.parametrize("spec", [*UNAUTHORIZED, *UNKNOWN], ids=str)
async def test_401_and_the_404_of_a_path_link_to_the_documentation(client: Client, spec: RequestSpec) -> None:
    reply = await spec.send(client)
    assert reply.status == (401 if spec in UNAUTHORIZED else 404)
    assert list(reply.json()) == ["detail"]
    assert reply.headers.getall("Link") == [HELP]


@pytest.mark.parametrize("method", ["DELETE", "BREW"])
async def test_an_unknown_method_has_the_same_link(client: Client, method: str) -> None:
    (reply,) = await ask_all(client, request("/a/b", "Connection: close", method=method))
    assert (reply.status, reply.headers["Link"]) == (404, HELP)


@pytest.mark.parametrize("spec", OTHERS, ids=str)
async def test_other_responses_have_no_help_link(client: Client, spec: RequestSpec) -> None:
    assert "help" not in (await spec.send(client)).headers.get("Link", "")


async def test_the_admin_listener_has_no_help_link(listeners: Listeners) -> None:
    public, admin = await listeners()
    assert "Link" not in (await ask(admin, "/stores", key="")).headers
    assert (await ask(public, "/stores", key="")).headers["Link"] == HELP
    assert (await ask(public, "/health", key="")).headers["Link"] == HELP


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_the_missing_icon_is_204_and_cached_for_a_day(client: Client, method: str) -> None:
    reply = await ask(client, "/favicon.ico", method=method, key="")
    assert (reply.status, reply.body) == (204, b"")
    assert reply.headers["Cache-Control"] == "public, max-age=86400"
    assert not {"Content-Type", "Content-Length", "Link"} & set(reply.headers)


async def test_the_icon_is_read_only_counted_by_its_path_and_not_documented(client: Client) -> None:
    refused = await ask(client, "/favicon.ico", method="POST", key="")
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert "/favicon.ico" not in (await ask(client, "/openapi.json")).json()["paths"]
    metrics = (await ask(client, "/metrics")).body.decode()
    assert 'requests_total{method="POST",route="/favicon.ico",status="405"} 1.0' in metrics
