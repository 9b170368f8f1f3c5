"""A request for a remote file over HTTP: conditions, framing, timeouts, and errors without secrets."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest
from aiohttp import ClientTimeout

from service.background import silent as no_progress
from service.dataset import Rejected, Safeguards
from service.publishing.http_transport import HttpTransport
from service.publishing.remote_source import RemoteBakedFile
from service.publishing.source import Fetched, Unavailable
from service.publishing.transport import CutOff
from tests.program import SECONDS
from tests.publishing.origin import (
    LAST_MODIFIED,
    Behaviour,
    Origin,
    chunked,
    closing,
    cut,
    ignoring_conditions,
    raw,
    serving,
    silent,
    stall,
    status,
    unframed,
)

HTML = b"<!DOCTYPE html><title>Log in</title>"
FILE = bytes(range(256)) * 2000
# Enough for an origin in this process, even on a slow machine.
SHORT_TIMEOUT: Final = ClientTimeout(total=SECONDS, sock_read=0.5)


@pytest.fixture
async def origin() -> AsyncIterator[Origin]:
    async with serving(Origin(FILE)) as serves:
        yield serves


async def get(
    origin: Origin, known: str = "", *, url: str = "", limit: ClientTimeout | None = None
) -> tuple[str, bytes, int | None, bool] | None:
    """Return fingerprint, body, length and framing of the response; None if the file is still known."""
    async with HttpTransport(url or origin.url, timeout=limit or ClientTimeout(total=SECONDS)).get(known) as remote:
        if remote is None:
            return None
        pieces = []
        while piece := await remote.read():
            pieces.append(piece)
        return remote.fingerprint, b"".join(pieces), remote.length, remote.is_framed


async def unavailable(origin: Origin, *, url: str = "", limit: ClientTimeout | None = None) -> str:
    with pytest.raises(Unavailable) as caught:
        await get(origin, url=url, limit=limit)
    return str(caught.value)


async def test_the_request_has_a_user_agent_and_accepts_no_content_coding(origin: Origin) -> None:
    assert await get(origin) == ('"one"', FILE, len(FILE), True)
    (request,) = origin.requests
    assert request[""] == "GET /set.baked HTTP/1.1"
    assert request["User-Agent"].startswith("store-directory/")
    assert request["Accept-Encoding"] == "identity"
    assert not [name for name in request if name.startswith("If-")]


async def test_a_file_in_a_folder_is_requested_by_its_name_with_the_query_of_the_folder(origin: Origin) -> None:
    folder = origin.url.removesuffix("set.baked") + "a%20b/?token=x#y"
    async with HttpTransport(folder).get("", "stores ?%.csv") as remote:
        assert remote is not None
    assert origin.requests[-1][""] == "GET /a%20b/stores%20%3F%25.csv?token=x HTTP/1.1"


@pytest.mark.parametrize(("send", "framed"), [(chunked, True), (unframed, False)], ids=["chunked", "unframed"])
async def test_a_body_without_a_length_is_received(origin: Origin, send: type, *, framed: bool) -> None:
    origin.will(send(FILE))
    assert await get(origin) == ('"one"', FILE, None, framed)


@pytest.mark.parametrize("tag", ['"one"', 'W/"one"', '""', f'"{"x" * 100}"'])
@pytest.mark.parametrize("behaviour", [None, ignoring_conditions], ids=["304", "200"])
async def test_an_unchanged_file_is_not_received(origin: Origin, tag: str, behaviour: Behaviour | None) -> None:
    origin.hold(FILE, tag)
    assert await get(origin) == (tag, FILE, len(FILE), True)
    origin.will(*([behaviour] if behaviour else []))
    assert await get(origin, tag) is None
    assert origin.requests[-1]["If-None-Match"] == tag


@pytest.mark.parametrize("behaviour", [None, ignoring_conditions], ids=["304", "200"])
async def test_without_an_entity_tag_last_modified_is_the_fingerprint(
    origin: Origin, behaviour: Behaviour | None
) -> None:
    origin.tag, origin.modified = None, LAST_MODIFIED
    known = f"last-modified: {LAST_MODIFIED}"
    assert await get(origin) == (known, FILE, len(FILE), True)
    origin.will(*([behaviour] if behaviour else []))
    assert await get(origin, known) is None
    assert origin.requests[-1]["If-Modified-Since"] == LAST_MODIFIED


@pytest.mark.parametrize("tag", [None, "bare", '"é"', f'"{"x" * 101}"'])
async def test_without_a_usable_validator_there_is_no_fingerprint(origin: Origin, tag: str | None) -> None:
    origin.hold(FILE, tag)
    assert await get(origin) == ("", FILE, len(FILE), True)


@pytest.mark.parametrize("known", ["crc32:0", '"a"\r\nX: y', "last-modified: \r\nX: y", "last-modified: ", 'W/"'])
async def test_an_invalid_validator_is_not_sent_as_a_condition(origin: Origin, known: str) -> None:
    assert await get(origin, known) is not None
    assert not [name for name in origin.requests[-1] if name.startswith(("If-", "X"))]


async def test_a_redirect_is_followed(origin: Origin) -> None:
    origin.will(status("302 Found", Location="/elsewhere"))
    assert await get(origin) == ('"one"', FILE, len(FILE), True)
    assert origin.requests[-1][""] == "GET /elsewhere HTTP/1.1"


@pytest.mark.parametrize(
    ("answer", "limit", "message"),
    [
        (cut(100_000), None, "the response was cut off"),
        (stall(100_000), SHORT_TIMEOUT, "timed out"),
        (stall(100_000), ClientTimeout(total=1), "timed out"),
    ],
    ids=["cut", "idle", "total"],
)
async def test_a_body_that_breaks_off_is_distinguished(
    origin: Origin, answer: Behaviour, limit: ClientTimeout | None, message: str
) -> None:
    origin.will(answer)
    with pytest.raises(CutOff, match=f"^{message}$"):
        await get(origin, limit=limit)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        *((status(line), line) for line in ("404 Not Found", "503 Service Unavailable", "204 No Content")),
        (closing, "the connection was closed without a response"),
        (status("304 Not Modified"), "304 Not Modified"),
        (status("302 Found"), "302 Found"),
        (status("799 Whatever"), "799"),
        (status("206 Partial Content"), "206 Partial Content"),
        (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "the response is not valid HTTP"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "the response is not valid HTTP"),
        (status("302 Found", Location="ftp://x/y"), "it redirects to a URL that is not http or https"),
        (status("302 Found", Location="http://[/"), "it redirects to a URL that is not http or https"),
    ],
)
async def test_an_unusable_response_is_reported(origin: Origin, answer: Behaviour, message: str) -> None:
    origin.will(*[answer] * 2)  # aiohttp asks again if an idle connection is closed
    assert await unavailable(origin) == message


async def test_a_redirect_loop_is_reported(origin: Origin) -> None:
    origin.will(*[status("302 Found", Location="/set.baked")] * 50)
    assert await unavailable(origin) == "too many redirects"


async def test_an_origin_that_never_responds_is_reported(origin: Origin) -> None:
    origin.will(silent)
    assert await unavailable(origin, limit=SHORT_TIMEOUT) == "timed out"


async def test_an_origin_that_refuses_connections_is_reported(origin: Origin) -> None:
    async with serving(Origin(b"")) as gone:
        url = gone.url
    assert await unavailable(origin, url=url) == "cannot connect: Connection refused"


async def test_an_invalid_host_name_is_reported(origin: Origin) -> None:
    assert await unavailable(origin, url=f"http://{'x' * 70}.invalid/set.baked")


async def test_an_origin_without_tls_is_reported(origin: Origin) -> None:
    assert (await unavailable(origin, url=origin.url.replace("http:", "https:"))).startswith("cannot connect: ")


def source(url: str, folder: Path) -> RemoteBakedFile:
    return RemoteBakedFile(url, folder / "cache", HttpTransport(url), pauses=(0, 0))


async def fetch(remote: RemoteBakedFile, folder: Path) -> Fetched | None:
    return await remote.fetch(folder / "to", known='"none"', check=Safeguards().check, progress=no_progress)


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [status("404 /set.baked?token=hush-1")],
        [status("302 Found", Location="http://hush-2:hush-3@127.0.0.1:1/?token=hush-1")],
        [status("302 Found", Location="ftp://x/?token=hush-1")],
        [status("302 Found", Location="http://[/?token=hush-1")],
        [status("302 Found", Location="/?token=hush-1")] * 20,
        [raw(b"HTTP/1.1 200 OK\r\nhush-1\r\n\r\n")],
        [raw(b"hush-1\r\n\r\n")],
        [closing] * 2,
        [cut(50_000)] * 9,
        [unframed(HTML + b"hush-1")],
    ],
)
async def test_secrets_in_the_url_appear_in_no_message_log_or_cache(
    origin: Origin, tmp_path: Path, one: bytes, caplog: pytest.LogCaptureFixture, answers: list[Behaviour]
) -> None:
    caplog.set_level(logging.DEBUG)
    origin.hold(one, '"one"')
    remote = source(origin.url.replace("//", "//hush-2:hush-3@") + "?token=hush-1#hush-4", tmp_path)
    origin.will(*answers)
    messages = remote.name
    try:
        await fetch(remote, tmp_path)
    except (Rejected, Unavailable) as error:
        messages += "".join(traceback.format_exception(error))
    cached = [f"{path.name}: {path.read_bytes()!r}" for path in (tmp_path / "cache").glob("*")]
    assert bool(cached) is not bool(answers)
    assert "hush" not in "\n".join([messages, caplog.text, *cached])
    assert origin.requests[0]["Authorization"].startswith("Basic ")


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_fetch_cancelled_at_any_moment_leaves_no_file_open(origin: Origin, tmp_path: Path, one: bytes) -> None:
    before = open_files()
    origin.hold(one, '"one"')
    moment, finished = 0, False
    while not finished:
        origin.behaviours.clear()
        origin.will(cut(100_000))
        fetching = asyncio.create_task(fetch(source(origin.url, tmp_path), tmp_path))
        for _ in range(moment):
            await asyncio.sleep(0)
        finished = not fetching.cancel()
        (end,) = await asyncio.gather(fetching, return_exceptions=True)
        assert isinstance(end, Fetched if finished else asyncio.CancelledError)
        async with asyncio.timeout(SECONDS):
            while open_files() > before:  # noqa: ASYNC110 - the origin closes its side a moment later
                await asyncio.sleep(0)
        moment += 1 + moment // 20
