"""Texts are decompressed within bounds and decoded, as declared or by their mark, or refused with what to do."""

import gzip
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.reading.diagnostics import Diagnostic, FileError
from service.reading.encodings import parse_encoding
from service.reading.text import MAX_RATIO, MAX_SIZE, assumed_encoding, count_line_breaks, plain_text
from tests.loading.data_files import REQUIRED, load_stores, packed, refusal

TEXT = "name\nÉlan, 1 Rue €\n"


@pytest.mark.parametrize(
    "encoding", ["windows-1252", "CP1252", "macroman", "cp858", "utf-8", "UTF-16LE", "utf-32", "gb18030"]
)
@pytest.mark.parametrize("compression", [None, "gz", "zst"])
def test_a_declared_encoding_is_decoded(encoding: str, compression: str | None) -> None:
    stored = packed(TEXT.encode(encoding), f".{compression}")
    assert plain_text(stored, compression, encoding)[:] == TEXT.encode()


@pytest.mark.parametrize("size", [2**20 - 1, 2**20, 2**20 + 1, 2**21 + 3])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "shift_jis", "gb18030"])
def test_characters_are_whole_wherever_they_are(size: int, encoding: str) -> None:
    text = "x" * (size // 2) + "日本" * 10
    assert plain_text(text.encode(encoding), None, encoding)[:] == text.encode()


@pytest.mark.parametrize("declared", [None, "windows-1252", "utf-8"])
@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_wins_over_a_declared_encoding(declared: str | None, mark: str) -> None:
    assert plain_text(TEXT.encode(mark), None, declared)[:] == TEXT.encode()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32-le", "gb18030"])
def test_one_byte_order_mark_is_removed(encoding: str) -> None:
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"  # the codec writes one
    assert plain_text(f"{mark}\ufeffx".encode(encoding), None, encoding)[:].decode() == "\ufeffx"


@pytest.mark.parametrize("compression", [None, "gz", "zst"])
def test_utf_16_is_assumed_by_its_mark_only(compression: str | None) -> None:
    def assumed(stored: bytes) -> str | None:
        return assumed_encoding(packed(stored, f".{compression}"), compression)

    assert assumed(TEXT.encode("utf-16")) == assumed(b"\xfe\xff") == "UTF-16"
    assert {assumed(TEXT.encode(encoding)) for encoding in ("utf-8", "utf-8-sig", "utf-16-le", "utf-32")} == {None}
    assert assumed(b"") is None


@pytest.mark.parametrize(
    ("stored", "encoding", "line"),
    [
        ("a\n\u0a0d\r\nb".encode("utf-16") + b"x", None, 3),
        ("\r\n".encode("utf-16") + b"\0\xd8" + "x".encode("utf-16-le"), None, 2),
        (("a\n" * 700_000).encode("utf-16") + b"\0\xdc", None, 700_001),
        (b"a\r\rb\x81", "windows-1252", 3),
        (b"\xe9t\xe9", "ascii", 1),
        ("日\n".encode("shift_jis") + b"\x81", "shift_jis", 2),
        (b"\xff\xfe\0\0" + b"\n\0\0\0" + b"\0\0\x11\0", "utf-32", 2),
        (b"\0a\0\n", "utf-16", 1),
    ],
)
def test_what_is_not_in_its_encoding_is_refused_with_its_line(stored: bytes, encoding: str | None, line: int) -> None:
    with pytest.raises(FileError, match="the file is not") as refused:
        plain_text(stored, None, encoding)
    assert refused.value.line == line


@pytest.mark.parametrize(
    "name", ["", "windows", "utf-9", "a\0b", "é", "rot13", "base64", "zlib", "undefined", "idna", "punycode", "utf_7"]
)
def test_what_is_not_the_name_of_a_text_encoding_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of an encoding, such as"):
        parse_encoding(name)
    with pytest.raises(FileError, match="is not the name of an encoding"):
        plain_text(b"x", None, name)


@given(stored=st.binary(max_size=40), name=st.sampled_from(["utf-16", "hz", "iso2022_jp", "big5", "cp037"]))
def test_any_bytes_are_decoded_as_python_does_or_refused(stored: bytes, name: str) -> None:
    try:
        text = plain_text(stored, None, name)[:].decode()
    except FileError as error:
        assert (error.line or 0) >= 1  # noqa: PT017
    else:
        encoding = "utf-8-sig" if stored.startswith(b"\xef\xbb\xbf") else name
        encoding = "utf-16" if stored.startswith((b"\xff\xfe", b"\xfe\xff")) else encoding
        assert text == stored.decode(encoding).removeprefix("\ufeff" if encoding not in ("utf-16", "utf-8-sig") else "")


JSON = b'{"a": "' + bytes(range(32, 34)) * 200 + b'"}\n'


def gzip_of_zeros(size: int) -> bytes:
    """Return zeros, compressed without holding them in memory."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(deflate.compress(bytes(2**20)) for _ in range(size // 2**20)) + deflate.flush()


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_compressed_text_is_complete_or_refused_wherever_it_is_truncated_or_damaged(ending: str) -> None:
    stored = packed(JSON, f".{ending}")
    assert plain_text(stored, ending)[:] == JSON
    assert plain_text(stored * 2, ending)[:] == JSON * 2
    assert plain_text(packed(b"", f".{ending}"), ending)[:] == b""
    for place in range(len(stored)):
        with pytest.raises(FileError):
            plain_text(stored[:place], ending)
        with suppress(FileError):
            plain_text(stored[:place] + bytes([stored[place] ^ 0x55]) + stored[place + 1 :], ending)
    for damaged in (stored + b"more", JSON):
        with pytest.raises(FileError, match="damaged"):
            plain_text(damaged, ending)


@pytest.mark.parametrize("name", ["stores.csv.gz", "stores.json.zst"])
def test_a_decompression_bomb_is_refused(tmp_path: Path, name: str) -> None:
    zeros = gzip_of_zeros(MAX_SIZE + 2**20) if name.endswith("gz") else packed(bytes(65 * 2**20), name)
    error = refusal(load_stores(tmp_path, zeros, name))
    assert (error.file, "64 MiB" in error.why) == (name, True)


def test_a_small_file_may_have_any_compression_ratio() -> None:
    stored = gzip.compress(bytes(10 * 2**20))
    assert len(stored) * MAX_RATIO < 10 * 2**20
    assert len(plain_text(stored, "gz")) == 10 * 2**20


@pytest.mark.parametrize("place", [0, 2**20 - 1, 2**20])
def test_the_error_for_a_byte_that_is_not_utf_8_has_its_line(place: int) -> None:
    lines = (b"\n" + "€".encode()) * (place // 4 + 2)
    for bad in (b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"):
        at = place // 4 * 4 + 1
        with pytest.raises(FileError) as refused:
            plain_text(lines[:at] + bad + lines[at:], None)
        assert refused.value.line == place // 4 + 2


def test_a_truncated_character_at_the_end_is_refused() -> None:
    for size in range(1, 4):
        with pytest.raises(FileError, match="UTF-8"):
            plain_text(b"x" * (2**20 - 1) + "😀".encode()[:size], None)


def test_line_breaks_are_counted_in_every_style() -> None:
    text = b"a\nb\r\nc\rd\n\re\r\n\r\n"
    assert count_line_breaks(text, 0, len(text)) == 7
    assert count_line_breaks(text, 2, len(text) - 1) == 6


HEADER = ",".join(REQUIRED) + "\r\n"
STORES = f"{HEADER}s1,c1,1 Elm St,Ada,CA\r\ns2,c1,1 Rue É,Montréal,CA\r\n"
UTF_16 = ("utf-16-le", "utf-16-be")
OR_SAVE_IT = "or save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"


def refused(folder: Path, content: bytes, name: str = "stores.csv") -> Diagnostic:
    error = refusal(load_stores(folder, content, name))
    assert "not UTF-8: " in error.why
    return error


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_a_single_byte_encoding_is_described_as_the_usual_ones(tmp_path: Path, packing: str) -> None:
    name = f"stores.csv{packing}"
    error = refused(tmp_path, packed(STORES.encode("latin-1"), name), name)
    assert error.line == 3
    assert "byte 0xc9" in error.why
    why = f"it looks like Windows-1252 or Latin-1: declare it (--encoding windows-1252), {OR_SAVE_IT}"
    assert error.why.endswith(why)


@pytest.mark.parametrize(
    ("encoding", "looks"),
    [
        *((each, f"UTF-16 without a byte order mark: declare it (--encoding {each})") for each in UTF_16),
        *((each, "UTF-32: declare it (--encoding utf-32)") for each in ("utf-32-le", "utf-32-be")),
    ],
)
def test_utf_16_without_a_byte_order_mark_and_utf_32_are_refused_by_name(
    tmp_path: Path, encoding: str, looks: str
) -> None:
    for text in (STORES, HEADER):  # of ASCII alone, too
        error = refused(tmp_path, f"{'' if encoding in UTF_16 else chr(0xFEFF)}{text}".encode(encoding))
        assert error.line == 1
        assert error.why.endswith(f"it looks like {looks}, {OR_SAVE_IT}")


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (gzip.compress(STORES.encode()), "it is compressed with gzip: its name must end in .gz"),
        (packed(STORES.encode(), ".zst"), "it is compressed with Zstandard: its name must end in .zst"),
        (b"PK\x03\x04\x14\x00\x06\x00\xff", "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it"),
    ],
    ids=["gzip", "Zstandard", "a workbook"],
)
def test_other_kinds_of_file_are_detected(tmp_path: Path, content: bytes, reported: str) -> None:
    assert refused(tmp_path, content).why.endswith(reported)


def test_a_nul_in_a_cell_affects_only_its_record(tmp_path: Path) -> None:
    (error,) = load_stores(tmp_path, STORES.replace("Ada", "A\0da").encode()).report.errors
    assert (error.code, error.line, error.field) == ("text", 2, "city")
