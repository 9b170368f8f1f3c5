"""The terms of a service, as the options of the program set them."""

from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from service.web.policy import read_origin
from tests.directory import store, write_directory
from tests.program import SECONDS, Running, run, serving
from tests.web.conftest import SiteClient
from tests.web.negotiation import CODINGS
from tests.web.reply import ask

ORIGIN, PREFLIGHT = "https://a.example", {"Access-Control-Request-Method": "GET"}


@pytest.mark.parametrize("cache_control", ["private, max-age=60", "no-store", "public, s-maxage=5"])
async def test_answers_from_the_data_may_be_stored_as_is_told_and_no_others(
    site_client: SiteClient, cache_control: str
) -> None:
    client = await site_client(cache_control=cache_control)
    for target in ("/stores", "/companies/acme"):
        for field in ("If-None-Match: *", "Accept-Encoding: gzip, *;q=0", "Accept: */*"):
            assert (await ask(client, target, field)).headers.getall("Cache-Control") == [cache_control]
        assert (await ask(client, target, "X-Dataset-Version: x")).headers["Cache-Control"] == "no-store"
    assert (await ask(client, "/openapi.json")).headers["Cache-Control"] == "no-cache"


async def test_without_keys_answers_hang_on_none(site_client: SiteClient) -> None:
    client = await site_client(needs_key=False)
    for target in ("/stores", "/companies/acme"):
        assert (await ask(client, target, key="")).listed("Vary") == {"accept-encoding", "prefer", "x-dataset-version"}


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("HTTPS://Shop.Example", "https://shop.example"),
        ("https://shop.example:443", "https://shop.example"),
        ("http://shop.example:80", "http://shop.example"),
        ("http://shop.example:443", "http://shop.example:443"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://192.0.2.1", "http://192.0.2.1"),
        ("*", "*"),
    ],
)
def test_an_origin_is_read_as_browsers_write_it(text: str, origin: str) -> None:
    assert read_origin(text) == origin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "shop.example",
        "https://",
        "https://shop.example/",
        "https://shop.example/path",
        "https://shop.example?x",
        "https://shop.example#x",
        "https://me@shop.example",
        "https://*.shop.example",
        "https://shop.example:",
        "https://shop.example:0x50",
        "https://shop.example:65536",
        "https://shop.example, https://other.example",
        "https://shöp.example",
        "//shop.example",
        "https:shop.example",
    ],
)
def test_what_is_no_origin_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_origin(text)


@pytest.mark.parametrize(
    "options",
    [("--cors-origin", "null"), ("--cache-control", "a\nb"), ("--encoded-cache", "-1")],
    ids=lambda options: str(options[0]),
)
def test_terms_that_make_no_sense_are_bad_usage(options: tuple[str, ...]) -> None:
    ended = run("serve", "--port", "0", *options)
    assert (ended.returncode, options[0] in ended.stderr, "Traceback" in ended.stderr) == (2, True, False)


def told(service: Running, target: str, *, method: str = "GET", **fields: str) -> dict[str, Any]:
    """Return the status of an answer, the length of its body, and its header fields by their names in small letters."""
    connection = HTTPConnection(urlsplit(service.address).netloc, timeout=SECONDS)
    connection.request(method, target, headers={name.replace("_", "-"): value for name, value in fields.items()})
    answer = connection.getresponse()
    length = len(answer.read())
    connection.close()
    return {name.lower(): value for name, value in answer.getheaders()} | {"status": answer.status, "bytes": length}


def test_the_program_serves_on_the_terms_that_it_is_told(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store(f"s{number}") for number in range(200)])
    options = ("--cors-origin", "HTTPS://A.example:443", "--cors-origin", "http://b.example", "--encoded-cache", "0")
    with serving("--data", folder, "--no-auth", *options, STORE_DIRECTORY_CACHE_CONTROL="max-age=5") as service:
        plain = told(service, "/stores", Origin=ORIGIN)
        assert (plain["status"], plain["cache-control"]) == (200, "max-age=5")
        assert plain["access-control-allow-origin"] == ORIGIN
        assert plain["vary"].split(", ") == ["Accept-Encoding", "Prefer", "X-Dataset-Version", "Origin"]
        for coding in CODINGS:
            coded = [told(service, "/stores", Accept_Encoding=coding) for _ in range(2)]
            assert {answer["content-encoding"] for answer in coded} == {coding}
            assert coded[0]["bytes"] == coded[1]["bytes"] < plain["bytes"]
        asked = {"Origin": "http://b.example", **PREFLIGHT}
        assert told(service, "/stores", method="OPTIONS", **asked)["status"] == 204
        assert told(service, "/stores", method="OPTIONS", **asked | {"Origin": "http://c.example"})["status"] == 405
