"""Baked files that are compressed, in transit or by their names: unpacked within bounds, or refused."""

import asyncio
import gzip
import re
import sys
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, strategies as st

from service.background import silent
from service.baking.baked_file import load_baked
from service.dataset import Rejected
from service.files import CompressionError, Decompressor
from service.publishing.local_source import BakedFileSource
from service.publishing.source import Unavailable
from service.publishing.transport import HttpTransport
from tests.program import run_here
from tests.publishing.origin import Origin, fetch, labelled, serving, unframed
from tests.publishing.s3_server import BUCKET, S3Server
from tests.publishing.test_remote_source import header_of_length

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENCODE: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "zstd": zstd.compress,
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
}
EACH_CODING: Final = pytest.mark.parametrize("coding", ENCODE)
# A skippable frame; the beginning of a member whose name never ends.
NOTHING: Final = {
    "zstd": (b"\x50\x2a\x4d\x18" + (60_000).to_bytes(4, "little") + bytes(60_000)) * 35,
    "gzip": b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * (2 << 20),
}


@pytest.fixture
async def origin(one: bytes) -> AsyncIterator[Origin]:
    async with serving(Origin(one)) as serves:
        yield serves


async def fetched(origin: Origin, folder: Path, name: str = "set.baked") -> bytes:
    """Fetch from an origin; return what was written."""
    url = origin.url.replace("set.baked", name)
    assert await fetch(url, HttpTransport(url), folder) is not None
    return (folder / "to").read_bytes()


async def refused(origin: Origin, folder: Path, name: str = "set.baked") -> str:
    """Fetch from an origin; return why what it sends is rejected, or that it is unavailable."""
    with pytest.raises((Rejected, Unavailable)) as caught:
        await fetched(origin, folder, name)
    kind = "Rejected" if issubclass(caught.type, Rejected) else "Unavailable"
    return f"{kind}: {caught.value}".replace(f"{origin.url.replace('set.baked', name)}: ", "")


# Over HTTP


@EACH_CODING
async def test_a_file_with_a_content_coding_is_unpacked_and_one_that_is_cut_begins_again_without_a_range(
    origin: Origin, tmp_path: Path, one: bytes, coding: str
) -> None:
    sent = ENCODE[coding](one)
    assert len(sent) < 0.36 * len(one)
    origin.will(labelled(sent[: len(sent) // 2], coding, len(sent)), labelled(sent, coding))
    assert await fetched(origin, tmp_path) == one
    assert [("Range" in each, each["Accept-Encoding"]) for each in origin.requests] == [(False, "zstd, gzip")] * 2
    assert await fetched(origin, tmp_path) == one  # as it is


@EACH_CODING
@pytest.mark.parametrize("damage", ["truncated", "damaged"])
async def test_damage_in_transit_is_fetched_again_and_rejected_in_the_end(
    origin: Origin, tmp_path: Path, one: bytes, coding: str, damage: str
) -> None:
    sent = ENCODE[coding](one)
    bad = sent[:-3] if damage == "truncated" else sent[: len(sent) // 2] + bytes(9) + sent[len(sent) // 2 + 9 :]
    origin.will(labelled(bad, coding), labelled(sent, coding))
    assert await fetched(origin, tmp_path) == one
    origin.will(*[labelled(bad, coding)] * 3)
    why = await refused(origin, tmp_path)
    assert re.fullmatch(r"Rejected: the (compressed file|array \S+|header) is (truncated|damaged)(: .*)?", why)
    assert len(origin.requests) == 5


@EACH_CODING
async def test_a_bomb_is_refused_at_the_length_in_its_header(origin: Origin, tmp_path: Path, coding: str) -> None:
    bomb = header_of_length(100_000) + bytes(64 << 20)
    origin.will(labelled(ENCODE[coding](bomb), coding))
    assert await refused(origin, tmp_path) == "Rejected: the file has 101,024 bytes by its header, but more are sent"
    assert (tmp_path / "to").stat().st_size <= 101_024
    origin.will(labelled(ENCODE[coding](bytes(64 << 20)), coding))
    assert await refused(origin, tmp_path) == "Rejected: the file is not a baked data set"
    origin.will(labelled(ENCODE[coding](header_of_length(1 << 60)), coding))
    assert await refused(origin, tmp_path) == "Unavailable: No space left on device"
    assert (tmp_path / "to").stat().st_size == 0
    origin.will(*[labelled(ENCODE[coding](header_of_length(100_000)), coding)] * 3)
    assert "Rejected: the file is truncated" in await refused(origin, tmp_path)


@pytest.mark.parametrize("coding", NOTHING)
async def test_an_endless_body_of_nothing_is_refused(origin: Origin, tmp_path: Path, coding: str) -> None:
    origin.will(*[labelled(NOTHING[coding], coding, 1 << 40)] * 3)
    assert await refused(origin, tmp_path) == "Rejected: the compressed file is longer than what is in it"


async def test_a_window_of_more_than_128_mib_is_refused(origin: Origin, tmp_path: Path, one: bytes) -> None:
    for window, is_refused in ((27, False), (28, True)):
        encoder = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window})
        sent = encoder.compress(one) + encoder.flush()
        origin.will(*[labelled(sent, "zstd")] * 3)
        if is_refused:
            assert "Rejected: the compressed file is damaged: " in await refused(origin, tmp_path)
        else:
            assert await fetched(origin, tmp_path) == one
            origin.behaviours.clear()


async def test_a_coding_that_was_not_asked_for_is_an_error(origin: Origin, tmp_path: Path, one: bytes) -> None:
    for coding in ("br", "gzip, zstd", "deflate"):
        origin.will(labelled(one, coding))
        assert (
            await refused(origin, tmp_path) == "Unavailable: the response has a content coding that was not asked for"
        )


async def test_a_body_that_ends_with_the_connection_is_cut_off_if_it_is_truncated(
    origin: Origin, tmp_path: Path, one: bytes
) -> None:
    sent = zstd.compress(one)
    origin.will(*[unframed(sent[:-3])] * 3)
    assert await refused(origin, tmp_path, "set.baked.zst") == "Unavailable: the compressed file is truncated"
    origin.will(unframed(sent[:-3]), unframed(sent))
    assert await fetched(origin, tmp_path, "set.baked.zst") == one


@pytest.mark.parametrize("coding", ["", "zstd", "gzip"])
async def test_the_file_at_a_url_that_ends_in_zst_is_unpacked_however_it_is_labelled(
    origin: Origin, tmp_path: Path, one: bytes, coding: str
) -> None:
    sent = zstd.compress(one)
    origin.will(labelled(gzip.compress(sent) if coding == "gzip" else sent, coding or "identity"))
    assert await fetched(origin, tmp_path, "set.baked.zst?x=y") == one


@pytest.mark.process
def test_an_object_whose_name_ends_in_zst_is_unpacked(server: S3Server, tmp_path: Path, one: bytes) -> None:
    server.objects["set.baked.zst"] = zstd.compress(one)
    (tmp_path / "one.baked").write_bytes(one)
    ended = run_here("diff", f"s3://{BUCKET}/set.baked.zst", tmp_path / "one.baked")
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


# On disks


def local(file: Path, to: Path) -> None:
    source = BakedFileSource(file, to.parent / "verified")
    asyncio.run(source.fetch(to, known="", check=lambda _: None, progress=silent))


def test_a_file_whose_name_ends_in_zst_is_unpacked(tmp_path: Path, one: bytes) -> None:
    plain, packed = tmp_path / "set.baked", tmp_path / "set.baked.zst"
    plain.write_bytes(one)
    packed.write_bytes(zstd.compress(one))
    for _ in range(2):  # it is verified, or listed as verified
        local(packed, tmp_path / "to")
        assert (tmp_path / "to").read_bytes() == one
    for file in (plain, packed):
        assert run_here("export", file, file.with_suffix(".csv")).returncode == 0
    assert (tmp_path / "set.csv").read_bytes() == (tmp_path / "set.baked.csv").read_bytes()
    assert run_here("verify", packed).stdout == run_here("verify", plain).stdout.replace("set.baked", "set.baked.zst")
    assert run_here("diff", plain, packed).returncode == 0
    refusal = run_here("serve", "--data", packed, "--no-copy", "--no-auth")
    assert (refusal.returncode, "--no-copy is for a baked file on this machine" in refusal.stderr) == (2, True)


def test_a_bad_file_whose_name_ends_in_zst_is_refused(tmp_path: Path, one: bytes) -> None:
    packed, good = tmp_path / "set.baked.zst", zstd.compress(one)
    for stored, why in (
        (good[:-3], "the compressed file is truncated; compress it again"),
        (one, "the compressed file is damaged: .*; compress it again"),
        (b"", "the compressed file is truncated; compress it again"),
        (zstd.compress(b""), "the file is not a baked data set"),
        (zstd.compress(one + b"more"), f"the file has {len(one):,} bytes by its header, but more are sent"),
        (zstd.compress(one[:-5]), "the file is truncated"),
    ):
        packed.write_bytes(stored)
        for read in (lambda: local(packed, tmp_path / "to"), lambda: load_baked(packed)):
            with pytest.raises(Rejected, match=f"^{re.escape(str(packed))}: {why}"):
                read()
    packed.write_bytes(zstd.compress(header_of_length(1 << 60)))
    with pytest.raises(Unavailable, match="No space left on device"):
        local(packed, tmp_path / "to")


# The decompressor


@given(
    frames=st.lists(st.binary(max_size=60) | st.integers(0, 1 << 20).map(bytes), min_size=1, max_size=4),
    size=st.integers(1, 5000),
    compression=st.sampled_from(["gz", "zst"]),
)
def test_any_pieces_of_any_frames_give_the_content_in_bounded_parts(
    frames: list[bytes], size: int, compression: str
) -> None:
    stored = b"".join(map(gzip.compress if compression == "gz" else zstd.compress, frames))
    decompressor = Decompressor(compression)
    pieces = (stored[at : at + size] for at in range(0, len(stored), size))
    parts = list(chain.from_iterable(map(decompressor.parts, pieces)))
    decompressor.end()
    assert b"".join(parts) == b"".join(frames)
    assert max(map(len, parts), default=0) <= 1 << 18


@pytest.mark.parametrize("compression", ["gz", "zst"])
def test_what_is_unpacked_at_once_is_bounded_however_small_the_piece(compression: str) -> None:
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(16 << 20)
    stored = deflate.compress(zeros) + deflate.flush() if compression == "gz" else zstd.compress(zeros)
    parts = Decompressor(compression).parts(stored)
    assert len(next(parts)) == 1 << 18
    assert sum(map(len, parts)) == (16 << 20) - (1 << 18)
    with pytest.raises(CompressionError, match="truncated"):
        Decompressor(compression).end()
