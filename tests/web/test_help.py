"""The link from an error to the documentation (RFC 8288), and what browsers ask for by themselves."""

from pathlib import Path

import pytest
from pytest_aiohttp import AiohttpClient
from yarl import URL

from service.replica.replica import Replica
from service.web.auth import keyring
from service.web.site import make_site
from tests.loaded import serve
from tests.web.conftest import SiteClient
from tests.web.live import KEY, POLICY, Client, ServiceServer
from tests.web.reply import Asked, Reply, ask, ask_all, request

PREFIX = "https://proxy.example/directory/v1"
UNAUTHORIZED = [Asked("/stores", key=""), Asked("/companies?x=1", key="wrong"), Asked("/companies/a%2Fb", key="")]
UNKNOWN = [Asked(path) for path in ("/", "/nope", "/nope/", "/stores//", "/companies/acme/stores", "/a/b/c/d?e=/f")]
OTHERS = [
    Asked("/stores?limit=0"),
    Asked("/companies/nobody"),
    Asked("/stores", method="POST"),
    Asked("/stores", ("X-Dataset-Version: x",)),
    Asked("/stores/"),
    Asked("/health"),
]


def help_of(reply: Reply) -> str:
    """Return the target of the one link that a reply has, which is to the documentation."""
    (link,) = reply.headers.getall("Link")
    target, _, parameter = link.partition(">; ")
    assert (target[:1], parameter) == ("<", 'rel="help"')
    return target[1:]


@pytest.mark.parametrize("asked", [*UNAUTHORIZED, *UNKNOWN], ids=str)
async def test_401_and_the_404_of_a_path_link_to_the_documentation_behind_any_prefix(
    client: Client, asked: Asked
) -> None:
    reply = await asked.of(client)
    assert reply.status == (401 if asked in UNAUTHORIZED else 404)
    assert list(reply.json()) == ["detail"]
    for base in (PREFIX, "http://127.0.0.1:8080"):
        assert URL(base + asked.target, encoded=True).join(URL(help_of(reply))) == URL(f"{base}/docs")


async def test_the_link_leads_to_the_page(client: Client) -> None:
    page = URL("/nope/nope").join(URL(help_of(await ask(client, "/nope/nope"))))
    assert (await client.get(page)).headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("method", ["DELETE", "BREW"])
async def test_a_method_that_is_unknown_changes_nothing_about_it(client: Client, method: str) -> None:
    (reply,) = await ask_all(client, request("/a/b", "Connection: close", method=method))
    assert (reply.status, help_of(reply)) == (404, "../docs")


@pytest.mark.parametrize("asked", OTHERS, ids=str)
async def test_other_answers_have_no_such_link(client: Client, asked: Asked) -> None:
    assert "help" not in (await asked.of(client)).headers.get("Link", "")


async def test_a_path_of_very_many_segments_makes_no_long_link(client: Client) -> None:
    reply = await ask(client, "/x" * 2000)
    assert (reply.status, "Link" in reply.headers) == (404, False)


async def test_the_admin_address_which_has_no_documentation_links_to_none(
    replica: Replica, data: Path, aiohttp_client: AiohttpClient
) -> None:
    await serve(replica, data)
    site = make_site(replica, keyring([KEY]), POLICY, apart=True)
    assert site.admin is not None
    admin: Client = await aiohttp_client(ServiceServer(site.admin))
    public: Client = await aiohttp_client(ServiceServer(site.public))
    assert "Link" not in (await ask(admin, "/stores", key="")).headers
    assert help_of(await ask(public, "/stores", key="")) == "docs"
    assert help_of(await ask(public, "/health", key="")) == "docs"


async def test_pages_of_other_origins_may_read_it(site_client: SiteClient) -> None:
    client = await site_client(origins=frozenset({"https://shop.example"}))
    reply = await ask(client, "/stores", "Origin: https://shop.example", key="")
    assert help_of(reply) == "docs"
    assert "link" in reply.listed("Access-Control-Expose-Headers")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_there_is_no_icon_which_is_no_error_and_is_remembered_for_a_day(client: Client, method: str) -> None:
    reply = await ask(client, "/favicon.ico", method=method, key="")
    assert (reply.status, reply.body) == (204, b"")
    assert reply.headers["Cache-Control"] == "public, max-age=86400"
    assert not {"Content-Type", "Content-Length", "Link"} & set(reply.headers)


async def test_the_icon_is_read_only_like_the_rest_counted_by_its_path_and_not_documented(client: Client) -> None:
    refused = await ask(client, "/favicon.ico", method="POST", key="")
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert "/favicon.ico" not in (await ask(client, "/openapi.json")).json()["paths"]
    metrics = (await ask(client, "/metrics")).body.decode()
    assert 'requests_total{method="POST",route="/favicon.ico",status="405"} 1.0' in metrics
