"""A remote file as a source: fetched completely and verified, or not at all."""

import asyncio
import logging
import traceback
import unicodedata
from pathlib import Path

import msgspec
import pytest
from aiohttp import ClientTimeout

from service.baking.baked_file import write_baked
from service.data_set import Rejected
from service.sources.source import Fetched, Source, Unavailable
from service.sources.url_source import UrlSource
from tests.baking.random_data_sets import loaded, small_file
from tests.directory import store, write_directory
from tests.program import SECONDS
from tests.sampling.test_sample import small_disk
from tests.sources.fetching import SHORT_TIMEOUT, Fetcher
from tests.sources.origin import (
    LAST_MODIFIED,
    Behaviour,
    Exchange,
    Origin,
    blind_cut,
    chunked,
    claiming,
    closing,
    cut,
    endless,
    ignoring_conditions,
    part,
    raw,
    serving,
    silent,
    stall,
    status,
    unframed,
)

HTML = b"<!DOCTYPE html><title>Log in</title>"


@pytest.fixture
def fetcher(origin: Origin, tmp_path: Path) -> Fetcher:
    return Fetcher(origin, tmp_path)


def header_of_length(length: int) -> bytes:
    """Return the header of a baked file with this total length."""
    entry = {"dtype": "U8", "shape": [length], "data_offsets": [0, length]}
    text = msgspec.json.encode({"__metadata__": {}, "header_crc32": entry}).ljust(1016)
    return len(text).to_bytes(8, "little") + text


async def test_the_file_is_fetched_byte_for_byte(fetcher: Fetcher, one: bytes) -> None:
    source: Source = fetcher.source
    assert source.watched == ()
    assert await fetcher.fetched() == ('"one"', one)
    assert fetcher.to.stat().st_mode & 0o777 == 0o600


async def test_the_request_has_a_user_agent_and_accepts_no_content_coding(fetcher: Fetcher) -> None:
    await fetcher.fetch()
    (request,) = fetcher.origin.requests
    assert request[""] == "GET /set.baked HTTP/1.1"
    assert request["User-Agent"].startswith("store-directory/")
    assert request["Accept-Encoding"] == "identity"


async def test_the_progress_ends_with_the_whole_file(fetcher: Fetcher, one: bytes) -> None:
    await fetcher.fetch()
    assert fetcher.origin.steps[-1] == (f"Fetching {fetcher.origin.url}", len(one), len(one))
    assert [done for _, done, _ in fetcher.origin.steps] == sorted({done for _, done, _ in fetcher.origin.steps})


@pytest.mark.parametrize("send", [chunked, unframed], ids=["chunked", "unframed"])
async def test_a_file_without_a_content_length_is_fetched(fetcher: Fetcher, one: bytes, send: type) -> None:
    fetcher.origin.will(send(one))
    assert await fetcher.fetched() == ('"one"', one)


@pytest.mark.parametrize("tag", ['"one"', 'W/"one"', '""'])
@pytest.mark.parametrize("behaviour", [None, ignoring_conditions], ids=["304", "200"])
async def test_an_unchanged_file_is_not_fetched_again(
    fetcher: Fetcher, tag: str, behaviour: Behaviour | None, one: bytes
) -> None:
    fetcher.origin.hold(one, tag)
    assert (await fetcher.fetched())[0] == tag
    fetcher.origin.will(*([behaviour] if behaviour else []))
    assert await fetcher.fetch(tag) is None
    assert fetcher.origin.requests[-1]["If-None-Match"] == tag
    assert not fetcher.to.exists()


@pytest.mark.parametrize("behaviour", [None, ignoring_conditions], ids=["304", "200"])
async def test_without_an_entity_tag_last_modified_is_the_fingerprint(
    fetcher: Fetcher, behaviour: Behaviour | None
) -> None:
    fetcher.origin.tag, fetcher.origin.modified = None, LAST_MODIFIED
    known, _ = await fetcher.fetched()
    assert known == f"last-modified: {LAST_MODIFIED}"
    fetcher.origin.will(*([behaviour] if behaviour else []))
    assert await fetcher.fetch(known) is None
    assert fetcher.origin.requests[-1]["If-Modified-Since"] == LAST_MODIFIED


@pytest.mark.parametrize("tag", [None, "bare", '"é"'])
async def test_without_validators_the_digest_is_the_fingerprint(
    fetcher: Fetcher, tag: str | None, one: bytes, other: bytes
) -> None:
    fetcher.origin.hold(one, tag)
    known, _ = await fetcher.fetched()
    assert known.startswith("sha256:")
    assert await fetcher.fetch(known) is None
    assert not fetcher.to.exists()
    fetcher.origin.hold(other, tag)
    assert (await fetcher.fetched(known))[1] == other


async def test_a_changed_file_is_fetched(fetcher: Fetcher, other: bytes) -> None:
    known, _ = await fetcher.fetched()
    fetcher.origin.hold(other, '"two"')
    assert await fetcher.fetched(known) == ('"two"', other)


@pytest.mark.parametrize("known", ["crc32:0", '"a"\r\nX: y', "last-modified: \r\nX: y", "last-modified: ", 'W/"'])
async def test_an_invalid_validator_is_not_sent_as_a_condition(fetcher: Fetcher, one: bytes, known: str) -> None:
    assert await fetcher.fetched(known) == ('"one"', one)
    assert not [name for name in fetcher.origin.requests[-1] if name.startswith(("If-", "X"))]


async def test_a_redirect_is_followed(fetcher: Fetcher, one: bytes) -> None:
    fetcher.origin.will(status("302 Found", Location="/elsewhere"))
    assert await fetcher.fetched() == ('"one"', one)
    assert fetcher.origin.requests[-1][""] == "GET /elsewhere HTTP/1.1"


# Broken connections


@pytest.mark.parametrize("pieces", [1, 2, 5])
async def test_a_broken_download_is_resumed_and_each_byte_sent_once(fetcher: Fetcher, one: bytes, pieces: int) -> None:
    fetcher.origin.will(*(cut(len(one) * (piece + 1) // (pieces + 1)) for piece in range(pieces)))
    assert await fetcher.fetched() == ('"one"', one)
    assert len(fetcher.origin.sent) == pieces + 1
    assert [stop for _, stop in fetcher.origin.sent[:-1]] == [start for start, _ in fetcher.origin.sent[1:]]
    assert {asked.get("If-Range") for asked in fetcher.origin.requests[1:]} == {'"one"'}


async def test_a_download_is_resumed_as_long_as_it_makes_progress(fetcher: Fetcher, one: bytes) -> None:
    fetcher.origin.will(*(cut(len(one) // 2 + more) for more in range(20)))
    assert await fetcher.fetched() == ('"one"', one)


@pytest.mark.parametrize("limit", [SHORT_TIMEOUT, ClientTimeout(total=1)], ids=["idle", "total"])
async def test_a_download_is_resumed_after_a_timeout(
    origin: Origin, tmp_path: Path, one: bytes, limit: ClientTimeout
) -> None:
    fetcher = Fetcher(origin, tmp_path, timeout=limit)
    origin.will(stall(100_000), stall(200_000))
    assert await fetcher.fetched() == ('"one"', one)
    assert origin.sent == [(0, 100_000), (100_000, 200_000), (200_000, len(one))]


async def test_a_file_that_changes_before_the_resumption_is_fetched_in_its_new_version(
    fetcher: Fetcher, one: bytes, other: bytes
) -> None:
    async def cut_and_change(exchange: Exchange) -> None:
        await cut(len(one) // 2)(exchange)
        exchange.origin.hold(other, '"two"')

    fetcher.origin.will(cut_and_change)
    assert await fetcher.fetched() == ('"two"', other)


@pytest.mark.parametrize("tag", ['W/"one"', None])
async def test_without_a_strong_entity_tag_a_broken_download_starts_again(
    fetcher: Fetcher, one: bytes, tag: str | None
) -> None:
    fetcher.origin.hold(one, tag)
    fetcher.origin.will(cut(100_000))
    assert (await fetcher.fetched())[1] == one
    assert "Range" not in fetcher.origin.requests[-1]


@pytest.mark.parametrize(
    "answer",
    [
        part("bytes 0-9/10"),
        part("bytes 99999-100000/100001"),
        part("bytes 100000-100001/7"),
        part("bytes 100000-/*"),
        part(f"bytes {'9' * 5_000}-1/*"),
        part(f"bytes 100000-100001/{'9' * 5_000}"),
        part("lines 100000-100001/100002"),
        status("416 Range Not Satisfiable"),
        status("503 Service Unavailable"),
        status("304 Not Modified"),
        closing,
    ],
)
async def test_a_response_without_the_requested_range_is_not_appended(
    fetcher: Fetcher, one: bytes, answer: Behaviour
) -> None:
    fetcher.origin.will(cut(100_000), answer)
    assert await fetcher.fetched('"none"') == ('"one"', one)


@pytest.mark.parametrize("first", [0, 99_999, 100_001])
async def test_a_range_with_another_start_is_not_appended(fetcher: Fetcher, one: bytes, first: int) -> None:
    fetcher.origin.will(cut(100_000), part(f"bytes {first}-{len(one) - 1}/{len(one)}"))
    assert await fetcher.fetched() == ('"one"', one)


async def test_nothing_remains_of_a_longer_file_that_was_received_before(fetcher: Fetcher, tmp_path: Path) -> None:
    small = small_file(tmp_path / "small").read_bytes()

    async def cut_and_change(exchange: Exchange) -> None:
        await cut(100_000)(exchange)
        exchange.origin.hold(small, '"small"')

    fetcher.origin.will(cut_and_change)
    assert await fetcher.fetched() == ('"small"', small)
    assert len(small) < 100_000


async def test_progress_resets_the_number_of_attempts(fetcher: Fetcher, one: bytes) -> None:
    down = [status("503 Service Unavailable")] * 3
    fetcher.origin.will(cut(100_000), *down, cut(200_000), *down)
    assert await fetcher.fetched() == ('"one"', one)


async def test_a_range_of_another_file_is_not_appended(fetcher: Fetcher, one: bytes, other: bytes) -> None:
    async def of_another(exchange: Exchange) -> None:
        exchange.origin.hold(other, '"two"')
        await part(f"bytes 100000-{len(one) - 1}/{len(one)}")(exchange)

    fetcher.origin.will(cut(100_000), of_another)
    assert await fetcher.fetched() == ('"two"', other)


async def test_a_range_shorter_than_requested_is_progress(fetcher: Fetcher, one: bytes) -> None:
    async def shorter(exchange: Exchange) -> None:
        exchange.head("206 Partial Content", Content_Range=f"bytes 100000-199999/{len(one)}", Content_Length=100_000)
        await exchange.send_file(100_000, 200_000)

    fetcher.origin.will(cut(100_000), shorter)
    assert await fetcher.fetched() == ('"one"', one)
    assert fetcher.origin.sent == [(0, 100_000), (100_000, 200_000), (200_000, len(one))]


@pytest.mark.parametrize("tag", ['"one"', None])
async def test_a_download_that_always_breaks_at_the_same_byte_fails_after_a_few_attempts(
    fetcher: Fetcher, one: bytes, tag: str | None
) -> None:
    fetcher.origin.hold(one, tag)
    fetcher.origin.will(*[cut(100_000)] * 20)
    assert await fetcher.unavailable() == "the response was cut off"
    assert len(fetcher.origin.requests) == (5 if tag else 4)


async def test_a_download_of_one_byte_per_attempt_fails_after_all_attempts(fetcher: Fetcher, one: bytes) -> None:
    fetcher.origin.will(*(cut(100_000 + more) for more in range(200)))
    assert await fetcher.unavailable() == "the response was cut off"
    assert len(fetcher.origin.requests) == 100
    assert len(one) > 100_200


async def test_attempts_without_progress_are_delayed(origin: Origin, tmp_path: Path) -> None:
    origin.will(*[cut(100_000)] * 3)
    fetcher = Fetcher(origin, tmp_path, pauses=(0, 600))
    fetching = asyncio.create_task(fetcher.fetch())
    async with asyncio.timeout(SECONDS):
        while len(origin.requests) < 3:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
    assert await asyncio.wait([fetching], timeout=0.2) == (set(), {fetching})
    assert len(origin.requests) == 3
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching


# Invalid and damaged files


async def test_a_log_in_page_is_rejected_by_its_first_bytes(fetcher: Fetcher) -> None:
    fetcher.origin.will(endless(HTML))
    assert await fetcher.rejected() == ("the file is not a baked data set", '"one"')


@pytest.mark.parametrize("content", [b"", b"no", HTML, (64).to_bytes(8, "little") + b"[" * 64])
@pytest.mark.parametrize("send", [chunked, unframed], ids=["chunked", "unframed"])
async def test_a_body_that_is_not_a_baked_file_is_rejected(fetcher: Fetcher, content: bytes, send: type) -> None:
    fetcher.origin.will(send(content), send(content))
    why, fingerprint = await fetcher.rejected()
    assert "the file is not a baked data set" in why
    assert fingerprint == '"one"'


async def test_an_endless_body_is_rejected_at_the_end_of_the_file(fetcher: Fetcher, one: bytes) -> None:
    fetcher.origin.will(endless(one))
    why, _ = await fetcher.rejected()
    assert why.startswith(f"the file has {len(one):,} bytes by its header, but the origin sends more")
    assert fetcher.to.stat().st_size <= len(one)


@pytest.mark.parametrize("difference", [-100_000, -1, 1, 100_000])
async def test_a_wrong_content_length_is_rejected(fetcher: Fetcher, one: bytes, difference: int) -> None:
    fetcher.origin.will(claiming(len(one) + difference))
    length = len(one) + difference
    why = f"the file has {len(one):,} bytes by its header, but the origin sends {length:,} bytes"
    assert await fetcher.rejected() == (why, '"one"')


@pytest.mark.parametrize("length", [0, 7, 8, 100])
async def test_a_file_shorter_than_its_header_is_rejected(fetcher: Fetcher, one: bytes, length: int) -> None:
    fetcher.origin.hold(one[:length], '"one"')
    why, _ = await fetcher.rejected()
    assert "the file is not a baked data set" in why


async def test_a_truncated_body_is_rejected_if_it_is_framed_and_resumed_if_it_is_not(
    fetcher: Fetcher, one: bytes
) -> None:
    fetcher.origin.will(chunked(one[:-5]), chunked(one[:-5]))
    assert await fetcher.rejected() == ("the file is truncated", '"one"')
    fetcher.origin.will(unframed(one[:100_000]))
    assert await fetcher.fetched() == ('"one"', one)
    assert fetcher.origin.sent == [(100_000, len(one))]


async def test_a_file_damaged_in_transit_is_fetched_again(fetcher: Fetcher, one: bytes) -> None:
    fetcher.origin.will(chunked(one[:200_000] + b"\xff" + one[200_001:]))
    assert await fetcher.fetched() == ('"one"', one)


async def test_a_damaged_file_is_rejected_and_not_fetched_again_until_it_changes(
    fetcher: Fetcher, one: bytes, other: bytes
) -> None:
    fetcher.origin.hold(one[:200_000] + b"\xff" + one[200_001:], '"bad"')
    why, fingerprint = await fetcher.rejected()
    assert (why.endswith(" is damaged"), fingerprint) == (True, '"bad"')
    assert await fetcher.fetch(fingerprint) is None
    fetcher.origin.hold(other, '"two"')
    assert await fetcher.fetched(fingerprint) == ('"two"', other)


@pytest.fixture
def foreign(tmp_path: Path) -> bytes:
    """Return a file baked by a Python without a character that this one has."""
    data = write_directory(tmp_path / "foreign", [store("s1", name="\U0001f600")])
    write_baked(loaded(data), tmp_path / "foreign.baked", tables=unicodedata.ucd_3_2_0)
    return (tmp_path / "foreign.baked").read_bytes()


async def test_a_file_baked_with_other_unicode_tables_is_rejected_with_advice(fetcher: Fetcher, foreign: bytes) -> None:
    fetcher.origin.hold(foreign, '"foreign"')
    why, _ = await fetcher.rejected()
    assert why.startswith("it has the character U+1F600, which Python 3.")
    assert "did not; bake it again with Python 3." in why


async def test_a_rejected_file_without_validators_is_reported_once(fetcher: Fetcher, one: bytes) -> None:
    for content in (one[:200_000] + b"\xff" + one[200_001:], HTML):
        fetcher.origin.hold(content, None)
        _, fingerprint = await fetcher.rejected()
        assert await fetcher.fetch(fingerprint) is None


# Unavailable origins


@pytest.mark.parametrize(
    "line", ["404 Not Found", "500 Internal Server Error", "503 Service Unavailable", "204 No Content"]
)
async def test_another_status_is_reported(fetcher: Fetcher, line: str) -> None:
    fetcher.origin.will(status(line))
    assert await fetcher.unavailable() == line
    assert len(fetcher.origin.requests) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (closing, "the connection was closed without a response"),
        (status("304 Not Modified"), "304 Not Modified"),
        (status("302 Found"), "302 Found"),
        (status("799 Whatever"), "799"),
        (part("bytes 0-9/10"), "206 Partial Content"),
        (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "the response is not valid HTTP"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "the response is not valid HTTP"),
        (status("302 Found", Location="ftp://x/y"), "it redirects to a URL that is not http or https"),
        (status("302 Found", Location="http://[/"), "it redirects to a URL that is not http or https"),
    ],
)
async def test_an_unusable_response_is_reported(fetcher: Fetcher, answer: Behaviour, message: str) -> None:
    fetcher.origin.will(*[answer] * 4)
    assert await fetcher.unavailable() == message


async def test_a_redirect_loop_is_reported(fetcher: Fetcher) -> None:
    fetcher.origin.will(*[status("302 Found", Location="/set.baked")] * 50)
    assert await fetcher.unavailable() == "too many redirects"


async def test_an_origin_that_never_responds_is_reported(origin: Origin, tmp_path: Path) -> None:
    origin.will(silent)
    assert await Fetcher(origin, tmp_path, timeout=SHORT_TIMEOUT).unavailable() == "timed out"


async def test_an_origin_that_refuses_connections_is_reported(origin: Origin, tmp_path: Path) -> None:
    async with serving(Origin(b"")) as gone:
        fetcher = Fetcher(origin, tmp_path, url=gone.url)
    assert await fetcher.unavailable() == "cannot connect: Connection refused"


async def test_an_invalid_host_name_is_reported(origin: Origin, tmp_path: Path) -> None:
    fetcher = Fetcher(origin, tmp_path, url=f"http://{'x' * 70}.invalid/set.baked")
    assert await fetcher.unavailable()


async def test_an_origin_without_tls_is_reported(origin: Origin, tmp_path: Path) -> None:
    fetcher = Fetcher(origin, tmp_path, url=origin.url.replace("http:", "https:"))
    assert (await fetcher.unavailable()).startswith("cannot connect: ")


@pytest.mark.parametrize(
    "url",
    ["", "x", "/a/b", "file:///a", "ftp://x/y", "http://", "http:///a", "http://user:pass/word@host/", "http://[x"],
)
def test_a_url_that_is_not_http_or_https_is_rejected_without_quoting_it(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"^it is not an http or https URL$"):
        UrlSource(url, tmp_path)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://user:word@host:8080/a%20b/c?x=y#z", "http://host:8080/a%20b/c"),
        ("https://HOST", "https://HOST"),
        ("http://a@b@[::1]:9/", "http://[::1]:9/"),
    ],
)
def test_the_name_is_the_url_without_user_query_and_fragment(tmp_path: Path, url: str, name: str) -> None:
    assert UrlSource(url, tmp_path).name == name


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
        [blind_cut(50_000)] * 9,
        [unframed(HTML + b"hush-1")],
    ],
)
async def test_secrets_in_the_url_appear_in_no_message_log_or_cache(
    origin: Origin, tmp_path: Path, caplog: pytest.LogCaptureFixture, answers: list[Behaviour]
) -> None:
    caplog.set_level(logging.DEBUG)
    url = origin.url.replace("//", "//hush-2:hush-3@") + "?token=hush-1#hush-4"
    fetcher = Fetcher(origin, tmp_path, url=url)
    origin.will(*answers)
    messages = fetcher.source.name
    try:
        await fetcher.fetch()
    except (Rejected, Unavailable) as error:
        messages += "".join(traceback.format_exception(error))
    cached = [f"{path.name}: {path.read_bytes()!r}" for path in fetcher.cache.glob("*")]
    assert bool(cached) is not bool(answers)
    assert "hush" not in "\n".join([messages, caplog.text, *cached])
    assert origin.requests[0]["Authorization"].startswith("Basic ")


# Disk errors


@pytest.mark.parametrize("size", [0, 1000, 100_000])
async def test_a_full_disk_is_reported(fetcher: Fetcher, size: int) -> None:
    with small_disk(size):
        assert await fetcher.unavailable() == "File too large"
    assert len(fetcher.origin.requests) == 1


async def test_a_file_too_large_for_the_disk_is_reported_before_the_disk_is_full(fetcher: Fetcher) -> None:
    fetcher.origin.will(endless(header_of_length(1 << 60)))
    assert await fetcher.unavailable() == "No space left on device"
    assert fetcher.to.stat().st_size == 0


async def test_a_target_that_cannot_be_written_is_reported(fetcher: Fetcher) -> None:
    fetcher.to = fetcher.to.parent / "nowhere" / "file"
    assert await fetcher.unavailable() == "No such file or directory"


async def test_an_existing_target_is_replaced_and_not_written_into(fetcher: Fetcher, one: bytes) -> None:
    fetcher.to.write_bytes(b"previous")
    mapped = fetcher.to.with_name("mapped")
    mapped.hardlink_to(fetcher.to)
    await fetcher.source.fetch(fetcher.to, known="", check=fetcher.check, progress=fetcher.origin.progress)
    assert (fetcher.to.read_bytes(), mapped.read_bytes()) == (one, b"previous")


# Cancellation


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def wait_until_closed(before: int) -> None:
    async with asyncio.timeout(SECONDS):
        while open_files() > before:  # noqa: ASYNC110 - the origin closes its side a moment later
            await asyncio.sleep(0)


async def test_a_fetch_cancelled_at_any_moment_leaves_no_file_open(origin: Origin, tmp_path: Path) -> None:
    before = open_files()
    moment, finished = 0, False
    while not finished:
        origin.behaviours.clear()
        origin.steps.clear()
        origin.will(cut(100_000), cut(200_000))
        fetching = asyncio.create_task(Fetcher(origin, tmp_path).fetch('"none"'))
        for _ in range(moment):
            await asyncio.sleep(0)
        finished = not fetching.cancel()
        (end,) = await asyncio.gather(fetching, return_exceptions=True)
        assert isinstance(end, Fetched if finished else asyncio.CancelledError)
        await wait_until_closed(before)
        moment += 1 + moment // 20


async def test_an_exception_of_the_progress_ends_the_fetch(fetcher: Fetcher) -> None:
    class Enough(Exception):
        pass

    def enough(step: str, done: int, total: int) -> None:
        raise Enough(step, done, total)

    before = open_files()
    with pytest.raises(Enough):
        await fetcher.source.fetch(fetcher.to, known="", check=fetcher.check, progress=enough)
    await wait_until_closed(before)
