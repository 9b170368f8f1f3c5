"""A request for a remote file over HTTP: conditions, framing, timeouts, and errors without secrets."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientTimeout

from service.publishing.source import Fetched
from service.publishing.transport import CutOff, HttpTransport
from tests.loop_clock import advance
from tests.program import SECONDS
from tests.publishing import origin as peer
from tests.publishing.origin import Behaviour, Origin

HTML = b"<!DOCTYPE html><title>Log in</title>"
FILE = bytes(range(256)) * 2000
PLENTY: Final = ClientTimeout(total=SECONDS)
IMPATIENT: Final = ClientTimeout(total=SECONDS, sock_read=0.1)


@pytest.fixture
async def origin() -> AsyncIterator[Origin]:
    async with peer.serving(Origin(FILE)) as serves:
        yield serves


def over(origin: Origin, limit: ClientTimeout = PLENTY) -> HttpTransport:
    return HttpTransport(origin.url, timeout=limit)


async def test_the_request_of_a_baked_file_has_a_user_agent_and_accepts_content_codings(origin: Origin) -> None:
    assert await peer.received(over(origin)) == ('"one"', FILE, len(FILE), True)
    (request,) = origin.requests
    assert request[""] == "GET /set.baked HTTP/1.1"
    assert request["User-Agent"].startswith("store-directory/")
    assert request["Accept-Encoding"] == "zstd, gzip"
    assert not [name for name in request if name.startswith("If-")]


async def test_a_file_in_a_folder_is_requested_by_its_name_with_the_query_of_the_folder(origin: Origin) -> None:
    folder = origin.url.removesuffix("set.baked") + "a%20b/?token=x#y"
    assert await peer.received(HttpTransport(folder), name="stores ?%.csv") is not None
    assert origin.requests[-1][""] == "GET /a%20b/stores%20%3F%25.csv?token=x HTTP/1.1"
    assert origin.requests[-1]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("send", "framed"), [(peer.chunked, True), (peer.unframed, False)], ids=["chunked", "unframed"]
)
async def test_a_body_without_a_length_is_received(origin: Origin, send: type, *, framed: bool) -> None:
    origin.will(send(FILE))
    assert await peer.received(over(origin)) == ('"one"', FILE, None, framed)


@pytest.mark.parametrize(
    ("tag", "known", "field"),
    [
        *((each, each, "If-None-Match") for each in ('"one"', 'W/"one"', '""', f'"{"x" * 100}"')),
        (None, f"last-modified: {peer.LAST_MODIFIED}", "If-Modified-Since"),
    ],
)
@pytest.mark.parametrize("behaviours", [[], [peer.ignoring_conditions]], ids=["304", "200"])
async def test_an_unchanged_file_is_not_received_and_its_fingerprint_is_the_entity_tag_or_last_modified(
    origin: Origin, tag: str | None, known: str, field: str, behaviours: list[Behaviour]
) -> None:
    origin.tag, origin.modified = tag, peer.LAST_MODIFIED
    assert await peer.received(over(origin)) == (known, FILE, len(FILE), True)
    origin.will(*behaviours)
    assert await peer.received(over(origin), known) is None
    assert origin.requests[-1][field] == known.removeprefix("last-modified: ")


@pytest.mark.parametrize(
    ("tag", "known"),
    [
        (None, "crc32:0"),
        ("bare", '"a"\r\nX: y'),
        ('"é"', "last-modified: \r\nX: y"),
        (f'"{"x" * 101}"', "last-modified: "),
        (None, 'W/"'),
    ],
)
async def test_an_unusable_validator_is_neither_a_fingerprint_nor_sent_as_a_condition(
    origin: Origin, tag: str | None, known: str
) -> None:
    origin.hold(FILE, tag)
    assert await peer.received(over(origin), known) == ("", FILE, len(FILE), True)
    assert not [name for name in origin.requests[-1] if name.startswith(("If-", "X"))]


async def test_a_redirect_is_followed(origin: Origin) -> None:
    origin.will(peer.status("302 Found", Location="/elsewhere"))
    assert await peer.received(over(origin)) == ('"one"', FILE, len(FILE), True)
    assert origin.requests[-1][""] == "GET /elsewhere HTTP/1.1"


@pytest.mark.parametrize(
    ("answer", "limit", "message"),
    [
        (peer.cut(100_000), PLENTY, "the response was cut off"),
        (peer.stall(100_000), ClientTimeout(total=3 * SECONDS, sock_read=SECONDS), "timed out"),
        (peer.stall(100_000), PLENTY, "timed out"),
    ],
    ids=["cut", "idle", "total"],
)
async def test_a_body_that_breaks_off_or_stalls_is_distinguished(
    origin: Origin, answer: Behaviour, limit: ClientTimeout, message: str
) -> None:
    async def receive() -> None:
        length = 0
        async with over(origin, limit).get("") as remote:
            assert remote is not None
            while piece := await remote.read():
                length += len(piece)
                if length == 100_000 and message == "timed out":
                    advance(2 * SECONDS)

    origin.will(answer)
    with pytest.raises(CutOff, match=f"^{message}$"):
        await receive()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        *((peer.status(line), line) for line in ("404 Not Found", "503 Service Unavailable", "204 No Content")),
        (peer.closing, "the connection was closed without a response"),
        (peer.status("304 Not Modified"), "304 Not Modified"),
        (peer.status("302 Found"), "302 Found"),
        (peer.status("799 Whatever"), "799"),
        (peer.status("206 Partial Content"), "206 Partial Content"),
        (peer.raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "the response is not valid HTTP"),
        (peer.raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "the response is not valid HTTP"),
        (peer.status("302 Found", Location="ftp://x/y"), "it redirects to a URL that is not http or https"),
        (peer.status("302 Found", Location="http://[/"), "it redirects to a URL that is not http or https"),
        (peer.status("302 Found", Location="/set.baked"), "too many redirects"),
        (peer.silent, "timed out"),
    ],
)
async def test_an_unusable_response_is_reported(origin: Origin, answer: Behaviour, message: str) -> None:
    origin.will(*[answer] * 50)  # aiohttp asks again if an idle connection is closed, or redirected
    assert await peer.unavailable(over(origin, IMPATIENT if answer is peer.silent else PLENTY)) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: f"http://{'x' * 70}.invalid/set.baked", ""),
        (lambda url: url.replace("http:", "https:"), "cannot connect: "),
        (lambda url: f"{url[: url.rindex(':')]}:1/set.baked", "cannot connect: Connection refused"),
    ],
    ids=["an invalid host name", "no TLS", "refused connections"],
)
async def test_an_origin_that_cannot_be_reached_is_reported(
    origin: Origin, change: Callable[[str], str], message: str
) -> None:
    assert (await peer.unavailable(HttpTransport(change(origin.url)))).startswith(message)


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [peer.status("404 /set.baked?token=hush-1")],
        [peer.status("302 Found", Location="http://hush-2:hush-3@127.0.0.1:1/?token=hush-1")],
        [peer.status("302 Found", Location="ftp://x/?token=hush-1")],
        [peer.status("302 Found", Location="http://[/?token=hush-1")],
        [peer.status("302 Found", Location="/?token=hush-1")] * 20,
        [peer.raw(b"HTTP/1.1 200 OK\r\nhush-1\r\n\r\n")],
        [peer.raw(b"hush-1\r\n\r\n")],
        [peer.closing] * 2,
        [peer.cut(50_000)] * 9,
        [peer.unframed(HTML + b"hush-1")],
    ],
)
async def test_secrets_in_the_url_appear_in_no_message_log_or_cache(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture, answers: list[Behaviour]
) -> None:
    origin.hold(one, '"one"')
    url = origin.url.replace("//", "//hush-2:hush-3@") + "?token=hush-1#hush-4"
    origin.will(*answers)
    await peer.check_secrets(url, HttpTransport(url), tmp_path, caplog)
    assert bool(list((tmp_path / "cache").glob("*"))) is not bool(answers)
    assert origin.requests[0]["Authorization"].startswith("Basic ")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_fetch_cancelled_at_any_moment_leaves_no_file_open(origin: Origin, tmp_path: Path, one: bytes) -> None:
    before = open_files()
    origin.hold(one, '"one"')
    moment, finished = 0, False
    while not finished:
        origin.behaviours.clear()
        origin.will(peer.cut(100_000))
        fetching = asyncio.create_task(peer.fetch(origin.url, HttpTransport(origin.url), tmp_path))
        for _ in range(moment):
            await asyncio.sleep(0)
        finished = not fetching.cancel()
        (end,) = await asyncio.gather(fetching, return_exceptions=True)
        assert isinstance(end, Fetched if finished else asyncio.CancelledError)
        async with asyncio.timeout(SECONDS):
            while open_files() > before:  # noqa: ASYNC110 - the origin closes its side a moment later
                await asyncio.sleep(0)
        moment += 1 + moment // 20
