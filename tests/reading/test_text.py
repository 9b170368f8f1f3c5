"""Texts are decompressed within bounds and decoded, or refused with what to do; wrong characters are mended."""

import gzip
import json
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.reading.characters import check_characters, cleaner, may_have_wrong_characters, needed_repairs
from service.reading.diagnostics import Diagnostic, FileError
from service.reading.mapping.conversions import control_issue
from service.reading.text import (
    MAX_RATIO,
    MAX_SIZE,
    assumed_encoding,
    count_line_breaks,
    decode_text,
    describe_encoding,
    parse_encoding,
    plain_text,
    plausible_encodings,
)
from tests.loading.data_files import DERIVED, REQUIRED, as_csv, load_files, load_stores, packed, refusal, rows, store

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
def test_utf_16_without_a_mark_and_utf_32_are_refused_by_name(tmp_path: Path, encoding: str, looks: str) -> None:
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


WRONG: list[tuple[str, str, str, str, str]] = [
    # The field, its text, the code of the warning, the repair, and the repaired text.
    ("store_id", "s\u200b1", "invisible", "invisible", "s1"),
    ("store_id", "s1\xa0", "invisible", "invisible", "s1"),
    ("city", "\ufeffOslo", "invisible", "invisible", "Oslo"),
    ("name", "Be\xadta", "invisible", "invisible", "Beta"),
    ("name", "Alpha\u200d", "invisible", "invisible", "Alpha"),
    ("name", "M\xc3\xbcller", "damaged", "utf-8-twice", "Müller"),
    ("name", "Joe\xe2\u20ac\u2122s Müller", "damaged", "utf-8-twice", "Joe\u2019s Müller"),
    ("city", "\xd0\u0153\xd0\xb8\xd1\u20ac", "damaged", "utf-8-twice", "Мир"),
    ("name", "A &amp;amp; B&#39;s", "entity", "entities", "A & B's"),
    ("city", "M&uuml;nchen", "entity", "entities", "München"),
    ("postal_code", "'02108", "zeros", "apostrophe", "02108"),
    ("phone_number", "\u2019030 123456", "zeros", "apostrophe", "030 123456"),
    ("phone_number", "'+49 30 123456", "zeros", "apostrophe", "+49 30 123456"),
]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_character_has_a_warning_and_is_repaired(tmp_path: Path, wrong: tuple[str, str, str, str, str]) -> None:
    field, text, code, repair, repaired = wrong
    content = as_csv([store("s0"), store("s2") | {field: text}])
    mapping = f"{DERIVED}[stores]\n"
    loaded = load_files(tmp_path, {"stores.csv": content, "mapping.toml": mapping.encode()})
    assert [(each.code, each.line, each.record, each.field, each.value) for each in loaded.report.warnings] == [
        (code, 3, 2, field, text)
    ]
    assert text in [json.loads(row[:-1])[field] for row in rows(loaded)]
    mended = {"stores.csv": content, "mapping.toml": f"{mapping}repair = [{json.dumps(repair)}]\n".encode()}
    loaded = load_files(tmp_path, mended)
    assert not loaded.report.warnings
    assert repaired in [json.loads(row[:-1])[field] for row in rows(loaded)]
    assert repair in dict(needed_repairs(f"\n{text}\n"))


@pytest.mark.parametrize(
    "text",
    [
        "Café®", "CAFÉ®", "NESTLÉ™", "Spaß“",
        "H&M", "AT&T; A&W", "\u0645\u06cc\u200c\u0634\u0648\u062f", "\u2019n Beetje",
        "\U0001f468\u200d\U0001f469", "«É»", "Müller\xa0GmbH", "Ã", "'47 Brand", "&nosuch;", "München",
    ],
)  # fmt: skip
def test_what_people_write_has_no_warning(text: str) -> None:
    assert check_characters(text, is_identifier=False, is_code=True) is None


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_no_text_that_was_read_in_another_encoding_is_missed_in_a_column(encoding: str) -> None:
    texts = [chr(code).encode().decode(encoding, "ignore") for code in range(0x80, 0x2800)]
    damaged = [text for text in texts if check_characters(text, is_identifier=False, is_code=False)]
    assert len(damaged) > 1000
    for text in damaged:
        assert may_have_wrong_characters(f"{text}\n\n", is_code=False)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("a\x96b", {"windows-1252": True}),
        ("â€œAâ€\x9d", {"utf-8-twice": True}),
        ("MÃ¼ller\na\x96b", {"utf-8-twice": False, "windows-1252": True}),
        ("R&amp;D\n'02108\nO'Neill", {"entities": False, "apostrophe": False}),
        ("&nosuch;\n'47 Brand\nMüller\nCaf\ufffd", {}),
    ],
)
def test_repairs_without_which_texts_are_errors_are_known_from_others(lines: str, found: dict[str, bool]) -> None:
    assert dict(needed_repairs(lines)) == found
    wrong = next((text for text in lines.split("\n") if control_issue(text)), None)
    if wrong is not None:
        issue = control_issue(wrong)
        assert issue is not None
        assert f'repair = "{next(name for name, is_error in found.items() if is_error)}"' in issue.why


def test_a_replaced_character_has_a_warning() -> None:
    issue = check_characters("Caf\ufffd", is_identifier=False, is_code=False)
    assert issue is not None
    assert issue.code == "damaged"


def test_repairs_are_applied_in_their_order() -> None:
    clean = cleaner(("apostrophe", "cp1252", "utf-8-twice", "invisible", "entities"), trims=True)
    assert clean is not None
    assert clean("\u200b &#39;0\xc3\x8d\x96 ") == "'0Í–"  # noqa: RUF001 - a real dash
    assert clean(" &#39;012\ufeff") == "012"


@pytest.mark.parametrize("write", [str, "\ufeff{}".format, str.upper, " {} ".format])
def test_a_row_that_repeats_the_header_is_left_out(tmp_path: Path, write: Callable[[str], str]) -> None:
    one, two = (as_csv([store(identifier)]) for identifier in ("s1", "s2"))
    header, _, record = two.decode().partition("\n")
    again = f"{write(header)}\n{record}"
    files = {"stores.csv": one + again.encode(), "mapping.toml": DERIVED.encode()}
    loaded = load_files(tmp_path, files)
    assert not loaded.report.errors
    assert [(each.code, each.line) for each in loaded.report.warnings] == [("header", 3)]
    assert [json.loads(row[:-1])["store_id"] for row in rows(loaded)] == ["s1", "s2"]


SCRIPTS = {
    "windows-1252": "Café Élysée, Müller Straße, Logroño, 3ª planta",
    "windows-1250": "Sklep Łódź, ul. Piłsudskiego, Święty Krzyż",
    "windows-1251": "Магазин на Невском, улица Ленина",
    "koi8-r": "Магазин на Невском, улица Ленина",
    "windows-1253": "Κατάστημα, Οδός Ερμού",
    "windows-1255": "חנות תל אביב",
    "windows-1256": "متجر الرياض شارع",
    "cp874": "ร้านกรุงเทพ ถนนสุขุมวิท",
    "shift_jis": "渋谷店 東京都渋谷区 マツモト",
    "euc-jp": "渋谷店 東京都渋谷区 マツモト",
    "gb18030": "北京市朝阳区建国路",
    "big5": "台北市信義區忠孝東路",
    "cp949": "서울특별시 강남구",
    "cp850": "Müller Straße Köln",
    "windows-1254": "Şişli Beyoğlu, Üsküdar İstanbul",
}


@pytest.mark.parametrize("encoding", SCRIPTS)
def test_a_text_is_described_by_the_encodings_that_fit_it(encoding: str) -> None:
    text = f"store_id,name\ns1,{SCRIPTS[encoding]}\n".encode(encoding)
    found = [name for name, _ in plausible_encodings(text)]
    assert encoding in found
    assert (found == ["windows-1252"]) == (encoding == "windows-1252")
    assert ("--encoding windows-1252" in describe_encoding(text)) == (encoding == "windows-1252")


def test_no_encoding_fits_bytes_that_are_no_text_nor_a_western_one_words_of_accented_letters_alone() -> None:
    assert "not known" in describe_encoding(b"a\xff\xfe\x81\x00\x8d")
    assert "windows-1252" not in dict(plausible_encodings("תל אביב חנות".encode("windows-1255")))
    assert "windows-1252" in dict(plausible_encodings("à Noël, où la créée".encode("windows-1252")))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_no_encoding_is_advised_for_a_line_after_others_in_utf_8(end: str) -> None:
    header, good, bad = f"name,city{end}".encode(), f"Müller,Köln{end}".encode(), "Käfer,Köln".encode("cp1252")
    with pytest.raises(FileError, match=r"0xe4 at .* is not UTF-8: lines before are, so correct this one") as raised:
        decode_text(header + good + bad)
    assert raised.value.line == 3
    with pytest.raises(FileError, match="windows-1252"):
        decode_text(header + bad)
