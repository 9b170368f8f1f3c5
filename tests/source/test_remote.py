"""A remote source: what an origin holds is taken whole and checked, or not at all."""

import asyncio
import logging
import traceback
import unicodedata
from pathlib import Path

import msgspec
import pytest
from aiohttp import ClientTimeout

from service.baking.baked import bake
from service.source.remote import RemoteSource
from service.source.source import Rejected, Source, Taken, Unavailable
from tests.baking.made_up import loaded, small_file
from tests.directory import store, write_directory
from tests.program import SECONDS
from tests.sampling.test_sample import small_disk
from tests.source.origin import (
    LAST_MODIFIED,
    Exchange,
    Origin,
    Trick,
    blind_cut,
    chunked,
    claiming,
    closing,
    cut,
    endless,
    forgetful,
    part,
    raw,
    serving,
    silent,
    stall,
    status,
    unmarked,
)
from tests.source.taking import IMPATIENT, Taker

HTML = b"<!DOCTYPE html><title>Log in</title>"


@pytest.fixture
def taker(origin: Origin, tmp_path: Path) -> Taker:
    return Taker(origin, tmp_path)


def header_promising(length: int) -> bytes:
    """Return the header of a baked file that says how long it is in all."""
    entry = {"dtype": "U8", "shape": [length], "data_offsets": [0, length]}
    text = msgspec.json.encode({"__metadata__": {}, "header_crc32": entry}).ljust(1016)
    return len(text).to_bytes(8, "little") + text


async def test_what_the_origin_holds_is_taken_byte_for_byte(taker: Taker, one: bytes) -> None:
    source: Source = taker.source
    assert source.watched == ()
    assert await taker.taken() == ('"one"', one)
    assert taker.to.stat().st_mode & 0o777 == 0o600


async def test_the_request_says_who_asks_and_wants_the_bytes_as_they_are(taker: Taker) -> None:
    await taker.take()
    (asked,) = taker.origin.asked
    assert asked[""] == "GET /set.baked HTTP/1.1"
    assert asked["User-Agent"].startswith("store-directory/")
    assert asked["Accept-Encoding"] == "identity"


async def test_the_progress_ends_with_all_of_the_file(taker: Taker, one: bytes) -> None:
    await taker.take()
    assert taker.origin.steps[-1] == (f"Fetching {taker.origin.url}", len(one), len(one))
    assert [done for _, done, _ in taker.origin.steps] == sorted({done for _, done, _ in taker.origin.steps})


@pytest.mark.parametrize("send", [chunked, unmarked], ids=["chunked", "unmarked"])
async def test_a_file_whose_length_the_origin_does_not_tell_is_taken(taker: Taker, one: bytes, send: type) -> None:
    taker.origin.will(send(one))
    assert await taker.taken() == ('"one"', one)


@pytest.mark.parametrize("tag", ['"one"', 'W/"one"', '""'])
@pytest.mark.parametrize("behaves", [None, forgetful], ids=["304", "200"])
async def test_a_file_that_is_as_it_was_seen_is_not_taken_again(
    taker: Taker, tag: str, behaves: Trick | None, one: bytes
) -> None:
    taker.origin.hold(one, tag)
    assert (await taker.taken())[0] == tag
    taker.origin.will(*([behaves] if behaves else []))
    assert await taker.take(tag) is None
    assert taker.origin.asked[-1]["If-None-Match"] == tag
    assert not taker.to.exists()


@pytest.mark.parametrize("behaves", [None, forgetful], ids=["304", "200"])
async def test_without_an_entity_tag_the_time_of_the_last_change_tells(taker: Taker, behaves: Trick | None) -> None:
    taker.origin.tag, taker.origin.modified = None, LAST_MODIFIED
    seen, _ = await taker.taken()
    assert seen == f"last-modified: {LAST_MODIFIED}"
    taker.origin.will(*([behaves] if behaves else []))
    assert await taker.take(seen) is None
    assert taker.origin.asked[-1]["If-Modified-Since"] == LAST_MODIFIED


@pytest.mark.parametrize("tag", [None, "bare", '"é"'])
async def test_without_validators_the_bytes_tell(taker: Taker, tag: str | None, one: bytes, other: bytes) -> None:
    taker.origin.hold(one, tag)
    seen, _ = await taker.taken()
    assert seen.startswith("sha256:")
    assert await taker.take(seen) is None
    assert not taker.to.exists()
    taker.origin.hold(other, tag)
    assert (await taker.taken(seen))[1] == other


async def test_a_changed_file_is_taken(taker: Taker, other: bytes) -> None:
    seen, _ = await taker.taken()
    taker.origin.hold(other, '"two"')
    assert await taker.taken(seen) == ('"two"', other)


@pytest.mark.parametrize("seen", ["crc32:0", '"a"\r\nX: y', "last-modified: \r\nX: y", "last-modified: ", 'W/"'])
async def test_a_fingerprint_of_another_source_is_no_condition(taker: Taker, one: bytes, seen: str) -> None:
    assert await taker.taken(seen) == ('"one"', one)
    assert not [name for name in taker.origin.asked[-1] if name.startswith(("If-", "X"))]


async def test_a_redirect_is_followed(taker: Taker, one: bytes) -> None:
    taker.origin.will(status("302 Found", Location="/elsewhere"))
    assert await taker.taken() == ('"one"', one)
    assert taker.origin.asked[-1][""] == "GET /elsewhere HTTP/1.1"


# Cuts


@pytest.mark.parametrize("pieces", [1, 2, 5])
async def test_a_cut_download_is_resumed_and_each_byte_is_sent_once(taker: Taker, one: bytes, pieces: int) -> None:
    taker.origin.will(*(cut(len(one) * (piece + 1) // (pieces + 1)) for piece in range(pieces)))
    assert await taker.taken() == ('"one"', one)
    assert len(taker.origin.sent) == pieces + 1
    assert [stop for _, stop in taker.origin.sent[:-1]] == [start for start, _ in taker.origin.sent[1:]]
    assert {asked.get("If-Range") for asked in taker.origin.asked[1:]} == {'"one"'}


async def test_a_download_is_resumed_as_often_as_that_gains_something(taker: Taker, one: bytes) -> None:
    taker.origin.will(*(cut(len(one) // 2 + gained) for gained in range(20)))
    assert await taker.taken() == ('"one"', one)


@pytest.mark.parametrize("patience", [IMPATIENT, ClientTimeout(total=1)], ids=["silence", "in all"])
async def test_what_a_slow_link_has_brought_is_kept_when_time_is_up(
    origin: Origin, tmp_path: Path, one: bytes, patience: ClientTimeout
) -> None:
    taker = Taker(origin, tmp_path, timeout=patience)
    origin.will(stall(100_000), stall(200_000))
    assert await taker.taken() == ('"one"', one)
    assert origin.sent == [(0, 100_000), (100_000, 200_000), (200_000, len(one))]


async def test_a_file_that_changes_between_cut_and_resumption_is_taken_whole_and_new(
    taker: Taker, one: bytes, other: bytes
) -> None:
    async def cut_and_change(exchange: Exchange) -> None:
        await cut(len(one) // 2)(exchange)
        exchange.origin.hold(other, '"two"')

    taker.origin.will(cut_and_change)
    assert await taker.taken() == ('"two"', other)


@pytest.mark.parametrize("tag", ['W/"one"', None])
async def test_without_a_strong_entity_tag_a_cut_download_begins_anew(
    taker: Taker, one: bytes, tag: str | None
) -> None:
    taker.origin.hold(one, tag)
    taker.origin.will(cut(100_000))
    assert (await taker.taken())[1] == one
    assert "Range" not in taker.origin.asked[-1]


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
async def test_what_is_not_the_rest_is_not_put_behind_the_beginning(taker: Taker, one: bytes, answer: Trick) -> None:
    taker.origin.will(cut(100_000), answer)
    assert await taker.taken('"none"') == ('"one"', one)


@pytest.mark.parametrize("first", [0, 99_999, 100_001])
async def test_a_part_that_begins_elsewhere_is_not_put_behind_the_beginning(
    taker: Taker, one: bytes, first: int
) -> None:
    taker.origin.will(cut(100_000), part(f"bytes {first}-{len(one) - 1}/{len(one)}"))
    assert await taker.taken() == ('"one"', one)


async def test_of_a_longer_file_that_was_begun_before_nothing_is_left(taker: Taker, tmp_path: Path) -> None:
    small = small_file(tmp_path / "small").read_bytes()

    async def cut_and_change(exchange: Exchange) -> None:
        await cut(100_000)(exchange)
        exchange.origin.hold(small, '"small"')

    taker.origin.will(cut_and_change)
    assert await taker.taken() == ('"small"', small)
    assert len(small) < 100_000


async def test_a_gain_gives_an_origin_as_many_attempts_again(taker: Taker, one: bytes) -> None:
    down = [status("503 Service Unavailable")] * 3
    taker.origin.will(cut(100_000), *down, cut(200_000), *down)
    assert await taker.taken() == ('"one"', one)


async def test_a_part_of_another_file_is_not_put_behind_the_beginning(taker: Taker, one: bytes, other: bytes) -> None:
    async def of_another(exchange: Exchange) -> None:
        exchange.origin.hold(other, '"two"')
        await part(f"bytes 100000-{len(one) - 1}/{len(one)}")(exchange)

    taker.origin.will(cut(100_000), of_another)
    assert await taker.taken() == ('"two"', other)


async def test_a_part_that_is_shorter_than_asked_for_is_a_gain(taker: Taker, one: bytes) -> None:
    async def shorter(exchange: Exchange) -> None:
        exchange.head("206 Partial Content", Content_Range=f"bytes 100000-199999/{len(one)}", Content_Length=100_000)
        await exchange.send_file(100_000, 200_000)

    taker.origin.will(cut(100_000), shorter)
    assert await taker.taken() == ('"one"', one)
    assert taker.origin.sent == [(0, 100_000), (100_000, 200_000), (200_000, len(one))]


@pytest.mark.parametrize("tag", ['"one"', None])
async def test_an_origin_that_always_cuts_at_the_same_place_is_left_after_a_few_attempts(
    taker: Taker, one: bytes, tag: str | None
) -> None:
    taker.origin.hold(one, tag)
    taker.origin.will(*[cut(100_000)] * 20)
    assert await taker.unavailable() == "the answer was cut off"
    assert len(taker.origin.asked) == (5 if tag else 4)


async def test_an_origin_that_gives_a_byte_at_a_time_comes_to_an_end(taker: Taker, one: bytes) -> None:
    taker.origin.will(*(cut(100_000 + gained) for gained in range(200)))
    assert await taker.unavailable() == "the answer was cut off"
    assert len(taker.origin.asked) == 100
    assert len(one) > 100_200


async def test_between_attempts_that_gain_nothing_there_are_the_pauses(origin: Origin, tmp_path: Path) -> None:
    origin.will(*[cut(100_000)] * 3)
    taker = Taker(origin, tmp_path, pauses=(0, 600))
    taking = asyncio.create_task(taker.take())
    async with asyncio.timeout(SECONDS):
        while len(origin.asked) < 3:  # noqa: ASYNC110 - the origin tells nobody
            await asyncio.sleep(0.01)
    assert await asyncio.wait([taking], timeout=0.2) == (set(), {taking})
    assert len(origin.asked) == 3
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking


# Lies and damage


async def test_what_a_log_in_page_says_is_refused_at_its_first_bytes(taker: Taker) -> None:
    taker.origin.will(endless(HTML))
    assert await taker.rejected() == ("the file is no baked data set", '"one"')


@pytest.mark.parametrize("content", [b"", b"no", HTML, (64).to_bytes(8, "little") + b"[" * 64])
@pytest.mark.parametrize("send", [chunked, unmarked], ids=["chunked", "unmarked"])
async def test_what_is_no_baked_file_is_refused(taker: Taker, content: bytes, send: type) -> None:
    taker.origin.will(send(content), send(content))
    why, fingerprint = await taker.rejected()
    assert "the file is no baked data set" in why
    assert fingerprint == '"one"'


async def test_an_endless_body_is_ended_where_the_file_ends(taker: Taker, one: bytes) -> None:
    taker.origin.will(endless(one))
    why, _ = await taker.rejected()
    assert why.startswith(f"the file has {len(one):,} bytes by its header, more by the origin")
    assert taker.to.stat().st_size <= len(one)


@pytest.mark.parametrize("lie", [-100_000, -1, 1, 100_000])
async def test_a_lie_about_the_length_is_never_served(taker: Taker, one: bytes, lie: int) -> None:
    taker.origin.will(claiming(len(one) + lie))
    length = len(one) + lie
    told = f"the file has {len(one):,} bytes by its header, {length:,} bytes by the origin"
    assert await taker.rejected() == (told, '"one"')


@pytest.mark.parametrize("length", [0, 7, 8, 100])
async def test_a_file_that_is_shorter_than_its_header_is_refused(taker: Taker, one: bytes, length: int) -> None:
    taker.origin.hold(one[:length], '"one"')
    why, _ = await taker.rejected()
    assert "the file is no baked data set" in why


async def test_a_file_cut_on_the_way_is_refused_where_its_end_is_marked_and_asked_for_again_where_it_is_not(
    taker: Taker, one: bytes
) -> None:
    taker.origin.will(chunked(one[:-5]), chunked(one[:-5]))
    assert await taker.rejected() == ("the file is cut short", '"one"')
    taker.origin.will(unmarked(one[:100_000]))
    assert await taker.taken() == ('"one"', one)
    assert taker.origin.sent == [(100_000, len(one))]


async def test_a_file_that_was_damaged_on_the_way_is_fetched_again(taker: Taker, one: bytes) -> None:
    taker.origin.will(chunked(one[:200_000] + b"\xff" + one[200_001:]))
    assert await taker.taken() == ('"one"', one)


async def test_a_damaged_file_is_refused_and_not_looked_at_until_it_changes(
    taker: Taker, one: bytes, other: bytes
) -> None:
    taker.origin.hold(one[:200_000] + b"\xff" + one[200_001:], '"bad"')
    why, fingerprint = await taker.rejected()
    assert (why.endswith(" is damaged"), fingerprint) == (True, '"bad"')
    assert await taker.take(fingerprint) is None
    taker.origin.hold(other, '"two"')
    assert await taker.taken(fingerprint) == ('"two"', other)


@pytest.fixture
def foreign(tmp_path: Path) -> bytes:
    """Return a file of a Python that does not know a character which this one knows."""
    data = write_directory(tmp_path / "foreign", [store("s1", name="\U0001f600")])
    bake(*loaded(data), tmp_path / "foreign.baked", tables=unicodedata.ucd_3_2_0)
    return (tmp_path / "foreign.baked").read_bytes()


async def test_a_file_of_a_python_with_other_characters_is_refused_with_what_to_do(
    taker: Taker, foreign: bytes
) -> None:
    taker.origin.hold(foreign, '"foreign"')
    why, _ = await taker.rejected()
    assert why.startswith("it has the character U+1F600, which Python 3.")
    assert "did not; bake it again with Python 3." in why


async def test_a_refused_file_without_validators_is_told_once(taker: Taker, one: bytes) -> None:
    for content in (one[:200_000] + b"\xff" + one[200_001:], HTML):
        taker.origin.hold(content, None)
        _, fingerprint = await taker.rejected()
        assert await taker.take(fingerprint) is None


# Origins that cannot be had


@pytest.mark.parametrize(
    "told", ["404 Not Found", "500 Internal Server Error", "503 Service Unavailable", "204 No Content"]
)
async def test_another_status_is_told(taker: Taker, told: str) -> None:
    taker.origin.will(status(told))
    assert await taker.unavailable() == told
    assert len(taker.origin.asked) == 1


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (closing, "the connection was closed without an answer"),
        (status("304 Not Modified"), "304 Not Modified"),
        (status("302 Found"), "302 Found"),
        (status("799 Whatever"), "799"),
        (part("bytes 0-9/10"), "206 Partial Content"),
        (raw(b"SSH-2.0-OpenSSH\r\n\r\n"), "the answer is no valid HTTP"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"), "the answer is no valid HTTP"),
        (status("302 Found", Location="ftp://x/y"), "it redirects to what is no http or https address"),
        (status("302 Found", Location="http://[/"), "it redirects to what is no http or https address"),
    ],
)
async def test_an_answer_that_is_none_is_told(taker: Taker, answer: Trick, told: str) -> None:
    taker.origin.will(*[answer] * 4)
    assert await taker.unavailable() == told


async def test_a_circle_of_redirects_is_told(taker: Taker) -> None:
    taker.origin.will(*[status("302 Found", Location="/set.baked")] * 50)
    assert await taker.unavailable() == "it redirects too often"


async def test_an_origin_that_says_nothing_is_told(origin: Origin, tmp_path: Path) -> None:
    origin.will(silent)
    assert await Taker(origin, tmp_path, timeout=IMPATIENT).unavailable() == "timed out"


async def test_an_origin_that_nobody_listens_for_is_told(origin: Origin, tmp_path: Path) -> None:
    async with serving(Origin(b"")) as gone:
        taker = Taker(origin, tmp_path, url=gone.url)
    assert await taker.unavailable() == "cannot connect: Connection refused"


async def test_a_host_whose_name_cannot_be_is_told(origin: Origin, tmp_path: Path) -> None:
    taker = Taker(origin, tmp_path, url=f"http://{'x' * 70}.invalid/set.baked")
    assert await taker.unavailable()


async def test_an_origin_without_tls_is_told(origin: Origin, tmp_path: Path) -> None:
    taker = Taker(origin, tmp_path, url=origin.url.replace("http:", "https:"))
    assert (await taker.unavailable()).startswith("cannot connect: ")


@pytest.mark.parametrize(
    "url",
    ["", "x", "/a/b", "file:///a", "ftp://x/y", "http://", "http:///a", "http://user:pass/word@host/", "http://[x"],
)
def test_an_address_that_is_neither_http_nor_https_is_refused_and_not_quoted(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"^it is no http or https address$"):
        RemoteSource(url, tmp_path)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://user:word@host:8080/a%20b/c?x=y#z", "http://host:8080/a%20b/c"),
        ("https://HOST", "https://HOST"),
        ("http://a@b@[::1]:9/", "http://[::1]:9/"),
    ],
)
def test_the_name_is_the_address_without_user_query_and_fragment(tmp_path: Path, url: str, name: str) -> None:
    assert RemoteSource(url, tmp_path).name == name


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
        [unmarked(HTML + b"hush-1")],
    ],
)
async def test_secrets_in_the_address_stand_in_no_message_log_or_cache(
    origin: Origin, tmp_path: Path, caplog: pytest.LogCaptureFixture, answers: list[Trick]
) -> None:
    caplog.set_level(logging.DEBUG)
    url = origin.url.replace("//", "//hush-2:hush-3@") + "?token=hush-1#hush-4"
    taker = Taker(origin, tmp_path, url=url)
    origin.will(*answers)
    told = taker.source.name
    try:
        await taker.take()
    except (Rejected, Unavailable) as error:
        told += "".join(traceback.format_exception(error))
    kept = [f"{path.name}: {path.read_bytes()!r}" for path in taker.cache.glob("*")]
    assert bool(kept) is not bool(answers)
    assert "hush" not in "\n".join([told, caplog.text, *kept])
    assert origin.asked[0]["Authorization"].startswith("Basic ")


# Disks


@pytest.mark.parametrize("size", [0, 1000, 100_000])
async def test_a_full_disk_is_told(taker: Taker, size: int) -> None:
    with small_disk(size):
        assert await taker.unavailable() == "File too large"
    assert len(taker.origin.asked) == 1


async def test_a_file_for_which_there_is_no_room_is_told_before_the_disk_is_full(taker: Taker) -> None:
    taker.origin.will(endless(header_promising(1 << 60)))
    assert await taker.unavailable() == "No space left on device"
    assert taker.to.stat().st_size == 0


async def test_a_place_that_cannot_be_written_is_told(taker: Taker) -> None:
    taker.to = taker.to.parent / "nowhere" / "file"
    assert await taker.unavailable() == "No such file or directory"


async def test_what_stood_at_the_place_before_is_replaced_and_not_written_into(taker: Taker, one: bytes) -> None:
    taker.to.write_bytes(b"what was there")
    mapped = taker.to.with_name("mapped")
    mapped.hardlink_to(taker.to)
    await taker.source.take(taker.to, seen="", check=taker.check, progress=taker.origin.progress)
    assert (taker.to.read_bytes(), mapped.read_bytes()) == (one, b"what was there")


# Cancellation


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def left_alone(before: int) -> None:
    async with asyncio.timeout(SECONDS):
        while open_files() > before:  # noqa: ASYNC110 - no event tells of the origin's side, a moment later
            await asyncio.sleep(0)


async def test_cancelled_at_any_moment_it_leaves_nothing_open(origin: Origin, tmp_path: Path) -> None:
    before = open_files()
    moment, finished = 0, False
    while not finished:
        origin.tricks.clear()
        origin.steps.clear()
        origin.will(cut(100_000), cut(200_000))
        taking = asyncio.create_task(Taker(origin, tmp_path).take('"none"'))
        for _ in range(moment):
            await asyncio.sleep(0)
        finished = not taking.cancel()
        (end,) = await asyncio.gather(taking, return_exceptions=True)
        assert isinstance(end, Taken if finished else asyncio.CancelledError)
        await left_alone(before)
        moment += 1 + moment // 20


async def test_progress_may_end_the_work(taker: Taker) -> None:
    class Enough(Exception):
        pass

    def enough(step: str, done: int, total: int) -> None:
        raise Enough(step, done, total)

    before = open_files()
    with pytest.raises(Enough):
        await taker.source.take(taker.to, seen="", check=taker.check, progress=enough)
    await left_alone(before)
