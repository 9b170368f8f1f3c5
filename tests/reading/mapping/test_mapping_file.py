"""A mapping is read as declared, or refused with the key that is wrong and the nearest name; presets."""

import json
import os
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from msgspec import inspect
from msgspec.structs import replace

from service.model.records import STORES
from service.reading.batch import RecordFile
from service.reading.diagnostics import FileError
from service.reading.files.records import format_of, open_file
from service.reading.formats.file_format import FORMATS
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
from tests.reading.mapping.record_files import Compiled, compiled, features, sample

OPEN = {"geöffnet": True, "geschlossen": False}
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


def refused(text: bytes) -> FileError:
    """Return the error of a mapping that is refused."""
    with pytest.raises(FileError) as caught:
        parse_mapping(text)
    return caught.value


def test_a_mapping_is_what_its_file_declares(tmp_path: Path) -> None:
    (tmp_path / "mapping.toml").write_text(EXAMPLE, "utf-8")
    mapping = load_mapping(tmp_path / "mapping.toml")
    stores = mapping.stores
    assert (stores.encoding, stores.table.delimiter, stores.decimal) == ("windows-1252", ";", ",")
    assert (stores.dates, stores.time_zone) == (("dd.mm.yyyy", "dd.mm.yyyy hh:mm"), ZoneInfo("Europe/Berlin"))
    assert stores.no_value == {"n/a", "k.a."}
    chain, joined = FieldMapping.of_column("Kette"), ("Straße", "Hausnummer")
    assert stores.fields == {
        "store_id": FieldMapping.of_column("Filial-Nr"),
        "address_1": FieldMapping(join=joined, sources=(JoinedColumns(joined, ", "),)),
        "name": FieldMapping(
            first=["branch", {"join": ["a", "b"]}], sources=(JoinedColumns(("branch",)), JoinedColumns(("a", "b"), " "))
        ),
        "country": FieldMapping(constant="DE", default="DE"),
        "is_open": replace(FieldMapping.of_column("Status"), values=OPEN, default=True),
        "created_at": replace(FieldMapping.of_column("Eröffnet"), date=("yyyy-mm-dd",)),
        "company_id": chain,
    }
    assert mapping.derives_companies
    assert mapping.companies.fields == {"company_id": chain, "name": FieldMapping.of_column("Kettenname")}
    assert (mapping.companies.time_zone, mapping.companies.dates) == (stores.time_zone, stores.dates)


def test_an_empty_mapping_changes_nothing() -> None:
    mapping = parse_mapping(b"")
    assert (mapping.stores.fields, mapping.companies.fields, mapping.derives_companies) == ({}, {}, False)


def test_a_derived_company_has_the_identifier_of_its_stores_unless_it_is_declared() -> None:
    mapping = parse_mapping(b'[companies]\nfrom = "stores"')
    assert mapping.companies.fields["name"] == mapping.stores.fields["company_id"]
    assert mapping.stores.fields["company_id"] == FieldMapping.of_column("company_id")


def test_keys_and_entries_of_a_file_replace_those_of_its_preset() -> None:
    own = b'preset = "overture"\n[stores]\ntime_zone = "Asia/Tokyo"\n[stores.fields]\ncity = { constant = "Kyoto" }'
    mapping, preset = parse_mapping(own), load_mapping("overture")
    assert mapping.stores.time_zone is not None
    assert mapping.stores.fields == {**preset.stores.fields, "city": FieldMapping(constant="Kyoto", default="Kyoto")}
    assert mapping.companies.fields == preset.companies.fields
    assert mapping.derives_companies


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_a_mapping_whose_columns_are_optional(preset: str) -> None:
    mapping = load_mapping(preset)
    assert mapping.derives_companies
    assert all(entry.optional for entry in mapping.stores.fields.values())


LONG, HALF, NO_LONGER = "-" * 201, "-" * 101, "expected `str` of length <= 200"
NOT_USED = "not used, because the field is a constant"
MINUTES = "mm is the month, after hours the minutes"
NUMBER = 'name a column, as in store_id = "Number"'
NO_REPAIR = "has no characters for the bytes 0x80 to 0x9F; most files need windows-1252"
DATE_PARTS = "yyyy, yy, mmm, mm, m, ddd, dd, d, hh, h, ss, am/pm, t, zz"
ONE_CHARACTER = "delimiter: expected one character, but no letter, digit or quote"
PART = ': split and part need each other, as in split = ",", part = 1'
ENTRY_KEYS = (
    "from, join, separator, first, split, part, pad, constant, default, values, other, date, closing_date, point, "
    "optional"
)
PRESET_NAMES = "all-the-places, google-business-profile, openstreetmap, overture"
# What is before: in a mapping and in its error. What follows: in both.
REFUSED: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("", ""): [
        ('preset = "overture"\n[stores]\nfields = 5', "stores.fields: expected `table`, got `int`"),
        ('presets = "overture"', "presets: unknown key; did you mean preset?"),
        ('preset = "overtur"', "preset: no preset 'overtur'; did you mean overture?"),
        ('preset = "mine"', f"preset: no preset 'mine'; the presets are {PRESET_NAMES}"),
        ("stores = 5", "stores: expected `table`, got `int`"),
        ("preset = 5", "preset: expected `str`, got `int`"),
    ],
    ("[stores]\n", "stores."): [
        ("feilds = {}", "feilds: unknown key; did you mean fields?"),
        ("x = 1", f"x: unknown key; the keys are {KEYS}"),
        ('from = "companies"', f"from: unknown key; the keys are {KEYS}"),
        ('encoding = "windows-1253x"', "encoding: no text encoding 'windows-1253x'; did you mean windows-1253?"),
        ('encoding = "hex"', "encoding: no text encoding 'hex'"),
        ('delimiter = "tab"', ONE_CHARACTER),
        ('delimiter = "x"', ONE_CHARACTER),
        ('decimal = ";"', 'decimal: expected "." or ","'),
        ('date = "tt.mm.jjjj"', f"date: 'tt.mm.jjjj': unknown part 'tt'; the parts are {DATE_PARTS}"),
        ('date = "dd.mm"', "date: 'dd.mm': the year is missing"),
        ('date = "hh:mm dd.mm.yyyy mm"', f"date: 'hh:mm dd.mm.yyyy mm': the month is repeated; {MINUTES}"),
        ('date = "d.m.yyyy ss"', "date: 'd.m.yyyy ss': a time needs hours, and seconds need minutes, as in hh:mm:ss"),
        (f"date = {['yyyy-mm-dd'] * 21}", "date: expected at most 20 formats"),
        ('time_zone = "Europe/Berlim"', "time_zone: no time zone 'Europe/Berlim'; did you mean Europe/Berlin?"),
        ('time_zone = "../../etc/passwd"', "time_zone: no time zone '../../etc/passwd'"),
        ('time_zone = "Europe"', "time_zone: no time zone 'Europe'; did you mean Europe/Rome?"),
        ('no_value = "n/a"', "no_value: expected `array`, got `str`"),
        ('no_value = ["n/a", 5]', "no_value[1]: expected `str`, got `int`"),
        ('files = "stores.csv"', "files: expected `array`, got `str`"),
        ("files = []", 'files: expected names of files, as in ["stores-*.csv"]'),
        ('files = ["../*.csv"]', "files: '../*.csv' is a path: expected names of files beside each other"),
        ('repair = "cp12522"', "repair: no text encoding 'cp12522'; did you mean cp1252?"),
        ('repair = "utf-8"', f"repair: 'utf-8' {NO_REPAIR}"),
        ('repair = "latin-1"', f"repair: 'latin-1' {NO_REPAIR}"),
        ("repair = true", "repair: expected `str | array`, got `bool`"),
        ('quote = "\'"', 'quote: expected "" if quotes are ordinary characters'),
        ("skip_lines = -1", "skip_lines: expected `int` >= 0"),
        ("skip_lines = 99999999999999999999", "skip_lines: expected `int` <= 1000000000"),
        ("skip_lines = true", "skip_lines: expected `int`, got `bool`"),
        ("columns = []", "columns: expected a name for each column of the file"),
        ('columns = ["a", " "]', "columns: expected a name for each column of the file"),
        ('columns = ["a", "b", "a"]', "columns: 'a' is repeated"),
        ('columns = "a"', "columns: expected `array`, got `str`"),
        ('sheets = ["A"]\nsheet = "A"', "sheets: expected names of sheets, or one in sheet"),
        ("sheets = []", "sheets: expected names of sheets, or one in sheet"),
        ('sheets = ["A", "A"]', "sheets: 'A' is repeated"),
        ('trim = "yes"', "trim: expected `bool`, got `str`"),
    ],
    ("[companies]\n", "companies."): [
        ('from = "store"', 'from: expected "stores"'),
        ('files = [""]', 'files: expected names of files, as in ["stores-*.csv"]'),
        ('from = "stores"\nfiles = ["*"]', "files: not used, because the companies are derived from the stores"),
    ],
    ("[stores.fields]\n", "stores.fields."): [
        ('sotre_id = "x"', "sotre_id: not a field; did you mean store_id?"),
        ('zip = "x"', "zip: not a field; did you mean postal_code?"),
        ('store_id = { constant = "Filial-Nr" }', f"store_id.constant: every store would get the same id: {NUMBER}"),
        ('latitude = { from = "x", pad = 5 }', "latitude.pad: not used, because the field is not a text"),
        ('store_id = { from = "x", pad = 1 }', "store_id.pad: expected `int` >= 2"),
        ("latitude = { constant = 43.7 }", "latitude.constant: expected `bool | str`, got `float`"),
        ('created_at = { from = "x", date = "dd.mm" }', "created_at.date: 'dd.mm': the year is missing"),
        (f'created_at = {{ from = "x", date = "{HALF}" }}', f"created_at.date: '{HALF}': longer than 100 characters"),
        ('address_1 = { join = ["x", "y", "x"] }', "address_1.join: 'x' is repeated"),
    ],
    ("[stores.fields]\ncity = ", "stores.fields.city"): [
        ("5", ': expected a column, or a table such as { join = ["Street", "Number"] }'),
        ('{ form = "x" }', ".form: unknown key; did you mean from?"),
        ('{ column = "x" }', f".column: unknown key; the keys are {ENTRY_KEYS}"),
        ('{ default = "x" }', ": expected one of from, join, first, constant"),
        ('{ from = "x", join = ["y"] }', ": expected one of from, join, first, constant, found from and join"),
        ("{ from = 5 }", ".from: expected `str`, got `int`"),
        ('{ constant = "x", default = "y" }', ".default: not used, because the field is a constant"),
        ('{ from = "x", separator = "y" }', ".separator: not used, because there is no join"),
        ('{ from = "x", closing_date = "y" }', ".closing_date: only is_open of stores has a closing date"),
        ('{ from = "x", split = "," }', PART),
        ('{ from = "x", part = 1 }', PART),
        ('{ from = "x", split = "", part = 1 }', ".split: expected `str` of length >= 1"),
        (f'{{ from = "x", split = "{LONG}", part = 1 }}', ".split: expected `str` of length <= 200"),
        ('{ from = "x", split = ",", part = 3 }', ".part: expected `int` <= 2"),
        ('{ constant = "x", pad = 5 }', ".pad: not used, because the field is a constant"),
        ('{ constant = "x", split = ",", part = 1 }', ".split: not used, because the field is a constant"),
        ("{ join = [] }", ".join: expected `array` of length >= 1"),
        ("{ first = [] }", ".first: expected `array` of length >= 1"),
        ("{ first = [{ join = [] }] }", ".first[0].join: expected `array` of length >= 1"),
        ('{ first = ["x", { jion = [] }] }', ".first[1].jion: unknown key; did you mean join?"),
        ("{ first = [5] }", ".first[0]: expected `table`, got `int`"),
        ('{ from = "x", default = "" }', ".default: empty, but the field is required: fill it in"),
        ("{ constant = true }", ".constant: expected a text in quotes"),
        ('{ constant = " " }', ".constant: empty, but the field is required: fill it in"),
        ('{ from = "x", date = "dd.mm.yyyy" }', ".date: not used, because the field is not a date"),
        (f'{{ join = ["x", "y"], separator = "{LONG}" }}', ".separator: expected `str` of length <= 200"),
        (f'{{ first = [{{ join = ["x"], separator = "{LONG}" }}] }}', f".first[0].separator: {NO_LONGER}"),
        (f'{{ constant = "{LONG}" }}', ".constant: expected `str` of length <= 200"),
        (f'{{ from = "x", values = {{ a = "{LONG}" }} }}', ".values[...]: expected `str` of length <= 200"),
    ],
    ("[stores.fields]\nis_open = ", "stores.fields.is_open."): [
        ('{ from = "x", values = { yes = true, "im Umbau" = "" } }', "values.im Umbau: empty: give it true or false"),
        ('{ from = "x", other = "" }', "other: empty: give it true or false"),
        ('{ constant = true, closing_date = "y", default = true }', f"default: {NOT_USED}"),
        ('{ from = "x", date = "dd.mm.yyyy" }', "date: not used, because the field is not a date"),
        ('{ closing_date = "" }', "closing_date: expected `str` of length >= 1"),
        ('{ constant = "true" }', "constant: expected true or false"),
        ('{ from = "x", values = { a = "b" } }', "values.a: expected true or false"),
        ('{ from = "x", values = { A = true, a = false } }', "values.a: has another value in another case"),
    ],
    ("[companies.fields]\n", "companies.fields."): [
        ('store_id = "x"', "store_id: not a field; did you mean company_id?"),
        ('name = { closing_date = "y" }', "name.closing_date: only is_open of stores has a closing date"),
    ],
    ("[stores.attributes]\n", "stores.attributes"): [
        ("X = 'a'", ".X: expected a name of a-z, 0-9 and _ that begins with a letter, at most 63 characters"),
        ("city = 'a'", ".city: a field of the record has this name"),
        ("distance = 'a'", ".distance: a field of the record has this name"),
        ("a = { kind = 'flg' }", ".a.kind: no kind 'flg'; did you mean flag?"),
        ("a = { separator = ';' }", ".a.separator: only of kind list"),
        ("a = { kind = 'flag', search = true }", ".a.search: only of kind text or list"),
        ("a = { max_length = 20_000 }", ".a.max_length: expected `int` <= 16384"),
        ("a = { kind = 'list', separator = '' }", ".a.separator: expected from 1 to 10 characters"),
        ("a = { kind = 'number', decimal = ';' }", '.a.decimal: expected "." or ","'),
        ("a = { invalid = 'x' }", '.a.invalid: expected "null"'),
        ("a = { show = 'map' }", ".a.show: expected one of card, list, never"),
        ("a = { label = ' ' }", ".a.label: expected from 1 to 200 characters, without control characters"),
        (f"a = {{ group = '{'x' * 201}' }}", ".a.group: expected from 1 to 200 characters, without control characters"),
        ("a = { kind = 'number', pad = 5 }", ".a.pad: not used, because the field is not a text"),
        ("a = { closing_date = 'x' }", ".a.closing_date: only is_open of stores has a closing date"),
        ("a = 1", '.a: expected a column, or a table such as { from = "Web", kind = "url" }'),
        ("\n".join(f"a{n} = 'x'" for n in range(33)), ": expected at most 32 attributes, found 33"),
    ],
}
EACH = [(at + text, path + why) for (at, path), cases in REFUSED.items() for text, why in cases]


@pytest.mark.parametrize(("text", "why"), EACH, ids=range(len(EACH)))
def test_a_mapping_is_refused_with_its_key_and_the_nearest_name(text: str, why: str) -> None:
    assert str(refused(text.encode())) == why


def test_an_empty_constant_of_a_field_that_is_not_required_is_no_value() -> None:
    mapping = parse_mapping(b'[stores.fields]\nprovince = { constant = "" }')
    assert mapping.stores.fields == {"province": FieldMapping(constant="", default="")}


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
    error = refused(stored)
    assert (error.line, str(error)[: len(why)]) == (line, why)


@pytest.mark.parametrize("value", ["Ort", "“Ort”", "\u2019Ort\u2019"])
def test_a_text_without_straight_quotes_is_refused_with_what_to_do(value: str) -> None:
    error = refused(f"[stores.fields]\ncity = {value}".encode())
    assert error.why.endswith('; texts and names of columns are in straight quotes, as in city = "Ort"')


def test_a_mapping_may_have_a_byte_order_mark_and_line_ends_of_windows() -> None:
    assert parse_mapping(b'\xef\xbb\xbf[stores]\r\ndecimal = ","\r\n').stores.decimal == ","


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("overtrue", r"No such file or directory; did you mean overture\?$"),
        (".", "Is a directory$"),
        ("a\0b", ".*embedded null "),  # Pythons differ
        *((name, "it is not a regular file$") for name in ("/dev/null", "/dev/zero", "pipe")),
    ],
)
def test_a_mapping_that_cannot_be_read_is_refused(tmp_path: Path, name: str, why: str) -> None:
    if name == "pipe":  # which is not opened
        os.mkfifo(tmp_path / name)
        name = str(tmp_path / name)
    with pytest.raises(FileError, match=f"^the mapping cannot be read: {why}"):
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
    why = refused(text.encode()).why
    assert why.isprintable()
    assert len(why) < 3_000


@pytest.mark.parametrize("name", ["base64", "rot13", "punycode", "utf-7"])
def test_only_encodings_of_texts_are_suggested(name: str) -> None:
    _, _, hint = refused(f'[stores]\nencoding = "{name}"'.encode()).why.partition("; did you mean ")
    assert not hint or parse_encoding(hint.removesuffix("?"))


@pytest.mark.parametrize("table", [StoresTable, CompaniesTable, FieldTable, AttributeTable])
def test_every_number_has_a_range(table: type[msgspec.Struct]) -> None:
    kinds = {field.encode_name: field.type for field in inspect.type_info(table).fields}  # type: ignore[attr-defined]
    for key in (key for key, kind in kinds.items() if "IntType" in repr(kind)):
        for number in (10**30, -(10**30)):
            with pytest.raises(FileError, match=f"{key}: expected `int` [<>]="):
                read_table({key: number}, table, "stores")


SAMPLES = Path(__file__).parent
EXPECTED: dict[str, dict[str, dict[str, object]]] = {
    "all-the-places": {
        "k3Jx0w2mZ1pT9qLrV8sYcBnD4eA=": {
            "company_id": "Blue Heron Coffee", "name": "Pearl Street", "address_1": "812 Pearl Street",
            "city": "Boulder", "province": "CO", "country": "US", "postal_code": "80302",
            "phone_number": "+1 303-555-0147", "is_open": True, "latitude": "40.0181", "longitude": "-105.2797",
        },
        "Zq7Hs5uKf2oW6xNbE1tRjM9yGvC=": {
            "company_id": "Blue Heron Coffee", "name": "Blue Heron Coffee Golden", "address_1": "77 Ford Street",
            "city": "Golden", "country": "US", "is_open": False,
        },
        "aP4dC8iVx3lG7hSwU0kFzT6mQnB=": {
            "company_id": "Sorrel Books", "name": "Sorrel Books", "address_1": "Rynek 4, 50-106 Wrocław",
            "city": "Wrocław", "country": "PL", "is_open": True, "latitude": "51.1097", "longitude": "17.0326",
        },
    },
    "google-business-profile": {
        "LARK-01": {
            "company_id": "Larkspur Cycles", "name": "Larkspur Cycles", "address_1": "18 Mill Lane",
            "address_2": "Unit 3, Riverside Yard", "city": "Norwich", "province": "Norfolk", "country": "GB",
            "postal_code": "NR3 1AB", "phone_number": "01603 555017", "is_open": True,
            "latitude": "52.6343", "longitude": "1.2959",
        },
        "LARK-02": {
            "company_id": "Larkspur Cycles", "name": "Larkspur Cycles", "address_1": "2 High Street",
            "city": "Diss", "country": "GB", "is_open": True,
        },
    },
    "openstreetmap": {
        "node/4419023001": {
            "company_id": "Kornblume", "name": "Kornblume", "address_1": "12a Lange Gasse",
            "city": "Freiburg im Breisgau", "country": "DE", "postal_code": "79098",
            "phone_number": "+49 761 5550123", "is_open": True, "latitude": "47.9951", "longitude": "7.8522",
        },
        "way/221907345": {
            "company_id": "Marktplatz 3 GmbH", "name": "Marktplatz 3 GmbH", "address_1": "3 Weiler",
            "city": "Weiler", "country": "DE", "is_open": False, "latitude": "47.9012", "longitude": "7.8101",
            "updated_at": "2024-03-09T11:20:00Z",
        },
    },
    "overture": {
        "08f2a1072c8a35080391f7f1e4a9c0d2": {
            "company_id": "Tall Pine Outfitters", "name": "Tall Pine Outfitters Portland",
            "address_1": "1420 NW Lovejoy St", "city": "Portland", "province": "OR", "country": "US",
            "postal_code": "97209-2533", "phone_number": "+15035550188", "is_open": True,
            "latitude": "45.5299", "longitude": "-122.6861", "updated_at": "2024-08-02T00:00:00Z",
        },
        "08f1f8a4d2b1c9290345b6c7d8e9f0a1": {
            "company_id": "Café Ondine", "name": "Café Ondine", "address_1": "9 Quai des Brumes", "city": "Gent",
            "country": "BE", "is_open": False, "latitude": "51.0543", "longitude": "3.7174",
            "updated_at": "2023-11-30T08:15:00Z",
        },
    },
}  # fmt: skip
# The third feature of the sample of OpenStreetMap is no valid store.
MISSING = [("missing", "city"), ("missing", "country")]
INVALID = {"openstreetmap": {"Kiosk am See"}}


def load(preset: str, file: RecordFile) -> Compiled:
    return compiled(load_mapping(preset), file)


def reported(loaded: Compiled) -> list[tuple[str, str | None]]:
    return [(each.code, each.field) for each in loaded.diagnostics]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_gives_the_stores_and_the_companies_of_its_source(preset: str) -> None:
    loaded = load(preset, sample(preset))
    assert reported(loaded) == (MISSING if preset == "openstreetmap" else [])
    known = [{name: value for name, value in store.items() if value is not None} for store in loaded.stores]
    assert {store.pop("store_id"): store for store in known} == EXPECTED[preset]
    companies = {store["company_id"] for store in EXPECTED[preset].values()} | INVALID.get(preset, set())
    assert {each["company_id"]: each["name"] for each in loaded.companies} == {each: each for each in companies}


def test_features_of_all_the_places_without_identifiers_have_that_of_the_spider() -> None:
    address = {"addr:full": "Rynek 4", "addr:city": "Wrocław", "addr:country": "PL"}
    shops = [{**address, "@spider": spider, "ref": "7", "brand": "Sorrel"} for spider in ("sorrel_pl", "sorrel_cz")]
    loaded = load("all-the-places", features(*shops))
    assert loaded.diagnostics == []
    assert sorted(each["store_id"] for each in loaded.stores) == ["sorrel_cz/7", "sorrel_pl/7"]


def as_overpass(features: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return features as the elements that they were exported from: nodes, and ways with their centre."""
    elements = []
    for feature in features:
        properties = feature["properties"]
        kind, _, number = properties["@id"].partition("/")
        longitude, latitude = feature["geometry"]["coordinates"]
        point = {"lat": latitude, "lon": longitude}
        location = point if kind == "node" else {"center": point, "nodes": [1, 2]}
        timestamp = {"timestamp": properties["@timestamp"]} if "@timestamp" in properties else {}
        tags = {name: value for name, value in properties.items() if not name.startswith("@")}
        elements.append({"type": kind, "id": int(number), **location, **timestamp, "tags": tags})
    return elements


@pytest.mark.parametrize("indent", [None, 1])
def test_openstreetmap_as_overpass_returns_it_gives_the_stores_of_its_geojson(indent: int | None) -> None:
    elements = as_overpass(json.loads((SAMPLES / "openstreetmap.geojson").read_text("utf-8"))["features"])
    for value in (elements, {"version": 0.6, "osm3s": {"copyright": "x"}, "elements": elements}):
        text = json.dumps(value, indent=indent).encode()
        loaded = load("openstreetmap", open_file(text, format_of(text, FORMATS["json"], STORES)))
        assert loaded.version == load("openstreetmap", sample("openstreetmap")).version
        assert reported(loaded) == MISSING


def test_openstreetmap_as_osmtogeojson_writes_it() -> None:
    shop = {"shop": "kiosk", "name": "Ei", "addr:full": "A 1", "addr:city": "Ulm", "addr:country": "DE"}
    square = {"type": "Polygon", "coordinates": [[[9, 48], [10, 48], [10, 49], [9, 48]]]}
    properties = {"timestamp": "2024-03-09T11:20:00Z", **shop, "id": "way/7"}
    loaded = load("openstreetmap", features(properties, geometry=square))
    assert loaded.diagnostics == []
    (found,) = loaded.stores
    assert (found["store_id"], found["updated_at"]) == ("way/7", "2024-03-09T11:20:00Z")
    assert (found["latitude"], found["longitude"]) == ("48.5", "9.5")
