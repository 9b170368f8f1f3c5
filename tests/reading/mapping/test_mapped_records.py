"""Records are made of columns, and locations of points, as a mapping declares: a mapped file equals its strict twin."""

import json
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from service.model.records import COMPANIES, STORES
from service.reading.batch import BATCH_SIZE, Cell, Invalid, WrongType
from service.reading.columns.dates import MAX_CACHED, cached_converter
from service.reading.diagnostics import FileError, Issue
from service.reading.formats.csv_file import open_csv
from service.reading.formats.json_file import open_json
from service.reading.mapping.conversions import without
from service.reading.mapping.mapped_records import MappedRecords, has_columns
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.mapping.points import POINTS, coordinate
from tests.loading.data_files import DERIVED, as_csv, dataset, load_files, store
from tests.reading.mapping.record_files import Records, compiled, table

STRICT = """
store_id,company_id,name,address_1,city,province,country,postal_code,is_open,latitude,longitude,created_at,updated_at
s1,c1,Mitte,"Lange Gasse 3",Köln,,DE,50667,true,50.9375,6.9603,2024-05-31,2024-06-01T08:30:00+02:00
s2,c1,,Markt,Bonn,,DE,,false,50.7374,7.0982,,2024-01-01T00:00:00+01:00
s3,c2,Süd,"Am Hang 12a",Köln,,AT,1010,true,,,2020-02-29,
"""
COMPANIES_CSV = "company_id,name\nc1,Kette Eins\nc2,Kette Zwei\n"
GERMAN = """
Filial-Nr,Kette,Bezeichnung,Name,Straße,Hausnummer,Ort,Land,PLZ,Status,Breite,Länge,Eröffnet,Geändert
s1,c1,Mitte,x,Lange Gasse,3,Köln,Deutschland,50667,geöffnet,"50,9375","6,9603",31.05.2024,01.06.2024 08:30
s2,c1,k.A.,-, Markt,,Bonn,deutschland,n/a,Geschlossen,"50,7374","7,0982",,01.01.2024 00:00
s3,c2, ,Süd,Am Hang,12a,Köln,Österreich,1010,K.A.,,,29.02.2020,
"""
MAPPING = """
[stores]
decimal = ","
date = ["dd.mm.yyyy", "dd.mm.yyyy hh:mm"]
time_zone = "Europe/Berlin"
no_value = ["n/a", "k.A.", "-"]
[stores.fields]
store_id = "Filial-Nr"
company_id = "kette"
name = { first = ["Bezeichnung", "Name"] }
address_1 = { join = ["Straße", "Hausnummer"] }
city = "Ort"
country = { from = "Land", values = { Deutschland = "DE", "Österreich" = "AT" } }
postal_code = "PLZ"
is_open = { from = "Status", values = { "geöffnet" = true, geschlossen = false } }
latitude = "Breite"
longitude = "Länge"
created_at = { from = "Eröffnet", date = "dd.mm.yyyy" }
updated_at = "Geändert"
"""


def test_a_mapped_file_equals_its_strict_twin_to_the_byte(tmp_path: Path) -> None:
    # A date is midnight in the zone of the mapping.
    strict = STRICT.strip().replace("-05-31", "-05-31T00:00+02:00").replace("-02-29", "-02-29T00:00+01:00")
    twin = load_files(tmp_path, {"stores.csv": f"{strict}\n".encode(), "companies.csv": COMPANIES_CSV.encode()})
    mapped = compiled(MAPPING, table(GERMAN), table(COMPANIES_CSV))
    assert twin.report.errors == mapped.diagnostics == []
    assert mapped.version == dataset(twin).version


def test_plain_columns_are_passed_on_as_they_are() -> None:
    file = table(STRICT)
    records = MappedRecords(file, parse_mapping(b'[stores.fields]\nprovince = "city"').stores, STORES)
    (batch,) = file.batches(records.columns)
    (mapped,) = records.batches()
    assert mapped.columns["city"] is mapped.columns["province"]
    assert mapped.columns["city"] == batch.columns["city"]
    assert records.columns == [
        "store_id", "company_id", "name", "address_1", "city", "country", "postal_code", "is_open", "latitude",
        "longitude", "created_at", "updated_at",
    ]  # fmt: skip
    assert (mapped.numbers, mapped.lines(), mapped.unused) == (batch.numbers, batch.lines(), ())


REQUIRED = {"store_id": "s1", "company_id": "c1", "address_1": "1 Elm St", "city": "Ada", "country": "CA"}


def field(entry: str, cells: dict[str, Cell], *, name: str = "name", options: str = "", is_table: bool = True) -> Cell:
    """Return the cell of a field of a record."""
    file = Records([*REQUIRED, *cells], [{**REQUIRED, **cells}], is_table=is_table)
    declared = parse_mapping(f"[stores]\n{options}\n[stores.fields]\n{name} = {entry}".encode()).stores
    (batch,) = MappedRecords(file, declared, STORES).batches()
    return batch.columns[name][0]


COMMA = Issue("type", "expected a number such as 7,5, as the mapping declares, without thousands separators")
COORDINATES = Issue("type", "expected coordinates as 'lon lat', as the mapping declares")
FLAG = '{ from = "a", values = { x = false } }'
A_OTHER = '{ from = "a", values = { A = "x" }, other = "y" }'
# Of a table, whose cells are texts: an entry, the cells, what the field is.
OF_TABLES: list[tuple[str, dict[str, Cell], Cell]] = [
    ('"a"', {"a": " x "}, " x "),
    ('{ from = "a" }', {"a": ""}, ""),
    ('{ join = ["a", "b", "c"] }', {"a": "x", "b": " ", "c": " y"}, "x y"),
    ('{ join = ["a", "b"], separator = ", " }', {"a": "x", "b": "y"}, "x, y"),
    ('{ join = ["a", "b"] }', {"a": "", "b": ""}, ""),
    ('{ join = ["a", "b"], default = "z" }', {"a": "", "b": ""}, "z"),
    ('{ first = ["a", "b"] }', {"a": " ", "b": "y"}, "y"),
    ('{ first = ["a", { join = ["b", "c"], separator = "-" }] }', {"a": "", "b": "x", "c": "y"}, "x-y"),
    ('{ constant = "x" }', {}, "x"),
    ('{ from = "a", default = "x" }', {"a": "\t"}, "x"),
    ('{ from = "a", values = { A = "x" } }', {"a": " a "}, "x"),
    ('{ from = "a", values = { A = "x" } }', {"a": "b"}, "b"),
    (A_OTHER, {"a": "b"}, "y"),
    (A_OTHER, {"a": ""}, ""),
    ('{ from = "a", values = { A = "x" }, other = "y", default = "z" }', {"a": ""}, "z"),
    ('{ from = "a", split = " ", part = 1 }', {"a": " 61348 Bad Homburg"}, "61348"),
    ('{ from = "a", split = " ", part = 2 }', {"a": " 61348  Bad Homburg "}, "Bad Homburg"),
    ('{ from = "a", split = ", ", part = 2 }', {"a": "43,65, -79,40"}, "-79,40"),
    ('{ from = "a", split = ",", part = 1 }', {"a": "43.65"}, "43.65"),
    ('{ from = "a", split = ",", part = 2 }', {"a": "43.65"}, None),
    ('{ from = "a", split = ",", part = 2, default = "z" }', {"a": "43.65,"}, "z"),
    ('{ from = "a", pad = 5 }', {"a": " 1067 "}, "01067"),
    ('{ from = "a", pad = 5 }', {"a": "2108-1234"}, "02108-1234"),
    ('{ from = "a", pad = 5 }', {"a": "123456"}, "123456"),
    ('{ from = "a", pad = 5 }', {"a": "A1"}, "A1"),
    ('{ from = "a", pad = 5, default = "x" }', {"a": " "}, "x"),
    ('{ from = "a", split = " ", part = 1, pad = 5, values = { 01067 = "x" } }', {"a": "1067 Dresden"}, "x"),
    ('{ first = ["a", "b"], split = ",", part = 2 }', {"a": "", "b": "x,y"}, "y"),
    ('{ from = "a", split = ",", part = 2, values = { A = "x" } }', {"a": "b,a"}, "x"),
    # A column may be named in another case and spacing, and be missing if it is optional.
    ('"STORE-NAME"', {"Store name": "x"}, "x"),
    ('"Store name"', {"Store name": "x", "store_name": "y"}, "x"),
    ('{ from = "b", optional = true }', {"a": "x"}, None),
    ('{ first = ["b", "a"], optional = true }', {"a": "x"}, "x"),
    ('{ from = "b", optional = true, default = "y" }', {"a": "x"}, "y"),
]
# Of JSON: other types are accepted only where they are declared.
OF_JSON: list[tuple[str, dict[str, Cell], Cell]] = [
    ('"a"', {"a": True}, WrongType("true")),
    ('"a"', {"a": None}, None),
    ('{ join = ["a", "b"] }', {"a": None, "b": "y"}, "y"),
    ('{ join = ["a", "b"] }', {"a": "x", "b": WrongType("[]")}, WrongType("[]")),
    ('{ join = ["a", "b"] }', {"a": "x", "b": False}, WrongType("false")),
    ('{ first = ["a", "b"] }', {"a": WrongType("[]"), "b": "y"}, WrongType("[]")),
    ('{ from = "a", values = { true = "x" } }', {"a": True}, "x"),
    (A_OTHER, {"a": WrongType("[]")}, WrongType("[]")),
    ('{ from = "a", split = ",", part = 2 }', {"a": WrongType("[1, 2]")}, WrongType("[1, 2]")),
    ('{ from = "a", split = ",", part = 2 }', {"a": None}, None),
]
# With options of the resource, or of another field than `name`: its name, the options, an entry, cells, what it is.
DECIMALS = 'decimal = ","'
NO_VALUE = 'no_value = ["N/A", " Unbekannt"]'
OTHERS: list[tuple[str, str, str, dict[str, Cell], Cell]] = [
    ("is_open", "", FLAG, {"a": "X"}, False),
    ("is_open", "", FLAG, {"a": "no"}, "no"),
    ("latitude", DECIMALS, '"a"', {"a": "-1234,5"}, "-1234.5"),
    ("latitude", DECIMALS, '"a"', {"a": "7"}, "7"),
    ("latitude", DECIMALS, '"a"', {"a": "1.234,5"}, Invalid("1.234,5", COMMA)),
    # Both coordinates of one column.
    ("latitude", "", '{ from = "a", split = ";", part = 1 }', {"a": "43.65; -79.40"}, "43.65"),
    ("longitude", "", '{ from = "a", split = ";", part = 2 }', {"a": "43.65; -79.40"}, "-79.40"),
    ("latitude", DECIMALS, '{ from = "a", split = ", ", part = 1 }', {"a": "43,65, -79,40"}, "43.65"),
    ("longitude", DECIMALS, '{ from = "a", split = ", ", part = 2 }', {"a": "43,65, -79,40"}, "-79.40"),
    ("longitude", "", '{ from = "a", point = "lon lat" }', {"a": "POINT (10.75 59.91)"}, "10.75"),
    ("longitude", "", '{ from = "a", point = "lon lat" }', {"a": "?"}, Invalid("?", COORDINATES)),
    # Texts that mean no value do in all columns, whatever their case.
    ("name", NO_VALUE, '"a"', {"a": " n/a "}, None),
    ("name", NO_VALUE, '{ first = ["a", "b"] }', {"a": "UNBEKANNT", "b": "y"}, "y"),
    ("name", NO_VALUE, '"a"', {"a": "N/a "}, None),
    ("name", NO_VALUE, '"a"', {"a": "n/a."}, "n/a."),
]
OTHERS_OF_JSON: list[tuple[str, str, str, dict[str, Cell], Cell]] = [
    ("is_open", "", '"a"', {"a": False}, False),
    ("is_open", "", '{ first = ["a", "b"] }', {"a": False, "b": True}, False),
    ("latitude", DECIMALS, '"a"', {"a": None}, None),
    ("name", NO_VALUE, '"a"', {"a": WrongType("[]")}, WrongType("[]")),
]


@pytest.mark.parametrize(("entry", "cells", "expected"), OF_TABLES)
def test_a_field_is_made_as_its_entry_declares(entry: str, cells: dict[str, Cell], expected: Cell) -> None:
    assert field(entry, cells) == expected


@pytest.mark.parametrize(("entry", "cells", "expected"), OF_JSON)
def test_cells_of_other_types_are_accepted_where_declared(entry: str, cells: dict[str, Cell], expected: Cell) -> None:
    assert field(entry, cells, is_table=False) == expected


@pytest.mark.parametrize(("name", "options", "entry", "cells", "expected"), [*OTHERS, *OTHERS_OF_JSON])
def test_a_field_is_made_as_its_kind_and_the_options_need(
    name: str, options: str, entry: str, cells: dict[str, Cell], expected: Cell
) -> None:
    is_table = all(isinstance(cell, str) for cell in cells.values())
    assert field(entry, cells, name=name, options=options, is_table=is_table) == expected


class LookedUp(frozenset[str]):
    """Texts that are looked up, and never tried one after the other."""

    def __iter__(self) -> NoReturn:
        raise AssertionError


def test_the_time_for_a_cell_does_not_depend_on_how_many_texts_mean_no_value() -> None:
    texts = LookedUp(f"n/a {number}" for number in range(10_000))
    assert without(["N/A 7 ", "Ada", None, "n/a"], texts) == [None, "Ada", None, "n/a"]


def test_invalid_cells_are_errors_with_their_text_and_what_is_declared() -> None:
    changed = GERMAN.replace("29.02.2020", "2020-02-29").replace("6,9603", "6.9603")
    loaded = compiled(MAPPING, table(changed), table(COMPANIES_CSV))
    assert [(each.code, each.line, each.field, each.value, each.why) for each in loaded.diagnostics] == [
        ("type", 2, "longitude", "6.9603", COMMA.why),
        ("date", 4, "created_at", "2020-02-29", "expected a date as dd.mm.yyyy, as the mapping declares"),
    ]
    assert [each["store_id"] for each in loaded.stores] == ["s2"]


HEADER = "store_id,company_id,address_1,city,country,Store Name,STORE_NAME,Ort"
ROW = "s1,c1,1 Elm St,Ada,CA,a,b,c"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('"Orr"', "'Orr' (of name; did you mean 'Ort'?)"),
        ('"store name"', "'store name' (of name; use one of 'Store Name', 'STORE_NAME')"),
        ('"DE"', "'DE' (of name; a value of all records is { constant = \"DE\" })"),
        ('{ from = "DE", default = "x" }', "'DE' (of name)"),
        ('{ join = ["Ort", "Stat"] }', "'Stat' (of name)"),
        (
            '{ join = ["province", "xx"] }',
            "'province' (of name; that is a field of the service; name a column of the file), 'xx' (of name)",
        ),
        ('{ first = ["Ort", { join = ["qq"] }] }', "'qq' (of name)"),
        ('"Ort"\nstore_id = "xyz"', "'xyz' (of store_id)"),  # no constant
    ],
)
def test_columns_that_the_file_does_not_have_are_refused_with_the_nearest_name(entry: str, why: str) -> None:
    declared = parse_mapping(f"[stores.fields]\nname = {entry}\nprovince = {{ constant = 'ON' }}".encode()).stores
    with pytest.raises(FileError) as refused:
        MappedRecords(table(f"{HEADER}\n{ROW}"), declared, STORES)
    assert str(refused.value) == f"the mapping names columns that the file does not have: {why}"
    assert refused.value.line == 1


def test_json_without_records_has_all_columns_that_a_mapping_names() -> None:
    declared = parse_mapping(b"[stores.fields]\nname = 'Ort'\n[stores.attributes]\nhours = 'Zeiten'").stores
    assert list(MappedRecords(open_json(b"[]"), declared, STORES).batches()) == []
    with pytest.raises(FileError, match=r"'Ort' \(of name"):
        MappedRecords(open_json(b'[{"a": 1}]'), declared, STORES)


def test_required_fields_without_a_column_are_refused() -> None:
    declared = parse_mapping(b'[stores.fields]\nstore_id = { from = "No", optional = true }').stores
    with pytest.raises(FileError) as refused:
        MappedRecords(table("company_id,Town,Street\nc1,Ada,1 Elm St"), declared, STORES)
    assert str(refused.value) == (
        "missing columns: store_id (expected 'No'), address_1 (map it to 'Street'?), city (map it to 'Town'?), country"
        "; add an entry for each"
    )


def test_members_that_the_first_records_do_not_have_are_read_if_they_are_optional() -> None:
    records = Records(list(REQUIRED), [REQUIRED, {**REQUIRED, "late": "x"}], is_table=False)
    declared = parse_mapping(b'[stores.fields]\nname = { from = "late", optional = true }').stores
    (batch,) = MappedRecords(records, declared, STORES).batches()
    assert batch.columns["name"] == [None, "x"]
    with pytest.raises(FileError, match=r"'late' \(of name; if only some records have it, declare it optional\)"):
        MappedRecords(records, parse_mapping(b'[stores.fields]\nname = "late"').stores, STORES)


def test_derived_companies_are_those_of_the_stores_each_once_as_the_first_store_has_it() -> None:
    mapping = """
    [stores.fields]
    name = { constant = "x" }
    [companies]
    from = "stores"
    [companies.fields]
    company_id = "Kette"
    name = "Kettenname"
    """
    text = "store_id,Kette,Kettenname,address_1,city,country,created_at\n"
    rows = ["s0,,,a,b,CA,", "s1,c1,Eins,a,b,CA,2020-01-01", "s2,c2,Zwei,a,b,CA,", "s3,c1,1,a,b,CA,"]
    rows += [f"t{number},c{number % 3},N,a,b,CA," for number in range(2 * BATCH_SIZE)]
    loaded = compiled(mapping, table(text + "\n".join(rows)))
    assert {each["company_id"]: each["name"] for each in loaded.companies} == {"c0": "N", "c1": "Eins", "c2": "Zwei"}
    assert [(each.code, each.line, each.field) for each in loaded.diagnostics] == [("missing", 2, "company_id")]
    assert len(loaded.stores) == 3 + 2 * BATCH_SIZE


def test_companies_with_a_file_of_their_own_are_mapped_too() -> None:
    mapping = parse_mapping(b'[companies.fields]\ncompany_id = "Nr"\nname = { join = ["Firma", "Form"] }').companies
    (batch,) = MappedRecords(table("Nr,Firma,Form\nc1,Eins,AG"), mapping, COMPANIES).batches()
    found = {name: list(cells) for name, cells in batch.columns.items() if any(cells)}
    assert found == {"company_id": ["c1"], "name": ["Eins AG"]}


def test_converted_texts_are_cached_within_a_limit() -> None:
    calls: list[str] = []

    def convert(text: str) -> Cell:
        calls.append(text)
        return text

    converted = cached_converter(convert)
    assert [*map(converted, ["a", "a", " a", None, "", True])] == ["a", "a", "a", None, "", True]
    assert calls == ["a", "a"]
    for number in range(MAX_CACHED):
        converted(str(number))
    converted("a")
    assert calls.count("a") == 3


def test_of_several_delimiters_that_is_taken_with_which_the_columns_of_a_mapping_are_found() -> None:
    mapping = parse_mapping(b'[stores.fields]\naddress_1 = "Street, No"\ncity = "Town"').stores
    finds = partial(has_columns, mapping=mapping, resource=STORES)
    file = open_csv(b"store_id;company_id;Street, No;Town;country\n", finds=finds)
    assert file.names == ["store_id", "company_id", "Street, No", "Town", "country"]
    with pytest.raises(FileError, match="which of them delimit columns is unclear"):
        open_csv(b"store_id;company_id;Street, No;Place;country\n", finds=finds)


TEXTS = [
    ("lon lat", "POINT (10.75 59.910)", ("59.910", "10.75")),
    ("lon lat", "SRID=4326;POINT Z(10.75 59.91 12)", ("59.91", "10.75")),
    ("lon lat", '{"type": "Point", "coordinates": [10.75, -59.91]}', ("-59.91", "10.75")),
    ("lat lon", "(59.91, 10.75)", ("59.91", "10.75")),
    ("lat lon", "59.91,-10.75", ("59.91", "-10.75")),
    ("lat lon", "59.91N 10.75W", ("59.91", "-10.75")),
    ("lat lon", "E 10.75, S 59.91", ("-59.91", "10.75")),
    ("lat lon", "59\xb054'36\"N 10\xb045'0\"E", ("59.91", "10.75")),
    ("lat lon", "+59.91-10.75/", ("59.91", "-10.75")),
    ("degrees", "52.370216N", ("52.370216", None)),
    ("degrees", "13\xb0 30\u2032 W", (None, "-13.5")),
    ("lat lon", "1 Main St\nOslo\n(59.91, 10.75)", ("59.91", "10.75")),
    ("lon lat", "MULTIPOINT ((10.75 59.91))", ("59.91", "10.75")),
    ("degrees", "4321", (None, None)),
]
NOWHERE = ["1 Main St\n(59.91, 10.75) x", "nowhere", "1 2 3 4", "0120 045", "1234.5 43.6", f"59.{'1' * 21} 10.75"]


@pytest.mark.parametrize(
    ("notation", "text", "expected"), [*TEXTS, *(("lat lon", text, (None, None)) for text in NOWHERE)]
)
def test_a_coordinate_is_taken_from_a_text(notation: str, text: str, expected: tuple[str | None, str | None]) -> None:
    assert tuple(coordinate(text, POINTS[notation], name) for name in ("latitude", "longitude")) == expected


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"lat": "59.91", "lon": "10.75"}, "'lat' and 'lon'"),
        ({"x1": "59.9123", "x2": "10.7512"}, "'x1' and 'x2'"),
        ({"place": "POINT (10.75 59.91)"}, "'place'"),
        ({"Breite": "N 59,91", "Länge": "E 10,75"}, "'Breite' and 'Länge'"),
        ({"x1": "59.9123", "x2": "7"}, None),
        ({"lat": "north", "lon": "east"}, None),
        ({"latitude": "59.91", "longitude": "10.75", "lat": "59.91", "lon": "10.75"}, None),
    ],
)
def test_a_file_without_any_location_names_the_columns_that_seem_to_have_them(
    tmp_path: Path, columns: dict[str, str], found: str | None
) -> None:
    records = [{**store(), **columns}, {**store("s2"), **dict.fromkeys(columns, "")}]
    for name, content in (("stores.csv", as_csv(records, list(records[0]))), ("stores.json", json.dumps(records))):
        text = content.encode() if isinstance(content, str) else content
        warnings = load_files(tmp_path / name, {name: text, "mapping.toml": DERIVED.encode()}).report.warnings
        located = [each.why for each in warnings if each.code == "locations"]
        assert [each.partition("to be in ")[2].partition(":")[0] for each in located] == [found] * (found is not None)
