"""Every code of an error or warning: its cause, its location and its value."""

from pathlib import Path

import msgspec
import pytest

from service.loading.dataset import Loaded, Report
from service.reading.diagnostics import Diagnostic
from service.reading.formats.file_format import FORMATS, WORKBOOK
from tests.loading.data_files import (
    COMPANY_FIELDS,
    STORE_FIELDS,
    Record,
    as_csv,
    as_json,
    as_lines,
    company,
    load_companies,
    load_files,
    load_stores,
    rows,
    store,
)

Reported = tuple[str, int | None, int | None, str | None, str | None]


def reported(errors: list[Diagnostic], file: str) -> list[Reported]:
    assert all(error.why and error.file == file for error in errors)
    return [(error.code, error.line, error.record, error.field, error.value) for error in errors]


def test_valid_records_are_served_without_errors_or_warnings(tmp_path: Path) -> None:
    loaded = load_stores(tmp_path, as_lines([store("s1"), store("s2")]), "stores.jsonl")

    assert loaded.report == Report([], [], loaded.report.totals)
    assert msgspec.to_builtins(loaded.report.totals) == {"stores": 2, "companies": 1, "skipped": 0, "repeated": 0}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"city": ""}, [("missing", "city", None)]),
        ({"city": " \t"}, [("missing", "city", None)]),
        ({"city": None}, [("missing", "city", None)]),
        ({"store_id": "", "address_1": ""}, [("missing", "store_id", None), ("missing", "address_1", None)]),
        ({"company_id": ""}, [("missing", "company_id", None)]),
        ({"company_id": "c2"}, [("company", "company_id", "c2")]),
        ({"company_id": "C1"}, [("company", "company_id", "C1")]),
        ({"created_at": "yesterday"}, [("date", "created_at", "yesterday")]),
        ({"created_at": "2024-02-30"}, [("date", "created_at", "2024-02-30")]),
        ({"updated_at": "2024-01-01T24:00:00Z"}, [("date", "updated_at", "2024-01-01T24:00:00Z")]),
        ({"updated_at": "2024-01-01T00:00:60Z"}, [("date", "updated_at", "2024-01-01T00:00:60Z")]),
        ({"updated_at": "0001-01-01T00:00:00+01:00"}, [("date", "updated_at", "0001-01-01T00:00:00+01:00")]),
        ({"updated_at": "2024-01-01Z"}, [("date", "updated_at", "2024-01-01Z")]),
        ({"name": "a\x00b"}, [("text", "name", "a\x00b")]),
        ({"name": "a\x1fb"}, [("text", "name", "a\x1fb")]),
        ({"name": "a\x7fb"}, [("text", "name", "a\x7fb")]),
        ({"name": "a\x9fb"}, [("text", "name", "a\x9fb")]),
        ({"latitude": "1\x0b"}, [("text", "latitude", "1\x0b")]),
        ({"store_id": "s\x0e"}, [("text", "store_id", "s\x0e")]),
        ({"name": "x\x07" + "é" * 300}, [("text", "name", "x\x07" + "é" * 198 + "…")]),
        ({"city": "", "name": "\x01."}, [("text", "name", "\x01."), ("missing", "city", None)]),
        ({"created_at": "x", "country": ""}, [("missing", "country", None), ("date", "created_at", "x")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["stores.csv", "stores.jsonl", "stores.json"])
def test_every_error_of_a_cell_is_reported_in_every_format(
    tmp_path: Path, name: str, fields: Record, expected: list[tuple[str, str, str | None]]
) -> None:
    records = [store("valid"), store() | fields]
    content = {
        "stores.csv": lambda: as_csv(records, STORE_FIELDS),
        "stores.jsonl": lambda: b"\n" + as_lines(records),
        "stores.json": lambda: b"[" + as_json(records[0]) + b",\n\n" + as_json(records[1]) + b"]",
    }[name]()
    loaded = load_stores(tmp_path, content, name)

    assert reported(loaded.report.errors, name) == [(code, 3, 2, field, value) for code, field, value in expected]
    assert loaded.report.totals.skipped == 1
    assert len(rows(loaded)) == 1


@pytest.mark.parametrize(
    "text", ["tab\t.", "line\r\nbreak", "no-break\u00a0space", "\u200b", "\U000e0001", "\u2028x", "\xad"]
)
def test_other_unusual_characters_are_served(tmp_path: Path, text: str) -> None:
    loaded = load_stores(tmp_path, as_csv([store(name=text)], STORE_FIELDS))

    assert loaded.report.errors == []
    assert msgspec.json.decode(rows(loaded)[0][:-1])["name"] == text


@pytest.mark.parametrize(
    ("field", "json"),
    [
        ("name", "true"),
        ("name", '["a", 1]'),
        ("city", '{"a":1}'),
        ("is_open", "[]"),
        ("latitude", "true"),
        ("latitude", "[1.5]"),
        ("created_at", "false"),
    ],
)
def test_a_json_value_of_a_wrong_type_is_reported_as_written(tmp_path: Path, field: str, json: str) -> None:
    text = as_lines([store("s1") | {field: "@"}, store("s2")]).replace(b'"@"', json.encode())
    loaded = load_stores(tmp_path, text, "stores.jsonl")

    assert reported(loaded.report.errors, "stores.jsonl") == [("type", 1, 1, field, json)]
    assert len(rows(loaded)) == 1


@pytest.mark.parametrize("value", ["5", "null", '"text"', "[]", "[{}]", "true"])
def test_a_record_that_is_not_an_object_is_reported_without_a_field(tmp_path: Path, value: str) -> None:
    errors = [("type", 2, 2, None, value)]
    lines = as_lines([store("s1")]) + value.encode() + b"\r\n" + as_lines([store("s2")])
    array = b'{"stores": [' + as_json(store("s1")) + b"\n," + value.encode() + b"\n," + as_json(store("s2")) + b"]}"

    loaded = load_stores(tmp_path, lines, "stores.jsonl")
    assert (reported(loaded.report.errors, "stores.jsonl"), len(rows(loaded))) == (errors, 2)
    loaded = load_stores(tmp_path, array, "stores.json")
    assert (reported(loaded.report.errors, "stores.json"), len(rows(loaded))) == (errors, 2)


@pytest.mark.parametrize("text", ["maybe", "2", " true", "open", "\uff54rue"])
def test_an_invalid_flag_in_csv_has_the_wrong_type(tmp_path: Path, text: str) -> None:
    loaded = load_stores(tmp_path, as_csv([store(is_open=text)], STORE_FIELDS))

    assert reported(loaded.report.errors, "stores.csv") == [("type", 2, 1, "is_open", text)]


def test_a_row_with_a_wrong_number_of_cells_has_only_that_error(tmp_path: Path) -> None:
    text = b"store_id,company_id,address_1,city,country\n\ns1,c1\ns2,c9,a,b,c,d\n\ns3,c1,a,b,c\nx\n"
    loaded = load_stores(tmp_path, text)

    assert reported(loaded.report.errors, "stores.csv") == [
        ("cells", 3, 1, None, None),
        ("cells", 4, 2, None, None),
        ("cells", 7, 4, None, None),
    ]
    assert (loaded.report.totals.skipped, loaded.report.totals.stores) == (3, 1)


def test_the_identifier_of_an_earlier_valid_record_is_a_duplicate(tmp_path: Path) -> None:
    records = [
        store("s1", city=""),  # invalid: reserves no identifier
        store("s1"),
        store("s1", city="Bo"),
        store("s1", city="", name="x"),
        store("s1", company_id="c2"),
    ]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")

    assert reported(loaded.report.errors, "stores.jsonl") == [
        ("missing", 1, 1, "city", None),
        ("duplicate", 3, 3, "store_id", "s1"),
        ("duplicate", 4, 4, "store_id", "s1"),
        ("missing", 4, 4, "city", None),
        ("duplicate", 5, 5, "store_id", "s1"),
        ("company", 5, 5, "company_id", "c2"),
    ]
    assert loaded.report.totals.skipped == 4
    assert b'"city":"Ada"' in rows(loaded)[0]


def test_a_record_equal_in_all_served_fields_is_served_once(tmp_path: Path) -> None:
    records = [
        store("s1", created_at="2024-01-01", latitude="1.5", longitude="2"),
        store("s2"),
        store("s1", created_at="2024-01-01 00:00+00:00", latitude="1.5", longitude="2", is_open="yes", unknown="x"),
        store("s1", created_at="2024-01-01", latitude="1.50", longitude="2"),
    ]
    loaded = load_stores(tmp_path, as_csv(records, [*STORE_FIELDS, "unknown"]))

    assert reported(loaded.report.warnings, "stores.csv") == [
        ("unused", 1, None, "unknown", None),
        ("repeated", 4, 3, "store_id", "s1"),
    ]
    assert reported(loaded.report.errors, "stores.csv") == [("duplicate", 5, 4, "store_id", "s1")]
    assert msgspec.to_builtins(loaded.report.totals) == {"stores": 2, "companies": 1, "skipped": 1, "repeated": 1}


def test_created_at_of_companies_is_not_compared(tmp_path: Path) -> None:
    records = [company(created_at="2024-01-01"), company(created_at="2025-01-01"), company(name="Bolt")]
    loaded = load_companies(tmp_path, as_csv(records, COMPANY_FIELDS))

    assert reported(loaded.report.warnings, "companies.csv") == [("repeated", 3, 2, "company_id", "c1")]
    assert reported(loaded.report.errors, "companies.csv") == [("duplicate", 4, 3, "company_id", "c1")]


def test_an_invalid_company_also_excludes_its_stores(tmp_path: Path) -> None:
    companies = as_csv([company("c1", name=""), company("c2")], ["company_id", "name"])
    stores = as_lines([store("s1"), store("s2", company_id="c2", parent_company_id="c1")])
    loaded = load_files(tmp_path, {"companies.csv": companies, "stores.jsonl": stores})

    assert [error.code for error in loaded.report.errors] == ["missing", "company"]
    assert reported(loaded.report.warnings, "stores.jsonl") == [("parent", 2, 2, "parent_company_id", "c1")]
    assert msgspec.to_builtins(loaded.report.totals) == {"stores": 1, "companies": 1, "skipped": 2, "repeated": 0}


@pytest.mark.parametrize("text", ["90.00000001", "-91", "1e3", "+90.5", " 91 "])
def test_a_number_out_of_range_has_a_warning_and_is_served(tmp_path: Path, text: str) -> None:
    records = [store("s1", latitude=text, longitude=text), store("s2", latitude=text, city="")]
    loaded = load_stores(tmp_path, as_csv(records, STORE_FIELDS))
    far = [("range", 2, 1, "longitude", text)] if text == "1e3" else []

    assert reported(loaded.report.warnings, "stores.csv") == [
        ("range", 2, 1, "latitude", text), *far, ("range", 3, 2, "latitude", text)
    ]  # fmt: skip
    assert len(rows(loaded)) == 1


@pytest.mark.parametrize("text", ["90", "-90.000", "9e1", " +4.5 ", "-0", ".5", "5."])
def test_a_number_in_range_has_no_warning(tmp_path: Path, text: str) -> None:
    assert load_stores(tmp_path, as_csv([store(latitude=text, longitude="1")], STORE_FIELDS)).report.warnings == []


@pytest.mark.parametrize("text", ["47,37", "north", "1e1000", "1_0", "43°42'N", "NaN ft", "\u0661", "0x1"])
@pytest.mark.parametrize("field", ["latitude", "longitude"])
def test_a_coordinate_that_is_not_a_decimal_has_a_warning_and_is_served(tmp_path: Path, field: str, text: str) -> None:
    records = [store("s1", **{field: text}), store("s2", latitude=47.37, longitude=8.54)]
    loaded = load_stores(tmp_path, as_lines(records), "stores.jsonl")

    assert reported(loaded.report.warnings, "stores.jsonl") == [("number", 1, 1, field, text)]
    assert msgspec.json.decode(rows(loaded)[0][:-1])[field] == text


def test_a_longitude_has_twice_the_range(tmp_path: Path) -> None:
    records = [{"latitude": "1", "longitude": number} for number in ("180", "-180.0", "180.1", "-1.8001e2")]
    text = as_lines(store(str(place)) | record for place, record in enumerate(records))
    loaded = load_stores(tmp_path, text, "stores.jsonl")

    assert [warning.record for warning in loaded.report.warnings] == [3, 4]


def test_an_unknown_parent_has_a_warning(tmp_path: Path) -> None:
    companies = [
        company("a", parent_company_id="b"),
        company("b", parent_company_id="nobody"),
        company("b", parent_company_id="nobody"),
        company("c", parent_company_id="d", name=""),
        company("d", parent_company_id="c"),
    ]
    loaded = load_companies(tmp_path, as_csv(companies, COMPANY_FIELDS))

    assert reported(loaded.report.warnings, "companies.csv") == [
        ("parent", 3, 2, "parent_company_id", "nobody"),
        ("repeated", 4, 3, "company_id", "b"),
        ("parent", 4, 3, "parent_company_id", "nobody"),
        ("parent", 6, 5, "parent_company_id", "c"),
    ]


def test_every_company_in_a_cycle_of_parents_has_one_warning(tmp_path: Path) -> None:
    parents = {"a": "b", "b": "c", "c": "a", "outside": "a", "self": "self", "top": None}
    records = [company(name, parent_company_id=parent) for name, parent in parents.items()]
    loaded = load_companies(tmp_path, as_csv([*records, records[0]], COMPANY_FIELDS))

    assert reported(loaded.report.warnings, "companies.csv") == [
        ("parent", 2, 1, "parent_company_id", "b"),
        ("parent", 3, 2, "parent_company_id", "c"),
        ("parent", 4, 3, "parent_company_id", "a"),
        ("parent", 6, 5, "parent_company_id", "self"),
        ("repeated", 8, 7, "company_id", "a"),
    ]
    assert loaded.report.totals.companies == 6


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("stores.csv", as_csv([store()], STORE_FIELDS)[:-1], 2),
        ("stores.csv", as_csv([], STORE_FIELDS)[:-1], 1),
        ("stores.csv", as_csv([store(name="a\nb")], STORE_FIELDS)[:-1], 3),
        ("stores.jsonl", b"\n\n" + as_lines([store()])[:-1], 3),
        ("stores.ndjson", as_lines([store()]) + b" ", 2),
    ],
)
def test_an_unterminated_last_line_has_a_warning(tmp_path: Path, name: str, content: bytes, line: int) -> None:
    loaded = load_stores(tmp_path, content, name)

    assert reported(loaded.report.warnings, name) == [("unterminated", line, None, None, None)]
    assert loaded.report.errors == []


def test_line_numbers_are_correct_in_later_batches(tmp_path: Path) -> None:
    records = [store(f"s{number}", city="" if number % 5_001 == 0 else "Bo") for number in range(1, 20_001)]
    expected = [5_001, 10_002, 15_003]
    for name, content, shift in [
        ("stores.csv", as_csv(records, STORE_FIELDS), 1),
        ("stores.jsonl", as_lines(records), 0),
        ("stores.json", b"\r\n[" + b",\r\n".join(map(as_json, records)) + b"]", 1),
    ]:
        errors = load_stores(tmp_path, content, name).report.errors
        assert [error.record for error in errors] == expected
        assert [error.line for error in errors] == [line + shift for line in expected]


def test_the_report_encodes_as_check_prints_it(tmp_path: Path) -> None:
    loaded: Loaded = load_stores(tmp_path, as_csv([store(city="", latitude="95")], STORE_FIELDS))
    place = {"file": "stores.csv", "line": 2, "record": 1}
    report = msgspec.json.decode(msgspec.json.encode(loaded.report))

    assert report["faults"] == [
        {"code": "missing"} | place | {"field": "city", "value": None, "why": loaded.report.errors[0].why}
    ]
    assert report["warnings"] == [
        {"code": "range"} | place | {"field": "latitude", "value": "95", "why": loaded.report.warnings[0].why}
    ]
    assert report["totals"] == {"stores": 0, "companies": 1, "skipped": 1, "repeated": 0}


@pytest.mark.parametrize(
    ("file", "shown"), [("stores.csv", "'0'"), ("a.TSV.gz", "'0'"), ("a.txt", "'0'"), ("a.json", "0")]
)
def test_a_value_of_the_wrong_type_is_quoted_in_formats_without_types(file: str, shown: str) -> None:
    assert str(Diagnostic("type", file, 2, None, "is_open", "0", "why")) == f"{file}:2: is_open: why: {shown}"


@pytest.mark.parametrize("ending", FORMATS)
def test_records_are_named_and_values_are_as_written_as_the_format_needs(ending: str) -> None:
    shown = str(Diagnostic("type", f"stores.{ending.upper()}.gz", 3, 2, "city", "5", "expected a string"))
    form = FORMATS[ending]
    assert ("record 2" in shown) == (not form.line_ends and form is not WORKBOOK)
    assert shown.endswith("'5'" if form.is_csv or form is WORKBOOK else "5")
