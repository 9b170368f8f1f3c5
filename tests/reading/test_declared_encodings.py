"""Texts in UTF-16 with a mark, or in a declared encoding, are decoded; any other text is refused with the line."""

import pytest
from hypothesis import given, strategies as st

from service.reading.diagnostics import FileError
from service.reading.text import assumed_encoding, parse_encoding, plain_text
from tests.loading.data_files import packed

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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32-le", "gb18030"])
def test_one_byte_order_mark_is_removed(encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"  # the codec writes one
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
