"""A request for an object: conditions, framing, timeouts, and errors without secrets."""

import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from service.dataset import Rejected
from service.publishing.source import Unavailable
from service.publishing.transport import CutOff, ObjectTransport
from tests.publishing import origin as peer
from tests.publishing.origin import Behaviour, Origin

FILE = bytes(range(256)) * 2000
SHORT_TIMEOUT: Final = {"read_timeout": "500 ms"}
URL = "s3://bucket/a b/ü%20.baked"
# The settings of other stores; {} stands for the endpoint.
GOOGLE = {"GOOGLE_BASE_URL": "{}", "GOOGLE_ALLOW_HTTP": "true", "GOOGLE_SKIP_SIGNATURE": "true"}
ACCOUNT = {"AZURE_STORAGE_ACCOUNT_NAME": "account", "AZURE_STORAGE_ACCOUNT_KEY": "aHVzaA=="}
AZURE = {"AZURE_ENDPOINT": "{}", "AZURE_ALLOW_HTTP": "true", **ACCOUNT}
KEYS = {"AWS_ACCESS_KEY_ID": "hush-1", "AWS_SECRET_ACCESS_KEY": "hush-2", "AWS_SESSION_TOKEN": "hush-3"}


@pytest.fixture
async def origin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Origin]:
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    async with peer.serving(Origin(FILE, modified=peer.LAST_MODIFIED)) as serves:
        endpoint = serves.url.removesuffix("/set.baked")
        for name, value in {"AWS_ENDPOINT_URL": endpoint, "AWS_ALLOW_HTTP": "true", **KEYS}.items():
            monkeypatch.setenv(name, value)
        yield serves


def over(url: str = URL) -> ObjectTransport:
    return ObjectTransport(url)


async def test_an_object_is_requested_at_the_endpoint_in_the_environment(origin: Origin) -> None:
    assert await peer.received(over()) == ('"one"', FILE, len(FILE), True)
    (request,) = origin.requests
    assert request[""] == "GET /bucket/a%20b/%C3%BC%2520.baked HTTP/1.1"
    assert request["User-Agent"].startswith("store-directory/")
    assert "Credential=hush-1/" in request["Authorization"]
    assert not [name for name in request if name.lower().startswith(("if-", "range"))]


async def test_an_object_in_a_folder_is_requested_by_its_name(origin: Origin) -> None:
    for url, path in (("s3://bucket/", "bucket"), ("s3://bucket/a/b/", "bucket/a/b")):
        assert await peer.received(over(url), name="stores ?.csv") == ('"one"', FILE, len(FILE), True)
        assert origin.requests[-1][""] == f"GET /{path}/stores%20%3F.csv HTTP/1.1"


@pytest.mark.parametrize(
    ("url", "path", "variables"),
    [
        ("gs://bucket/a/b", "/bucket/a%2Fb", GOOGLE),
        ("az://bucket/a/b", "/bucket/a/b", AZURE),
    ],
)
async def test_other_stores_are_requested_with_their_settings(
    origin: Origin, monkeypatch: pytest.MonkeyPatch, url: str, path: str, variables: Mapping[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(os.environ["AWS_ENDPOINT_URL"]))
    assert await peer.received(over(url)) == ('"one"', FILE, len(FILE), True)
    assert origin.requests[-1][""] == f"GET {path} HTTP/1.1"
    assert await peer.received(over(url), '"one"') is None
    origin.will(peer.status("404 Not Found"))
    assert await peer.unavailable(over(url)) == "there is no such object"


@pytest.mark.parametrize("behaviours", [[], [peer.ignoring_conditions]], ids=["304", "200"])
async def test_an_unchanged_object_is_not_received(origin: Origin, behaviours: list[Behaviour]) -> None:
    origin.will(*behaviours)
    assert await peer.received(over(), '"one"') is None
    assert origin.requests[-1]["If-None-Match"] == '"one"'
    assert await peer.received(over(), '"other"') == ('"one"', FILE, len(FILE), True)


async def test_an_object_without_an_entity_tag_has_no_fingerprint(origin: Origin) -> None:
    origin.hold(FILE, None)
    assert await peer.received(over()) == ("", FILE, len(FILE), True)


@pytest.mark.parametrize(
    ("answer", "message"),
    [(peer.cut(100_000), "the response was cut off"), (peer.stall(100_000), "timed out")],
    ids=["cut", "idle"],
)
async def test_a_body_that_breaks_off_is_distinguished_and_not_continued(
    origin: Origin, answer: Behaviour, message: str
) -> None:
    origin.will(answer)
    with pytest.raises(CutOff, match=f"^{message}$"):
        await peer.received(over())
    assert len(origin.requests) == 1


def error(code: int, name: str) -> Behaviour:
    """Answer with an error of S3, which quotes the access key as that of a wrong signature does."""
    body = f"<Error><Code>{name}</Code><AWSAccessKeyId>hush-1</AWSAccessKeyId></Error>"
    return peer.raw(f"HTTP/1.1 {code} hush\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (error(404, "NoSuchBucket"), "the bucket does not exist"),
        (error(404, "NoSuchKey"), "there is no such object"),
        (peer.status("404 Not Found"), "there is no such object"),
        (error(403, "AccessDenied"), "access denied"),
        (error(403, "InvalidAccessKeyId"), "the access key is unknown"),
        (error(403, "SignatureDoesNotMatch"), "the secret key is wrong"),
        (error(400, "ExpiredToken"), "the credentials have expired"),
        (error(301, "PermanentRedirect"), "it redirects to nowhere: the endpoint or the region is wrong"),
        (error(400, "AuthorizationHeaderMalformed"), "the bucket is in another region: set AWS_REGION"),
        (error(401, "hush"), "access denied: the credentials are missing or wrong"),
        (error(503, "SlowDown"), "503 Service Unavailable"),
        (peer.status("304 Not Modified"), "304 Not Modified"),
        (peer.status("799 Whatever"), "799"),
        (peer.closing, "the connection was closed without a response"),
        (peer.chunked(FILE), "the response is not that of an object store"),
        (peer.unframed(FILE), "the response is not that of an object store"),
        (peer.raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "the response is not that of an object store"),
    ],
)
async def test_an_unusable_response_is_reported(origin: Origin, answer: Behaviour, message: str) -> None:
    origin.will(answer)
    assert await peer.unavailable(over()) == message


async def test_an_origin_that_sends_nothing_is_timed_out(origin: Origin) -> None:
    origin.will(peer.silent)
    assert await peer.unavailable(ObjectTransport(URL, SHORT_TIMEOUT)) == "timed out"


async def test_an_endpoint_that_cannot_be_reached_is_reported(monkeypatch: pytest.MonkeyPatch, origin: Origin) -> None:
    async with peer.serving(Origin(b"")) as gone:
        endpoint = gone.url.removesuffix("/set.baked")
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    assert await peer.unavailable(over()) == "cannot connect: Connection refused"
    monkeypatch.setenv("AWS_ENDPOINT_URL", origin.url.removesuffix("/set.baked").replace("http:", "https:"))
    assert await peer.unavailable(over()) == "cannot connect: TLS failed, such as for an unknown certificate"
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{'x' * 70}.invalid")
    assert await peer.unavailable(over()) == "cannot connect: the name of the host is unknown"


async def test_an_endpoint_without_tls_must_be_allowed(monkeypatch: pytest.MonkeyPatch, origin: Origin) -> None:
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    assert await peer.unavailable(over()) == "the endpoint is not https: set AWS_ALLOW_HTTP=true to allow that"
    assert origin.requests == []


async def test_missing_credentials_are_reported(monkeypatch: pytest.MonkeyPatch, origin: Origin) -> None:
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ValueError, match=r"^no valid credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        ObjectTransport(URL)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", origin.url)
    origin.will(peer.status("404 Not Found"))
    why = "no valid credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
    assert await peer.unavailable(over()) == why


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [error(403, "SignatureDoesNotMatch")],
        [error(500, "hush-1")],
        [peer.status("404 hush-1")],
        [peer.status("302 Found", Location="http://hush-2:hush-3@127.0.0.1:1/?token=hush-1")],
        [peer.raw(b"HTTP/1.1 200 OK\r\nhush-1\r\n\r\n")],
        [peer.cut(50_000)] * 3,
        [
            peer.raw(
                f"HTTP/1.1 200 OK\r\nLast-Modified: {peer.LAST_MODIFIED}\r\nContent-Length: 6\r\n\r\nhush-1".encode()
            )
        ]
        * 3,
    ],
)
async def test_credentials_appear_in_no_message_log_or_cache(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture, answers: list[Behaviour]
) -> None:
    origin.hold(one, '"one"')
    origin.will(*answers)
    await peer.check_secrets(URL, ObjectTransport(URL), tmp_path, caplog)
    assert bool(list((tmp_path / "cache").glob("*"))) is not bool(answers)


@pytest.mark.parametrize("line", ["200 OK", "206 Partial Content"])
async def test_a_part_of_an_object_is_not_taken_for_it(origin: Origin, tmp_path: Path, one: bytes, line: str) -> None:
    async def part(exchange: peer.Exchange) -> None:
        exchange.head(line, Content_Length=100_000, Content_Range=f"bytes 0-99999/{len(one)}")
        await exchange.send(one[:100_000])

    origin.hold(one, '"one"')
    origin.will(part)
    with pytest.raises((Rejected, Unavailable)):
        await peer.fetch(URL, ObjectTransport(URL), tmp_path)
    assert await peer.fetch(URL, ObjectTransport(URL), tmp_path) is not None
