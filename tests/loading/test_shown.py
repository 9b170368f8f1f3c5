"""The display of errors of records."""

from pathlib import Path

import pytest

from service.loading.dataset import Report
from tests.loading.data_files import STORE_FIELDS, as_csv, as_json, as_lines, load_stores, store


def shown(report: Report) -> list[str]:
    return [str(error) for error in report.errors]


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("city", True, "expected a string: true"),
        ("city", {"a": [1]}, 'expected a string: {"a": [1]}'),
        ("is_open", [0], "expected true or false: [0]"),
        ("latitude", True, "expected a string or a number: true"),
    ],
)
def test_a_value_of_a_wrong_type_is_shown_as_json(tmp_path: Path, field: str, value: object, written: str) -> None:
    records = [store("s1"), store("s2", **{field: value})]
    array = load_stores(tmp_path, as_json(records), "stores.json").report
    lines = load_stores(tmp_path, as_lines(records), "stores.ndjson").report
    assert shown(array) == [f"stores.json:1: record 2: {field}: {written}"]
    assert shown(lines) == [f"stores.ndjson:2: {field}: {written}"]
    assert array.errors[0].value == lines.errors[0].value == written.partition(": ")[2]


def test_a_text_is_shown_in_quotes(tmp_path: Path) -> None:
    record = [store(created_at="0", is_open="perhaps")]
    reported = shown(load_stores(tmp_path, as_csv(record, STORE_FIELDS)).report)
    assert [each.rpartition(": ")[2] for each in reported] == ["'perhaps'", "'0'"]
    assert shown(load_stores(tmp_path, as_json([store(created_at="0")]), "stores.json").report)[0].endswith(": '0'")


def test_a_csv_record_is_located_by_its_line_only(tmp_path: Path) -> None:
    assert shown(load_stores(tmp_path, as_csv([store(city="")], STORE_FIELDS)).report) == [
        "stores.csv:2: city: a value is required"
    ]


def test_a_value_that_is_not_a_record_is_shown_with_its_number(tmp_path: Path) -> None:
    reported = shown(load_stores(tmp_path, as_json([store(), "x", 7]), "stores.json").report)
    assert reported == [
        'stores.json:1: record 2: expected an object: "x"',
        "stores.json:1: record 3: expected an object: 7",
    ]


def test_control_sequences_are_escaped(tmp_path: Path) -> None:
    (reported,) = shown(
        load_stores(tmp_path, as_json([store(city=["\x7f\u202e"])]).replace(b"[[", b"[\n["), "stores.json").report
    )
    assert reported.endswith('expected a string: ["\\x7f\\u202e"]')
