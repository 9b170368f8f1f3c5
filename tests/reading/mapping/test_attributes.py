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
from service.loading.dataset import Loaded
from service.model.query import Query
from tests.loading.data_files import DERIVED, as_csv, as_json, dataset, load_mapped, rows, served, store

REQUIRED = "store_id,company_id,address_1,city,country"


def loaded(folder: Path, declared: str, column: str, *values: str) -> Loaded:
    """Load stores with a column of one attribute `x`, which the mapping declares."""
    rows = [f'{index},c1,a,Berlin,DE,"{value}"\n' for index, value in enumerate(values)]
    return load_mapped(folder, f"[stores.attributes]\nx = {declared}\n", f"{REQUIRED},{column}\n{''.join(rows)}")


def values(found: Loaded) -> list[Any]:
    return [store["attributes"]["x"] for store in served(found)]


def written(found: Loaded) -> list[str]:
    """Return the value of each store as its JSON is written."""
    return [row.decode().split('"attributes":{"x":')[1][:-3] for row in rows(found)]


def file(found: Loaded, ending: str, query: Query) -> bytes:
    """Return a file of the stores."""
    table = dataset(found).stores
    return b"".join(map(bytes, WRITERS[ending](dataset(found).schema.stores, table, query, ordered(table, query))))


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
        ('{ join = ["C", "city"], kind = "list" }', "wifi;bar", '["wifi","bar","Berlin"]'),
        ('{ from = "C", kind = "list", separator = ", " }', "a, b,c", '["a","b,c"]'),
        ('{ from = "C", kind = "list", values = { "W" = "wifi" }, other = "other" }', "w;x", '["wifi","other"]'),
        ('{ from = "C", kind = "list", split = ":", part = 2 }', "has: wifi; parking", '["wifi","parking"]'),
        ('{ from = "C", kind = "list", split = ":", part = 2 }', "none", "null"),
        ('{ from = "C", kind = "url" }', " HTTPS://a.example/x?y#z ", '"HTTPS://a.example/x?y#z"'),
        ('{ from = "C", kind = "image" }', " https://a.example/x.png ", '"https://a.example/x.png"'),
        ('{ from = "C", kind = "email" }', " Info@a.example ", '"Info@a.example"'),
        ('{ from = "C", kind = "phone" }', " +49 (30) 123-45/6; ext. 7 ", '"+49 (30) 123-45/6; ext. 7"'),
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
        ("image", "http://a.example/x.png", "type"),
        *(("email", text, "type") for text in ("a.example", "@a.example", "a@", "a@b@c", "a b@c.example")),
        *(("phone", text, "type") for text in ("1234", "12345,6", "12345_6", "call us", "\uff11" * 5, "1234\n56")),
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
    assert (values(accepted), warnings) == ([None, None], [code])


CONTROLS = ("\x01", "\x0b", "\x1c", "\x1d", "\x1e", "\x1f", "\x85")


@pytest.mark.parametrize(
    ("kind", "value"),
    [("number", "7.5"), ("flag", "yes"), ("url", "https://a.example"), ("date", "2019-02-01"), ("text", "a"),
     ("image", "https://a.example"), ("email", "a@b"), ("phone", "12345"),
     ("list", "a;b")],
)  # fmt: skip
def test_a_control_character_around_a_value_of_any_kind_is_an_error(tmp_path: Path, kind: str, value: str) -> None:
    cells = [text for control in CONTROLS for text in (control + value, value + control)]
    found = loaded(tmp_path, f'{{ from = "C", kind = "{kind}" }}', "C", value, *cells)
    assert [(error.code, error.value) for error in found.report.errors] == [("text", cell) for cell in cells]


@pytest.mark.parametrize("entry", ['{ join = ["C", "city"] }', '{ from = "C", split = ";", part = 1 }'])
def test_a_control_character_around_a_part_of_a_text_is_an_error(tmp_path: Path, entry: str) -> None:
    found = loaded(tmp_path, entry, "C", "\x1ca", "a\x1f", "a")
    assert [(error.code, error.record) for error in found.report.errors] == [("text", 1), ("text", 2)]


@pytest.mark.parametrize("others", [(), ("x",)])
def test_a_point_is_an_error_where_decimal_commas_are_declared(tmp_path: Path, others: Sequence[str]) -> None:
    declared = '{ from = "C", kind = "number", decimal = "," }'
    found = loaded(tmp_path, declared, "C", "7.5", "8", *others)
    why = "expected a number such as 7,5, as the mapping declares, without thousands separators"
    assert [(error.code, error.record, error.why) for error in found.report.errors][:1] == [("type", 1, why)]


@pytest.mark.parametrize("name", ["stores.csv", "stores.json"])
def test_columns_are_reported_as_unused_unless_fields_are_mapped(tmp_path: Path, name: str) -> None:
    record = store(Hours="8", Web="w")
    content = as_csv([record], list(record)) if name.endswith("csv") else as_json([record])

    def unused(mapping: str) -> list[str | None]:
        found = load_mapped(tmp_path, mapping, content, name)
        assert found.report.errors == []
        return [each.field for each in found.report.warnings if each.code == "unused" and each.file == name]

    attribute = '[stores.attributes]\nx = "Hours"\n'
    assert unused("") == ["Hours", "Web"]
    assert unused(attribute) == ["Web"]
    assert unused(f'{attribute}[stores.fields]\nname = "Web"') == []
    assert unused(f'{attribute}[stores.fields]\nname = "city"') == []
    assert unused(f'{attribute}{DERIVED}[companies.attributes]\ny = "Web"') == unused(attribute + DERIVED) == []


def test_an_attribute_leaves_the_columns_of_fields_as_they_are(tmp_path: Path) -> None:
    text = f"{REQUIRED},Name,Hours\n1,c1,a,b,DE,Mitte,8\n"
    found = load_mapped(tmp_path, '[stores.attributes]\nx = "Hours"', text)
    assert [each.field for each in found.report.warnings] == ["Name"]


def test_the_error_about_a_missing_column_of_an_attribute_without_a_source_says_how_to_name_one(tmp_path: Path) -> None:
    (error,) = loaded(tmp_path, '{ kind = "list" }', "C", "a").report.errors
    assert error.why.endswith("'attributes.x' (of attributes.x; name a column of the file with `from`)")


def test_an_attribute_without_a_source_takes_the_column_of_its_name_in_an_export(tmp_path: Path) -> None:
    assert values(loaded(tmp_path, '{ kind = "list" }', "attributes.x", "a;b")) == [["a", "b"]]


def test_arrays_of_json_are_lists_of_their_texts_and_numbers(tmp_path: Path) -> None:
    tags: list[Any] = [["a;b", 1.50, None, " c "], [], "d;e", None]
    stores = as_json([store(f"{index}", tags=value) for index, value in enumerate(tags)])
    mapping = '[stores.attributes]\nx = { from = "tags", kind = "list" }'
    found = values(load_mapped(tmp_path, mapping, stores, "stores.json"))
    assert found == [["a;b", "1.5", "c"], None, ["d", "e"], None]


@pytest.mark.parametrize(
    "change",
    [
        *('kind = "url"', "search = true", "filter = false", 'kind = "list", separator = ","'),
        *('label = "X"', 'group = "X"', 'show = "never"'),
    ],
)
def test_the_data_version_depends_on_what_a_client_can_notice_of_the_declaration(tmp_path: Path, change: str) -> None:
    def version(declared: str) -> str:
        return dataset(loaded(tmp_path, declared, "C", "")).version

    plain = version('"C"')
    assert version(f'{{ from = "C", {change} }}') != plain
    assert version('{ from = "C", max_length = 5, invalid = "null" }') == plain


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
def test_an_export_can_be_loaded_again(tmp_path: Path, ending: str) -> None:
    first = loaded(tmp_path, '{ from = "C", kind = "list" }', "C", "a;b", "", "c")
    mapping = '[stores.attributes]\nx = { kind = "list" }\n'
    second = load_mapped(tmp_path, mapping, file(first, ending, Query()), f"stores.{ending}")
    assert (second.report.errors, dataset(second).version) == ([], dataset(first).version)


@pytest.mark.parametrize("separator", ['"', "\n", "\r", "|"])
def test_lists_in_csv_are_quoted_where_their_separator_needs_it(tmp_path: Path, separator: str) -> None:
    declared = f'{{ from = "C", kind = "list", separator = {orjson.dumps(separator).decode()} }}'
    found = loaded(tmp_path, declared, "C", separator.join(["a", "b"]).replace('"', '""'), "c")
    text = file(found, "csv", Query(fields=("attributes.x", "store_id"))).decode()
    cells = [row["attributes.x"] for row in csv.DictReader(StringIO(text, newline=""))]
    assert cells == [separator.join(["a", "b"]), "c"]


def test_a_flag_of_json_is_shown_as_written_in_an_error(tmp_path: Path) -> None:
    mapping = '[stores.attributes]\nx = { from = "C", kind = "number" }\n'
    found = load_mapped(tmp_path, mapping, as_json([store(C=True)]), "stores.json")
    assert [error.value for error in found.report.errors] == ["true"]


@pytest.mark.parametrize("tags", [["a", [1]], ["a", {"a": 1}], ["a", True], {"a": 1}])
def test_an_array_of_json_with_other_values_is_no_list_nor_is_an_object(tmp_path: Path, tags: object) -> None:
    mapping = '[stores.attributes]\nx = { from = "tags", kind = "list" }'
    found = load_mapped(tmp_path, mapping, as_json([store("1", tags=tags)]), "stores.json")
    assert [(error.code, error.field) for error in found.report.errors] == [("type", "attributes.x")]
