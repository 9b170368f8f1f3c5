"""A remote file as a source: fetched completely and verified, or not at all."""

import asyncio
from itertools import product
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from service.background import silent
from service.dataset import Rejected
from service.publishing.remote_source import RemoteBakedFile
from service.publishing.transport import RemoteFile, receive_whole
from tests.baking.random_datasets import small_file
from tests.program import SECONDS
from tests.publishing import fake_transport as fake
from tests.publishing.fake_transport import FakeTransport
from tests.publishing.fetching import URL, Fetcher
from tests.sampling.test_sample import small_disk

HTML = b"<!DOCTYPE html><title>Log in</title>"


@pytest.fixture
def fetcher(remote: FakeTransport, tmp_path: Path) -> Fetcher:
    return Fetcher(remote, tmp_path)


def header_of_length(length: int) -> bytes:
    """Return the header of a baked file with this total length."""
    entry = {"dtype": "U8", "shape": [length], "data_offsets": [0, length]}
    text = msgspec.json.encode({"__metadata__": {}, "header_crc32": entry}).ljust(1016)
    return len(text).to_bytes(8, "little") + text


async def test_the_file_is_fetched_byte_for_byte_with_its_progress_and_not_again_while_it_is_unchanged(
    fetcher: Fetcher, one: bytes
) -> None:
    assert fetcher.source.look() == ""
    assert await fetcher.fetched() == ('"one"', one)
    assert fetcher.to.stat().st_mode & 0o777 == 0o600
    assert fetcher.steps[-1] == (f"Fetching {URL}", len(one), len(one))
    assert [done for _, done, _ in fetcher.steps] == sorted({done for _, done, _ in fetcher.steps})
    assert await fetcher.fetch('"one"') is None
    assert fetcher.remote.asked == ["", '"one"']
    assert not fetcher.to.exists()


async def test_without_validators_the_digest_is_the_fingerprint(fetcher: Fetcher, one: bytes, other: bytes) -> None:
    fetcher.remote.hold(one, "")
    known, _ = await fetcher.fetched()
    assert known.startswith("sha256:")
    assert await fetcher.fetch(known) is None
    assert not fetcher.to.exists()
    fetcher.remote.hold(other, "")
    assert (await fetcher.fetched(known))[1] == other


# Broken connections


@pytest.mark.parametrize("tag", ['"one"', ""])
async def test_a_download_that_breaks_off_starts_again_and_fails_after_three_attempts(
    fetcher: Fetcher, one: bytes, tag: str
) -> None:
    fetcher.remote.hold(one, tag)
    fetcher.remote.will(fake.cut(100_000), fake.cut(200_000), fake.honest, *[fake.cut(100_000)] * 20)
    assert (await fetcher.fetched())[1] == one
    assert await fetcher.unavailable() == "the response was cut off"
    assert len(fetcher.remote.asked) == 6


async def test_nothing_remains_of_a_longer_file_that_was_received_before(fetcher: Fetcher, tmp_path: Path) -> None:
    small = small_file(tmp_path / "small").read_bytes()
    assert len(small) < 100_000

    def change(transport: FakeTransport, known: str) -> RemoteFile | None:
        transport.hold(small, '"small"')
        return fake.honest(transport, known)

    fetcher.remote.will(fake.cut(100_000), change)
    assert await fetcher.fetched() == ('"small"', small)


async def test_attempts_are_delayed(remote: FakeTransport, tmp_path: Path) -> None:
    remote.will(*[fake.cut(100_000)] * 2)
    fetching = asyncio.create_task(Fetcher(remote, tmp_path, pauses=(0, 600)).fetch())
    async with asyncio.timeout(SECONDS):
        while len(remote.asked) < 2:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
    assert await asyncio.wait([fetching], timeout=0.2) == (set(), {fetching})
    assert len(remote.asked) == 2
    fetching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await fetching


# Invalid and damaged files


async def test_a_body_that_is_not_a_baked_file_is_rejected(fetcher: Fetcher) -> None:
    bodies = product((fake.chunked, fake.unframed), (b"", b"no", HTML, (64).to_bytes(8, "little") + b"[" * 64))
    for answer in (*(send(content) for send, content in bodies), fake.endless(HTML)):
        fetcher.remote.responses.clear()
        fetcher.remote.will(*[answer] * 3)
        why, fingerprint = await fetcher.rejected()
        assert (why.startswith("the file is not a baked data set"), fingerprint) == (True, '"one"')


async def test_a_body_of_another_length_than_that_of_the_file_is_rejected(fetcher: Fetcher, one: bytes) -> None:
    for difference in (-100_000, -1, 1, 100_000, None):
        length = len(one) + (difference or 0)
        fetcher.remote.will(fake.endless(one) if difference is None else fake.claiming(length))
        sent = "more are sent" if difference is None else f"{length:,} bytes are sent"
        assert await fetcher.rejected() == (f"the file has {len(one):,} bytes by its header, but {sent}", '"one"')
        assert fetcher.to.stat().st_size <= len(one)


async def test_a_truncated_body_is_rejected_if_it_is_framed_and_fetched_again_if_it_is_not(
    fetcher: Fetcher, one: bytes
) -> None:
    fetcher.remote.will(*[fake.chunked(one[:-5])] * 3)
    assert await fetcher.rejected() == ("the file is truncated", '"one"')
    fetcher.remote.will(fake.unframed(one[:100_000]))
    assert await fetcher.fetched() == ('"one"', one)


@pytest.mark.parametrize(
    ("path", "named"), [("/export?format=csv", "export"), ("/", "stores.csv"), ("/a/s%20t.csv", "s%20t.csv")]
)
async def test_a_url_of_another_file_is_rejected_with_the_command_that_bakes_it(
    remote: FakeTransport, tmp_path: Path, path: str, named: str
) -> None:
    remote.hold(b"store_id,name\n1,One\n", '"csv"')
    with pytest.raises(Rejected) as caught:
        await Fetcher(remote, tmp_path, url=f"https://user:word@origin.example{path}").fetch()
    baked = f"{named.partition('.')[0]}.baked"
    assert f"bake the data first, `store-directory bake {named} {baked}`" in caught.value.rejection.hint
    assert "word" not in caught.value.rejection.hint


async def test_a_file_damaged_in_transit_is_fetched_again(fetcher: Fetcher, one: bytes) -> None:
    fetcher.remote.will(fake.chunked(one[:200_000] + b"\xff" + one[200_001:]))
    assert await fetcher.fetched() == ('"one"', one)


@pytest.mark.parametrize("tag", ['"bad"', ""])
async def test_a_damaged_file_is_rejected_and_not_fetched_again_until_it_changes(
    fetcher: Fetcher, one: bytes, other: bytes, tag: str
) -> None:
    for content, why in ((one[:200_000] + b"\xff" + one[200_001:], " is damaged"), (HTML, "is not a baked data set")):
        fetcher.remote.hold(content, tag)
        rejected, fingerprint = await fetcher.rejected()
        assert (rejected.endswith(why), fingerprint if tag else "") == (True, tag)
        assert await fetcher.fetch(fingerprint) is None
        fetcher.remote.hold(other, '"two"')
        assert await fetcher.fetched(fingerprint) == ('"two"', other)


# Unavailable origins


@pytest.mark.parametrize(
    "url",
    ["", "x", "/a/b", "file:///a", "ftp://x/y", "http://", "http:///a", "http://user:pass/word@host/", "http://[x"],
)
def test_a_url_that_is_not_http_or_https_is_rejected_without_quoting_it(
    remote: FakeTransport, tmp_path: Path, url: str
) -> None:
    with pytest.raises(ValueError, match=r"^it is not an http or https URL$"):
        RemoteBakedFile(url, tmp_path, remote)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://user:word@host:8080/a%20b/c?x=y#z", "http://host:8080/a%20b/c"),
        ("https://HOST", "https://HOST"),
        ("http://a@b@[::1]:9/", "http://[::1]:9/"),
    ],
)
def test_the_name_is_the_url_without_user_query_and_fragment(
    remote: FakeTransport, tmp_path: Path, url: str, name: str
) -> None:
    assert RemoteBakedFile(url, tmp_path, remote).name == name


# Disk errors


@pytest.mark.parametrize("size", [0, 1000, 100_000])
async def test_a_full_disk_is_reported_at_once_and_before_it_is_full_where_the_length_shows_it(
    fetcher: Fetcher, size: int
) -> None:
    with small_disk(size):
        assert await fetcher.unavailable() == "File too large"
    assert len(fetcher.remote.asked) == 1
    fetcher.remote.will(fake.endless(header_of_length(1 << 60)))
    assert await fetcher.unavailable() == "No space left on device"
    assert fetcher.to.stat().st_size == 0


async def test_an_existing_target_is_replaced_and_not_written_into(fetcher: Fetcher, one: bytes) -> None:
    fetcher.to.write_bytes(b"previous")
    mapped = fetcher.to.with_name("mapped")
    mapped.hardlink_to(fetcher.to)
    await fetcher.source.fetch(fetcher.to, known="", check=fetcher.check, progress=silent)
    assert (fetcher.to.read_bytes(), mapped.read_bytes()) == (one, b"previous")


class Piece(bytes):
    """A piece of a body that counts the bytes that are copied to append it to other bytes."""

    copied: ClassVar = 0

    def __radd__(self, received: bytes) -> bytes:
        """Return both in new bytes."""
        Piece.copied += len(received) + len(self)
        return bytes(received).__add__(self)


async def test_what_was_received_is_not_copied_for_each_piece() -> None:
    pieces = [Piece(b"x" * 64)] * 1000

    async def read() -> bytes:
        return pieces.pop() if pieces else b""

    received = await receive_whole(RemoteFile("", None, is_framed=True, read=read), 64_000)
    assert received == b"x" * 64_000
    assert Piece.copied <= 2 * len(received)


async def test_an_exception_of_the_progress_ends_the_fetch(fetcher: Fetcher) -> None:
    class Enough(Exception):
        pass

    def enough(step: str, done: int, total: int) -> None:
        raise Enough(step, done, total)

    with pytest.raises(Enough):
        await fetcher.source.fetch(fetcher.to, known="", check=fetcher.check, progress=enough)
