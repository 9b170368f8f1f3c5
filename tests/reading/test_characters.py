"""Wrong characters in texts have a warning, and `repair` mends them; what people write has none."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from service.reading.characters import check_characters, cleaner, may_have_wrong_characters, needed_repairs
from service.reading.encodings import describe_encoding, plausible_encodings
from service.reading.mapping.conversions import control_issue
from tests.loading.data_files import DERIVED, STORE_FIELDS, as_csv, load_files, rows, store

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
    content = as_csv([store("s0"), store("s2") | {field: text}], STORE_FIELDS)
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
    one, two = (as_csv([store(identifier)], STORE_FIELDS) for identifier in ("s1", "s2"))
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
