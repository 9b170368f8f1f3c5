"""Attributes: columns that a mapping declares, read as their kinds."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from service.engine.results import WRITERS
from service.engine.select import ordered
from service.loading.dataset import Loaded, load
from service.model.query import Query
from service.reading.diagnostics import FileError
from service.reading.mapping.mapping_file import parse_mapping

COMPANIES = "company_id,name\nc,Comp\n"


def loaded(folder: Path, declared: str, column: str, *values: str) -> Loaded:
    """Load stores with a column of one attribute `x`, which the mapping declares."""
    rows = [f'{index},c,a,Berlin,DE,"{value}"\n' for index, value in enumerate(values)]
    (folder / "stores.csv").write_text(f"store_id,company_id,address_1,city,country,{column}\n{''.join(rows)}", "utf-8")
    (folder / "companies.csv").write_text(COMPANIES, "utf-8")
    (folder / "mapping.toml").write_text(f"[stores.attributes]\nx = {declared}\n", "utf-8")
    return load(folder)


def served(found: Loaded) -> list[Any]:
    assert found.dataset is not None
    stores = found.dataset.stores
    return [orjson.loads(stores.row(number))["attributes"]["x"] for number in range(len(stores))]


def written(found: Loaded) -> list[str]:
    """Return the value of each store as its JSON is written."""
    assert found.dataset is not None
    stores = found.dataset.stores
    return [bytes(stores.row(number)).decode().split('"attributes":{"x":')[1][:-2] for number in range(len(stores))]


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ('"C"', "Mo-Sa 08:00-20:00", '"Mo-Sa 08:00-20:00"'),
        ('"C"', " ", "null"),
        ('{ from = "C", kind = "number" }', "+007.50", "7.50"),
        ('{ from = "C", kind = "number" }', "1E+5", "1E+5"),
        ('{ from = "C", kind = "number" }', "-.5", "-0.5"),
        ('{ from = "C", kind = "number" }', "5.", "5"),
        ('{ from = "C", kind = "number", decimal = "," }', "1,50", "1.50"),
        ('{ from = "C", kind = "flag" }', "yes", "true"),
        ('{ from = "C", kind = "flag" }', "", "null"),
        ('{ from = "C", kind = "flag", values = { "ja" = true } }', "Ja", "true"),
        ('{ from = "C", kind = "list" }', "wifi; parking;;wifi", '["wifi","parking","wifi"]'),
        ('{ from = "C", kind = "list" }', " ; ", "null"),
        ('{ from = "C", kind = "list", separator = ", " }', "a, b,c", '["a","b,c"]'),
        ('{ from = "C", kind = "list", values = { "W" = "wifi" }, other = "other" }', "w;x", '["wifi","other"]'),
        ('{ from = "C", kind = "url" }', " HTTPS://a.example/x?y#z ", '"HTTPS://a.example/x?y#z"'),
        ('{ from = "C", kind = "date" }', "2019-02-01T23:30:00-05:00", '"2019-02-01"'),
        ('{ from = "C", kind = "date", date = "dd.mm.yyyy hh:mm" }', "01.02.2019 12:30", '"2019-02-01"'),
        ('{ from = "C", kind = "date", date = "dd.mm.yyyy" }', "2019-02-01", '"2019-02-01"'),
        ('{ from = "C", default = "none" }', "", '"none"'),
        ('{ constant = "k" }', "", '"k"'),
    ],
)
def test_a_value_is_served_in_the_form_of_its_kind(tmp_path: Path, declared: str, value: str, expected: str) -> None:
    assert written(loaded(tmp_path, declared, "C", value)) == [expected]


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("number", "7,5", "type"),
        ("number", "1e999", "type"),
        ("flag", "perhaps", "type"),
        ("url", "ftp://a.example", "type"),
        ("url", "https://user@a.example", "type"),
        ("url", "https://a b", "type"),
        ("url", "http://:80", "type"),
        ("url", "https:///a", "type"),
        ("date", "2019-02-30", "date"),
        ("text", "a\x01b", "text"),
        ("text", "x" * 1025, "length"),
        ("text", "ä" * 513, "length"),
        ("list", "x" * 500 + ";" + "y" * 600, "length"),
    ],
)
def test_a_value_of_another_kind_is_an_error_or_null_with_a_warning_of_the_same_code(
    tmp_path: Path, kind: str, value: str, code: str
) -> None:
    refused = loaded(tmp_path, f'{{ from = "C", kind = "{kind}" }}', "C", value, "")
    assert [(error.code, error.field, error.record) for error in refused.report.errors] == [(code, "attributes.x", 1)]
    accepted = loaded(tmp_path, f'{{ from = "C", kind = "{kind}", invalid = "null" }}', "C", value, "")
    warnings = [warning.code for warning in accepted.report.warnings if warning.field == "attributes.x"]
    assert (served(accepted), warnings) == ([None, None], [code])


@pytest.mark.parametrize("character", ["\x01", "\x0b", "\x1c", "\x1d", "\x1e", "\x1f", "\x85"])
@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("number", "7.5"),
        ("flag", "yes"),
        ("url", "https://a.example"),
        ("date", "2019-02-01"),
        ("text", "a"),
        ("list", "a;b"),
    ],
)
def test_a_control_character_around_a_value_of_any_kind_is_an_error(
    tmp_path: Path, kind: str, value: str, character: str
) -> None:
    found = loaded(tmp_path, f'{{ from = "C", kind = "{kind}" }}', "C", character + value, value + character, value)
    assert [(error.code, error.record) for error in found.report.errors] == [("text", 1), ("text", 2)]


@pytest.mark.parametrize("entry", ['{ join = ["C", "city"] }', '{ from = "C", split = ";", part = 1 }'])
def test_a_control_character_around_a_part_of_a_text_is_an_error(tmp_path: Path, entry: str) -> None:
    found = loaded(tmp_path, entry, "C", "\x1ca", "a\x1f", "a")
    assert [(error.code, error.record) for error in found.report.errors] == [("text", 1), ("text", 2)]


@pytest.mark.parametrize("others", [(), ("x",)])
def test_a_point_is_an_error_where_decimal_commas_are_declared(tmp_path: Path, others: Sequence[str]) -> None:
    declared = '{ from = "C", kind = "number", decimal = "," }'
    found = loaded(tmp_path, declared, "C", "7.5", "8", *others)
    assert [(error.code, error.record) for error in found.report.errors][:1] == [("type", 1)]


def unused(folder: Path, mapping: str) -> list[tuple[str, str | None]]:
    """Load the files of a folder with a mapping; return the columns that have a warning, by file."""
    (folder / "mapping.toml").write_text(mapping)
    found = load(folder)
    assert found.dataset is not None
    return [(each.file, each.field) for each in found.report.warnings if each.code == "unused"]


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_columns_are_reported_as_unused_unless_fields_are_mapped(tmp_path: Path, ending: str) -> None:
    store = {
        "store_id": "1",
        "company_id": "c",
        "address_1": "a",
        "city": "b",
        "country": "DE",
        "Hours": "8",
        "Web": "w",
    }
    lines = ",".join(store) + "\n" + ",".join(store.values()) + "\n"
    name = f"stores.{ending}"
    (tmp_path / name).write_bytes(lines.encode() if ending == "csv" else orjson.dumps([store]))
    (tmp_path / "companies.csv").write_text(COMPANIES)
    assert unused(tmp_path, "") == [(name, "Hours"), (name, "Web")]
    assert unused(tmp_path, '[stores.attributes]\nx = "Hours"') == [(name, "Web")]
    assert unused(tmp_path, '[stores.attributes]\nx = "Hours"\n[stores.fields]\nname = "Web"') == []
    assert unused(tmp_path, '[stores.attributes]\nx = "Hours"\n[stores.fields]\nname = "city"') == []
    (tmp_path / "companies.csv").unlink()
    derived = '[stores.attributes]\nx = "Hours"\n[companies]\nfrom = "stores"\n'
    assert unused(tmp_path, f'{derived}[companies.attributes]\ny = "Web"') == unused(tmp_path, derived) == []


def test_an_attribute_leaves_the_columns_of_fields_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "stores.csv").write_text("store_id,company_id,address_1,city,country,Name,Hours\n1,c,a,b,DE,Mitte,8\n")
    (tmp_path / "companies.csv").write_text(COMPANIES)
    assert unused(tmp_path, '[stores.attributes]\nx = "Hours"') == [("stores.csv", "Name")]


def test_the_error_about_a_missing_column_of_an_attribute_without_a_source_says_how_to_name_one(tmp_path: Path) -> None:
    (error,) = loaded(tmp_path, '{ kind = "list" }', "C", "a").report.errors
    assert error.why.endswith("'attributes.x' (of attributes.x; name a column of the file with `from`)")


def test_an_attribute_without_a_source_takes_the_column_of_its_name_in_an_export(tmp_path: Path) -> None:
    assert served(loaded(tmp_path, '{ kind = "list" }', "attributes.x", "a;b")) == [["a", "b"]]


def test_arrays_of_json_are_lists_of_their_texts_and_numbers(tmp_path: Path) -> None:
    store = {"store_id": "1", "company_id": "c", "address_1": "a", "city": "b", "country": "DE"}
    values: list[Any] = [["a;b", 1.50, None, " c "], [], "d;e", None]
    stores = [store | {"store_id": str(index), "tags": value} for index, value in enumerate(values)]
    (tmp_path / "stores.json").write_bytes(orjson.dumps(stores))
    (tmp_path / "companies.csv").write_text(COMPANIES)
    (tmp_path / "mapping.toml").write_text('[stores.attributes]\nx = { from = "tags", kind = "list" }')
    assert served(load(tmp_path)) == [["a;b", "1.5", "c"], None, ["d", "e"], None]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("X = 'a'", "stores.attributes.X: expected a name of a-z, 0-9 and _"),
        ("city = 'a'", "stores.attributes.city: a field of the record has this name"),
        ("distance = 'a'", "stores.attributes.distance: a field of the record has this name"),
        ("a = { kind = 'flg' }", "stores.attributes.a.kind: no kind 'flg'; did you mean flag?"),
        ("a = { separator = ';' }", "stores.attributes.a.separator: only of kind list"),
        ("a = { kind = 'flag', search = true }", "stores.attributes.a.search: only of kind text or list"),
        ("a = { max_length = 20_000 }", "stores.attributes.a.max_length: expected `int` <= 16384"),
        ("a = { invalid = 'x' }", 'stores.attributes.a.invalid: expected "null"'),
        ("a = { closing_date = 'x' }", "stores.attributes.a.closing_date: only is_open of stores has a closing date"),
        ("a = 1", "stores.attributes.a: expected a column, or a table"),
        ("\n".join(f"a{n} = 'x'" for n in range(33)), "stores.attributes: expected at most 32 attributes, found 33"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_key(entry: str, why: str) -> None:
    with pytest.raises(FileError) as refused:
        parse_mapping(f"[stores.attributes]\n{entry}".encode())
    assert str(refused.value).startswith(why)


@pytest.mark.parametrize(
    "change", ['kind = "url"', "search = true", "filter = false", 'kind = "list", separator = ","']
)
def test_the_data_version_depends_on_what_a_client_can_notice_of_the_declaration(tmp_path: Path, change: str) -> None:
    def version(declared: str) -> str:
        dataset = loaded(tmp_path, declared, "C", "").dataset
        assert dataset is not None
        return dataset.version

    plain = version('"C"')
    assert version(f'{{ from = "C", {change} }}') != plain
    assert version('{ from = "C", max_length = 5, invalid = "null" }') == plain


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_an_export_can_be_loaded_again(tmp_path: Path, ending: str) -> None:
    first = loaded(tmp_path, '{ from = "C", kind = "list" }', "C", "a;b", "", "c").dataset
    assert first is not None
    again = tmp_path / "again"
    again.mkdir()
    resource, query = first.schema.stores, Query()
    pieces = WRITERS[ending](resource, first.stores, query, ordered(first.stores, query))
    (again / f"stores.{ending}").write_bytes(b"".join(map(bytes, pieces)))
    (again / "companies.csv").write_text(COMPANIES)
    (again / "mapping.toml").write_text('[stores.attributes]\nx = { kind = "list" }\n')
    second = load(again)
    assert (second.report.errors, second.dataset and second.dataset.version) == ([], first.version)


def test_each_cell_of_a_list_is_split_into_its_parts_first(tmp_path: Path) -> None:
    declared = '{ from = "C", kind = "list", split = ":", part = 2 }'
    assert served(loaded(tmp_path, declared, "C", "has: wifi; parking", "none")) == [["wifi", "parking"], None]


@pytest.mark.parametrize("separator", ['"', "\n", "\r", "|"])
def test_lists_in_csv_are_quoted_where_their_separator_needs_it(tmp_path: Path, separator: str) -> None:
    declared = f'{{ from = "C", kind = "list", separator = {orjson.dumps(separator).decode()} }}'
    found = loaded(tmp_path, declared, "C", separator.join(["a", "b"]).replace('"', '""'), "c")
    assert found.dataset is not None
    table, query = found.dataset.stores, Query(fields=("attributes.x", "store_id"))
    text = b"".join(WRITERS["csv"](found.dataset.schema.stores, table, query, ordered(table, query))).decode()
    cells = [row["attributes.x"] for row in csv.DictReader(StringIO(text, newline=""))]
    assert cells == [separator.join(["a", "b"]), "c"]


def test_a_flag_of_json_is_shown_as_written_in_an_error(tmp_path: Path) -> None:
    (tmp_path / "stores.json").write_text(
        '[{"store_id":"1","company_id":"c","address_1":"a","city":"B","country":"DE","C":true}]', "utf-8"
    )
    (tmp_path / "companies.csv").write_text(COMPANIES, "utf-8")
    (tmp_path / "mapping.toml").write_text('[stores.attributes]\nx = { from = "C", kind = "number" }\n', "utf-8")
    assert [error.value for error in load(tmp_path).report.errors] == ["true"]
