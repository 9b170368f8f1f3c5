"""A mapping is read as declared, or refused with the key that is wrong and the nearest name."""

import os
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest
from msgspec import inspect

from service.reading.diagnostics import FileError
from service.reading.mapping.declaration import (
    AttributeTable,
    CompaniesTable,
    FieldMapping,
    FieldTable,
    JoinedColumns,
    StoresTable,
)
from service.reading.mapping.mapping_file import PRESETS, load_mapping, parse_mapping
from service.reading.mapping.toml import keys_of, read_table
from service.reading.text import parse_encoding

KEYS = ", ".join(keys_of(StoresTable))
EXAMPLE = """
[stores]
encoding = "windows-1252"
delimiter = ";"
decimal = ","
date = ["dd.mm.yyyy", "dd.mm.yyyy hh:mm"]
time_zone = "Europe/Berlin"
no_value = ["n/a", "k.A."]

[stores.fields]
store_id = "Filial-Nr"
address_1 = { join = ["Straße", "Hausnummer"], separator = ", " }
name = { first = ["branch", { join = ["a", "b"] }] }
country = { constant = "DE" }
is_open = { from = "Status", values = { "Geöffnet" = true, "geschlossen" = false }, default = true }
created_at = { from = "Eröffnet", date = "yyyy-mm-dd" }

[companies]
from = "stores"

[companies.fields]
company_id = "Kette"
name = "Kettenname"
"""


def test_a_mapping_is_what_its_file_declares(tmp_path: Path) -> None:
    (tmp_path / "mapping.toml").write_text(EXAMPLE, "utf-8")
    mapping = load_mapping(tmp_path / "mapping.toml")
    stores = mapping.stores
    assert (stores.encoding, stores.table.delimiter, stores.decimal) == ("windows-1252", ";", ",")
    assert (stores.dates, stores.time_zone) == (("dd.mm.yyyy", "dd.mm.yyyy hh:mm"), ZoneInfo("Europe/Berlin"))
    assert stores.no_value == {"n/a", "k.a."}
    chain = FieldMapping(sources=(JoinedColumns(("Kette",)),))
    assert stores.fields == {
        "store_id": FieldMapping(sources=(JoinedColumns(("Filial-Nr",)),)),
        "address_1": FieldMapping(sources=(JoinedColumns(("Straße", "Hausnummer"), ", "),)),
        "name": FieldMapping(sources=(JoinedColumns(("branch",)), JoinedColumns(("a", "b"), " "))),
        "country": FieldMapping(default="DE"),
        "is_open": FieldMapping(
            sources=(JoinedColumns(("Status",)),), values={"geöffnet": True, "geschlossen": False}, default=True
        ),
        "created_at": FieldMapping(sources=(JoinedColumns(("Eröffnet",)),), dates=("yyyy-mm-dd",)),
        "company_id": chain,
    }
    assert mapping.derives_companies
    assert mapping.companies.fields == {
        "company_id": chain,
        "name": FieldMapping(sources=(JoinedColumns(("Kettenname",)),)),
    }
    assert (mapping.companies.time_zone, mapping.companies.dates) == (stores.time_zone, stores.dates)


def test_an_empty_mapping_changes_nothing() -> None:
    mapping = parse_mapping(b"")
    assert (mapping.stores.fields, mapping.companies.fields, mapping.derives_companies) == ({}, {}, False)


def test_a_derived_company_has_the_identifier_of_its_stores_unless_it_is_declared() -> None:
    mapping = parse_mapping(b'[companies]\nfrom = "stores"')
    assert mapping.companies.fields["name"] == mapping.stores.fields["company_id"]
    assert mapping.stores.fields["company_id"] == FieldMapping(sources=(JoinedColumns(("company_id",)),))


def test_keys_and_entries_of_a_file_replace_those_of_its_preset() -> None:
    own = b'preset = "overture"\n[stores]\ntime_zone = "Asia/Tokyo"\n[stores.fields]\ncity = { constant = "Kyoto" }'
    mapping, preset = parse_mapping(own), load_mapping("overture")
    assert mapping.stores.time_zone is not None
    assert mapping.stores.fields == {**preset.stores.fields, "city": FieldMapping(default="Kyoto")}
    assert mapping.companies.fields == preset.companies.fields
    assert mapping.derives_companies


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_a_mapping_whose_columns_are_optional(preset: str) -> None:
    mapping = load_mapping(preset)
    assert mapping.derives_companies
    assert all(entry.optional for entry in mapping.stores.fields.values())


# A mapping -> its error, after the key.
REFUSED = [
    ('preset = "overture"\n[stores]\nfields = 5', "stores.fields: expected `table`, got `int`"),
    ('presets = "overture"', "presets: unknown key; did you mean preset?"),
    ('preset = "overtur"', "preset: no preset 'overtur'; did you mean overture?"),
    (
        'preset = "mine"',
        "preset: no preset 'mine'; the presets are all-the-places, google-business-profile, openstreetmap, overture",
    ),
    ("stores = 5", "stores: expected `table`, got `int`"),
    ("preset = 5", "preset: expected `str`, got `int`"),
    ("[stores]\nfeilds = {}", "stores.feilds: unknown key; did you mean fields?"),
    ("[stores]\nx = 1", f"stores.x: unknown key; the keys are {KEYS}"),
    ('[stores]\nfrom = "companies"', f"stores.from: unknown key; the keys are {KEYS}"),
    ('[companies]\nfrom = "store"', 'companies.from: expected "stores"'),
    (
        '[stores]\nencoding = "windows-1253x"',
        "stores.encoding: no text encoding 'windows-1253x'; did you mean windows-1253?",
    ),
    ('[stores]\nencoding = "hex"', "stores.encoding: no text encoding 'hex'"),
    ('[stores]\ndelimiter = "tab"', "stores.delimiter: expected one character, but no letter, digit or quote"),
    ('[stores]\ndelimiter = "x"', "stores.delimiter: expected one character, but no letter, digit or quote"),
    ('[stores]\ndecimal = ";"', 'stores.decimal: expected "." or ","'),
    (
        '[stores]\ndate = "tt.mm.jjjj"',
        "stores.date: 'tt.mm.jjjj': unknown part 'tt'; the parts are yyyy, yy, mm, m, dd, d, hh, h, ss, am/pm",
    ),
    ('[stores]\ndate = "dd.mm"', "stores.date: 'dd.mm': the year is missing"),
    (
        '[stores]\ndate = "hh:mm dd.mm.yyyy mm"',
        "stores.date: 'hh:mm dd.mm.yyyy mm': the month is repeated; mm is the month, after hours the minutes",
    ),
    (
        '[stores]\ndate = "dd.mm.yyyy ss"',
        "stores.date: 'dd.mm.yyyy ss': a time needs hours, and seconds need minutes, as in hh:mm:ss",
    ),
    (
        '[stores]\ntime_zone = "Europe/Berlim"',
        "stores.time_zone: no time zone 'Europe/Berlim'; did you mean Europe/Berlin?",
    ),
    ('[stores]\ntime_zone = "../../etc/passwd"', "stores.time_zone: no time zone '../../etc/passwd'"),
    ('[stores]\ntime_zone = "Europe"', "stores.time_zone: no time zone 'Europe'; did you mean Europe/Rome?"),
    ('[stores]\nno_value = "n/a"', "stores.no_value: expected `array`, got `str`"),
    ('[stores]\nno_value = ["n/a", 5]', "stores.no_value[1]: expected `str`, got `int`"),
    ('[stores.fields]\nsotre_id = "x"', "stores.fields.sotre_id: not a field; did you mean store_id?"),
    ('[stores.fields]\nzip = "x"', "stores.fields.zip: not a field; did you mean postal_code?"),
    ('[companies.fields]\nstore_id = "x"', "companies.fields.store_id: not a field; did you mean company_id?"),
    (
        "[stores.fields]\ncity = 5",
        'stores.fields.city: expected a column, or a table such as { join = ["Street", "Number"] }',
    ),
    ('[stores.fields]\ncity = { form = "x" }', "stores.fields.city.form: unknown key; did you mean from?"),
    (
        '[stores.fields]\ncity = { column = "x" }',
        (
            "stores.fields.city.column: unknown key; the keys are from, join, separator, first, split, part, constant, "
            "default, values, other, date, closing_date, optional"
        ),
    ),
    ('[stores.fields]\ncity = { default = "x" }', "stores.fields.city: expected one of from, join, first, constant"),
    (
        '[stores.fields]\ncity = { from = "x", join = ["y"] }',
        "stores.fields.city: expected one of from, join, first, constant, found from and join",
    ),
    ("[stores.fields]\ncity = { from = 5 }", "stores.fields.city.from: expected `str`, got `int`"),
    (
        '[stores.fields]\ncity = { constant = "x", default = "y" }',
        "stores.fields.city.default: not used, because the field is a constant",
    ),
    (
        '[stores.fields]\ncity = { from = "x", separator = "y" }',
        "stores.fields.city.separator: not used, because there is no join",
    ),
    (
        '[stores.fields]\nis_open = { from = "x", values = { yes = true, "im Umbau" = "" } }',
        "stores.fields.is_open.values.im Umbau: empty: give it true or false",
    ),
    (
        '[stores.fields]\nis_open = { from = "x", other = "" }',
        "stores.fields.is_open.other: empty: give it true or false",
    ),
    (
        '[stores.fields]\ncity = { from = "x", closing_date = "y" }',
        "stores.fields.city.closing_date: only is_open of stores has a closing date",
    ),
    (
        '[companies.fields]\nname = { closing_date = "y" }',
        "companies.fields.name.closing_date: only is_open of stores has a closing date",
    ),
    (
        '[stores.fields]\nis_open = { constant = true, closing_date = "y", default = true }',
        "stores.fields.is_open.default: not used, because the field is a constant",
    ),
    (
        '[stores.fields]\nis_open = { from = "x", date = "dd.mm.yyyy" }',
        "stores.fields.is_open.date: not used, because the field is not a date",
    ),
    (
        '[stores.fields]\ncity = { from = "x", split = "," }',
        'stores.fields.city: split and part need each other, as in split = ",", part = 1',
    ),
    (
        '[stores.fields]\ncity = { from = "x", part = 1 }',
        'stores.fields.city: split and part need each other, as in split = ",", part = 1',
    ),
    (
        '[stores.fields]\ncity = { from = "x", split = "", part = 1 }',
        "stores.fields.city.split: expected the text between the two parts",
    ),
    (
        f'[stores.fields]\ncity = {{ from = "x", split = "{"-" * 201}", part = 1 }}',
        "stores.fields.city.split: longer than 200 characters",
    ),
    ('[stores.fields]\ncity = { from = "x", split = ",", part = 3 }', "stores.fields.city.part: expected `int` <= 2"),
    (
        '[stores.fields]\ncity = { constant = "x", split = ",", part = 1 }',
        "stores.fields.city.split: not used, because the field is a constant",
    ),
    ("[stores.fields]\ncity = { join = [] }", "stores.fields.city.join: expected at least one column"),
    ("[stores.fields]\ncity = { first = [] }", "stores.fields.city.first: expected at least one column"),
    (
        "[stores.fields]\ncity = { first = [{ join = [] }] }",
        "stores.fields.city.first[0].join: expected at least one column",
    ),
    (
        '[stores.fields]\ncity = { first = ["x", { jion = [] }] }',
        "stores.fields.city.first[1].jion: unknown key; did you mean join?",
    ),
    ("[stores.fields]\ncity = { first = [5] }", "stores.fields.city.first[0]: expected `table`, got `int`"),
    ("[stores.fields]\ncity = { constant = true }", "stores.fields.city.constant: expected a text in quotes"),
    (
        '[stores.fields]\ncity = { constant = " " }',
        "stores.fields.city.constant: empty, but the field is required: fill it in",
    ),
    (
        '[stores.fields]\nstore_id = { constant = "Filial-Nr" }',
        'stores.fields.store_id.constant: every store would get the same id: name a column, as in store_id = "Number"',
    ),
    ('[stores.fields]\nis_open = { constant = "true" }', "stores.fields.is_open.constant: expected true or false"),
    (
        '[stores.fields]\nis_open = { from = "x", values = { a = "b" } }',
        "stores.fields.is_open.values.a: expected true or false",
    ),
    (
        "[stores.fields]\nlatitude = { constant = 43.7 }",
        "stores.fields.latitude.constant: expected `bool | str`, got `float`",
    ),
    (
        '[stores.fields]\ncity = { from = "x", date = "dd.mm.yyyy" }',
        "stores.fields.city.date: not used, because the field is not a date",
    ),
    (
        '[stores.fields]\ncreated_at = { from = "x", date = "dd.mm" }',
        "stores.fields.created_at.date: 'dd.mm': the year is missing",
    ),
    (
        '[stores.fields]\nis_open = { from = "x", values = { A = true, a = false } }',
        "stores.fields.is_open.values.a: has another value in another case",
    ),
    ('[stores.fields]\naddress_1 = { join = ["x", "y", "x"] }', "stores.fields.address_1.join: 'x' is repeated"),
    (
        f'[stores.fields]\naddress_1 = {{ join = ["x", "y"], separator = "{"-" * 201}" }}',
        "stores.fields.address_1.separator: longer than 200 characters",
    ),
    (
        f'[stores.fields]\nname = {{ first = [{{ join = ["x", "y"], separator = "{"-" * 201}" }}] }}',
        "stores.fields.name.first[0].separator: longer than 200 characters",
    ),
    (
        f'[stores.fields]\nname = {{ constant = "{"-" * 201}" }}',
        "stores.fields.name.constant: longer than 200 characters",
    ),
    (
        f'[stores.fields]\nname = {{ from = "x", values = {{ a = "{"-" * 201}" }} }}',
        "stores.fields.name.values.a: longer than 200 characters",
    ),
    (f"[stores]\ndate = {['yyyy-mm-dd'] * 21}", "stores.date: expected at most 20 formats"),
    (
        f'[stores.fields]\ncreated_at = {{ from = "x", date = "{"-" * 101}" }}',
        f"stores.fields.created_at.date: '{'-' * 101}': longer than 100 characters",
    ),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=range(len(REFUSED)))
def test_a_mapping_is_refused_with_its_key_and_the_nearest_name(text: str, why: str) -> None:
    with pytest.raises(FileError) as refused:
        parse_mapping(text.encode())
    assert str(refused.value) == why


def test_an_empty_constant_of_a_field_that_is_not_required_is_no_value() -> None:
    mapping = parse_mapping(b'[stores.fields]\nprovince = { constant = "" }')
    assert mapping.stores.fields == {"province": FieldMapping(default="")}


@pytest.mark.parametrize(
    ("stored", "line", "why"),
    [
        (b"a = 1\nb = =\n", 2, "not valid TOML: "),
        (b'a = "\xe4"', None, "the mapping is not UTF-8: save it as UTF-8"),
        (b"a = " + b"[" * 100_000, None, "the mapping is nested too deeply"),
        (b"#" * (1 << 20) + b"#", None, "the mapping is larger than 1 MiB"),
        (b"a = 1\n" + b"a." * 1_001 + b"a = 1", 2, "the line has more than 1,000 dots"),
        (b"a = " + b"9" * 5_000, None, "a number of the mapping is too long"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(stored: bytes, line: int | None, why: str) -> None:
    with pytest.raises(FileError) as refused:
        parse_mapping(stored)
    assert (refused.value.line, str(refused.value)[: len(why)]) == (line, why)


@pytest.mark.parametrize("value", ["Ort", "“Ort”", "\u2019Ort\u2019"])
def test_a_text_without_straight_quotes_is_refused_with_what_to_do(value: str) -> None:
    with pytest.raises(FileError, match=r'; texts and names of columns are in straight quotes, as in city = "Ort"$'):
        parse_mapping(f"[stores.fields]\ncity = {value}".encode())


def test_a_mapping_may_have_a_byte_order_mark_and_line_ends_of_windows() -> None:
    assert parse_mapping(b'\xef\xbb\xbf[stores]\r\ndecimal = ","\r\n').stores.decimal == ","


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("overtrue", "the mapping cannot be read: No such file or directory; did you mean overture?"),
        (".", "the mapping cannot be read: Is a directory"),
        ("/dev/null", "the mapping cannot be read: it is not a regular file"),
    ],
)
def test_a_mapping_that_cannot_be_read_is_refused(name: str, why: str) -> None:
    with pytest.raises(FileError) as refused:
        load_mapping(name)
    assert str(refused.value) == why


def test_a_mapping_whose_name_no_file_can_have_is_refused() -> None:
    with pytest.raises(FileError, match=r"^the mapping cannot be read: .*embedded null "):  # Pythons differ
        load_mapping("a\0b")


def test_a_mapping_that_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "mapping.toml")
    for name in (pipe, "/dev/zero"):
        with pytest.raises(FileError, match="the mapping cannot be read: it is not a regular file"):
            load_mapping(name)


def test_no_more_of_a_mapping_is_read_than_a_mapping_may_have(tmp_path: Path) -> None:
    with (file := tmp_path / "mapping.toml").open("wb") as written:
        written.truncate(1 << 40)  # takes no space
    with pytest.raises(FileError, match="the mapping is larger than 1 MiB"):
        load_mapping(file)


@pytest.mark.parametrize(
    "text",
    [
        '[stores]\n"\\u001b[31m" = 1',
        '[stores.fields]\n"\\u001b[31m" = "x"',
        '[stores.fields.city]\nfrom = "x"\n[stores.fields.city.values]\n"\\u001b[31ma" = "x"\n"\\u001b[31mA" = "y"',
        f"[stores]\n{'k' * 100_000} = 1",
        f'preset = "{"k" * 100_000}"',
        f'[stores]\ntime_zone = "{"k" * 100_000}"',
        f'[stores]\nencoding = "{"k" * 100_000}"',
    ],
)
def test_the_reason_of_a_refusal_is_printable_and_short(text: str) -> None:
    with pytest.raises(FileError) as refused:
        parse_mapping(text.encode())
    assert refused.value.why.isprintable()
    assert len(refused.value.why) < 3_000


@pytest.mark.parametrize("name", ["base64", "rot13", "punycode", "utf-7"])
def test_only_encodings_of_texts_are_suggested(name: str) -> None:
    with pytest.raises(FileError) as refused:
        parse_mapping(f'[stores]\nencoding = "{name}"'.encode())
    _, _, hint = refused.value.why.partition("; did you mean ")
    assert not hint or parse_encoding(hint.removesuffix("?"))


def test_a_system_without_time_zones_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.reading.mapping.options.available_timezones", set)
    with pytest.raises(FileError, match="no time zone 'Mars'; the system has no time zones, install tzdata"):
        parse_mapping(b'[stores]\ntime_zone = "Mars"')


@pytest.mark.parametrize("table", [StoresTable, CompaniesTable, FieldTable, AttributeTable])
def test_every_number_has_a_range(table: type[msgspec.Struct]) -> None:
    kinds = {field.encode_name: field.type for field in inspect.type_info(table).fields}  # type: ignore[attr-defined]
    for key in (key for key, kind in kinds.items() if "IntType" in repr(kind)):
        for number in (10**30, -(10**30)):
            with pytest.raises(FileError, match=f"{key}: expected `int` [<>]="):
                read_table({key: number}, table, "stores")
