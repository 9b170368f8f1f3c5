"""Compressed files are read completely or refused, and decompressed within bounds."""

import gzip
import zlib
from contextlib import suppress
from pathlib import Path

import pytest

from service.reading.diagnostics import FileError
from service.reading.text import MAX_RATIO, MAX_SIZE, count_line_breaks, plain_text
from tests.loading.data_files import load_stores, packed, refusal

TEXT = b'{"a": "' + bytes(range(32, 34)) * 200 + b'"}\n'


def gzip_of_zeros(size: int) -> bytes:
    """Return zeros, compressed without holding them in memory."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(deflate.compress(bytes(2**20)) for _ in range(size // 2**20)) + deflate.flush()


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_compressed_text_is_decompressed(ending: str) -> None:
    assert plain_text(packed(TEXT, f".{ending}"), ending)[:] == TEXT
    assert plain_text(packed(TEXT, f".{ending}") * 2, ending)[:] == TEXT * 2
    assert plain_text(packed(b"", f".{ending}"), ending)[:] == b""


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_compressed_file_truncated_anywhere_is_refused(ending: str) -> None:
    stored = packed(TEXT, f".{ending}")
    for size in range(len(stored)):
        with pytest.raises(FileError):
            plain_text(stored[:size], ending)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_damaged_compressed_file_is_refused_or_complete(ending: str) -> None:
    stored = packed(TEXT, f".{ending}")
    for place in range(len(stored)):
        damaged = stored[:place] + bytes([stored[place] ^ 0x55]) + stored[place + 1 :]
        with suppress(FileError):
            plain_text(damaged, ending)
    with pytest.raises(FileError, match="damaged"):
        plain_text(stored + b"more", ending)
    with pytest.raises(FileError, match="damaged"):
        plain_text(TEXT, ending)


@pytest.mark.parametrize("name", ["stores.csv.gz", "stores.json.zst", "stores.jsonl.gz"])
def test_a_decompression_bomb_is_refused(tmp_path: Path, name: str) -> None:
    zeros = gzip_of_zeros(MAX_SIZE + 2**20) if name.endswith("gz") else packed(bytes(65 * 2**20), name)
    error = refusal(load_stores(tmp_path, zeros, name))

    assert error.file == name
    assert "64 MiB" in error.why


def test_a_small_file_may_have_any_compression_ratio() -> None:
    stored = gzip.compress(bytes(10 * 2**20))

    assert len(stored) * MAX_RATIO < 10 * 2**20
    assert len(plain_text(stored, "gz")) == 10 * 2**20


@pytest.mark.parametrize("ending", [None, "gz", "zst"])
def test_one_byte_order_mark_is_removed(ending: str | None) -> None:
    assert plain_text(packed(b"\xef\xbb\xbfx\xef\xbb\xbf", f".{ending}"), ending)[:] == b"x\xef\xbb\xbf"


@pytest.mark.parametrize("place", [0, 1, 2**20 - 2, 2**20 - 1, 2**20, 2**20 + 1, 2**21 + 5])
def test_the_error_for_a_byte_that_is_not_utf_8_has_its_line(place: int) -> None:
    lines = (b"\n" + "€".encode()) * 2**20
    for bad in (b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"):
        at = place // 4 * 4 + 1
        with pytest.raises(FileError) as refused:
            plain_text(lines[:at] + bad + lines[at:], None)
        assert refused.value.line == place // 4 + 2


@pytest.mark.parametrize("size", range(1, 4))
def test_a_truncated_character_at_the_end_is_refused(size: int) -> None:
    with pytest.raises(FileError, match="UTF-8"):
        plain_text(b"x" * (2**20 - 1) + "😀".encode()[:size], None)


def test_line_breaks_are_counted_in_every_style() -> None:
    text = b"a\nb\r\nc\rd\n\re\r\n\r\n"

    assert count_line_breaks(text, 0, len(text)) == 7
    assert count_line_breaks(text, 2, len(text) - 1) == 6
