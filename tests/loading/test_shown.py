"""An error of a record as it is shown to a person."""

from pathlib import Path

import pytest

from service.loading.dataset import Report
from tests.loading.data_files import STORE_FIELDS, as_csv, as_json, as_lines, load_stores, store


def shown(report: Report) -> list[str]:
    return [str(fault) for fault in report.errors]


@pytest.mark.parametrize(
    ("field", "value", "written"),
    [
        ("city", 0, "a text is needed: 0"),
        ("city", True, "a text is needed: true"),
        ("city", {"a": [1]}, 'a text is needed: {"a": [1]}'),
        ("is_open", 0, "true or false is needed: 0"),
        ("is_open", "0", 'true or false is needed: "0"'),
        ("is_open", "true", 'true or false is needed: "true"'),
        ("latitude", True, "a text or a number is needed: true"),
    ],
)
def test_a_value_of_a_wrong_type_is_shown_as_it_is_written_in_json(
    tmp_path: Path, field: str, value: object, written: str
) -> None:
    records = [store("s1"), store("s2", **{field: value})]
    array = load_stores(tmp_path, as_json(records), "stores.json").report
    lines = load_stores(tmp_path, as_lines(records), "stores.ndjson").report
    assert shown(array) == [f"stores.json:1: record 2: {field}: {written}"]
    assert shown(lines) == [f"stores.ndjson:2: {field}: {written}"]
    assert array.errors[0].value == lines.errors[0].value == written.partition(": ")[2]


def test_a_text_is_shown_in_quotes_of_its_own(tmp_path: Path) -> None:
    record = [store(created_at="0", is_open="perhaps")]
    told = shown(load_stores(tmp_path, as_csv(record, STORE_FIELDS)).report)
    assert [each.rpartition(": ")[2] for each in told] == ["'perhaps'", "'0'"]
    assert shown(load_stores(tmp_path, as_json([store(created_at="0")]), "stores.json").report)[0].endswith(": '0'")


def test_a_record_of_csv_is_told_by_its_line_alone(tmp_path: Path) -> None:
    assert shown(load_stores(tmp_path, as_csv([store(city="")], STORE_FIELDS)).report) == [
        "stores.csv:2: city: a value is needed"
    ]


def test_what_is_no_record_is_shown_with_its_number(tmp_path: Path) -> None:
    told = shown(load_stores(tmp_path, as_json([store(), "x", 7]), "stores.json").report)
    assert told == [
        'stores.json:1: record 2: a record is an object: "x"',
        "stores.json:1: record 3: a record is an object: 7",
    ]


def test_nothing_that_moves_the_cursor_of_a_terminal_is_shown(tmp_path: Path) -> None:
    (told,) = shown(
        load_stores(tmp_path, as_json([store(city=["\x7f\u202e"])]).replace(b"[[", b"[\n["), "stores.json").report
    )
    assert told.endswith('a text is needed: ["\\x7f\\u202e"]')
