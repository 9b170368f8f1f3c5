"""Every code of an error or warning: its cause, its location and its value, and how it is shown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

from service.loading.dataset import Loaded
from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import Diagnostic
from service.reading.formats.file_format import FORMATS, WORKBOOK
from tests.loading.data_files import (
    COMPANY_FIELDS,
    Record,
    as_csv,
    as_json,
    as_lines,
    company,
    load_companies,
    load_stores,
    rows,
    served,
    store,
)

Reported = tuple[str, int | None, int | None, str | None, str | None]
Flaw = tuple[str, str, str | None]  # code, field, value


def reported(found: list[Diagnostic], file: str) -> list[Reported]:
    assert all(each.why and each.file == file for each in found)
    return [(each.code, each.line, each.record, each.field, each.value) for each in found]


def flaws(found: Sequence[Diagnostic], count: int) -> list[list[Flaw]]:
    """Return what is reported of each of some records."""
    located = [(each.record, (each.code, each.field or "", each.value)) for each in found]
    return [[flaw for record, flaw in located if record == number] for number in range(1, count + 1)]


def totals(loaded: Loaded) -> tuple[int, int, int, int]:
    """Return how many stores and companies are served, how many records are skipped and how many repeated."""
    return msgspec.structs.astuple(loaded.report.totals)


# In files of several lines: the record of the number n begins on the line n + 1.
WRITTEN: Mapping[str, Callable[[Sequence[Record]], bytes]] = {
    "stores.csv": as_csv,
    "stores.jsonl": lambda records: b"\n" + as_lines(records),
    "stores.json": lambda records: b"[\n" + b",\n".join(map(as_json, records)) + b"]",
}


def alone(field: str, code: str, texts: Sequence[str], **others: object) -> Iterator[tuple[Record, list[Flaw]]]:
    """Yield a record for each of some texts of a field, and what is reported of it: a code, "" for nothing."""
    for text in texts:
        yield {**others, field: text}, [(code, field, text)] if code else []


ERRORS: list[tuple[Record, list[Flaw]]] = [
    ({"city": ""}, [("missing", "city", None)]),
    ({"city": " \t"}, [("missing", "city", None)]),
    ({"city": None}, [("missing", "city", None)]),
    ({"store_id": "", "address_1": ""}, [("missing", "store_id", None), ("missing", "address_1", None)]),
    ({"company_id": ""}, [("missing", "company_id", None)]),
    *alone("company_id", "company", ["c2", "C1"]),
    *alone("created_at", "date", ["yesterday", "2024-02-30"]),
    *alone("updated_at", "date", ["2024-01-01T24:00:00Z", "2024-01-01T00:00:60Z"]),
    *alone("updated_at", "date", ["0001-01-01T00:00:00+01:00", "2024-01-01Z"]),
    *alone("name", "text", ["a\x00b", "a\x1fb", "a\x7fb", "a\x9fb"]),
    *alone("latitude", "text", ["1\x0b"]),
    *alone("store_id", "text", ["s\x0e"]),
    ({"name": "x\x07" + "é" * 300}, [("text", "name", "x\x07" + "é" * 198 + "…")]),
    ({"city": "", "name": "\x01."}, [("text", "name", "\x01."), ("missing", "city", None)]),
    ({"created_at": "x", "country": ""}, [("missing", "country", None), ("date", "created_at", "x")]),
    *alone("is_open", "type", ["maybe", "2", " true", "open", "\uff54rue"]),
]


@pytest.mark.parametrize("name", WRITTEN)
def test_every_error_of_a_cell_is_reported_in_every_format(tmp_path: Path, name: str) -> None:
    records = [store(f"s{number}") | fields for number, (fields, _) in enumerate(ERRORS)]
    loaded = load_stores(tmp_path, WRITTEN[name]([*records, store("valid")]), name)
    errors = loaded.report.errors
    found = zip((fields for fields, _ in ERRORS), flaws(errors, len(records)), strict=True)
    assert list(found) == ERRORS
    assert all((each.file, each.line) == (name, 1 + (each.record or 0)) for each in errors)
    assert totals(loaded) == (1, 1, len(ERRORS), 0)


RANGE = ["90.00000001", "-91", "1e3", "+90.5", " 91 "]
NUMBER = ["47,37", "north", "1e1000", "1_0", "43°42'N", "NaN ft", "\u0661", "0x1"]
WARNINGS: list[tuple[Record, list[Flaw]]] = [
    *alone("latitude", "range", RANGE, longitude="1"),
    *alone("latitude", "", ["90", "-90.000", "9e1", " +4.5 ", "-0", ".5", "5."], longitude="1"),
    *alone("longitude", "", ["180", "-180.0", *RANGE[:2]], latitude="1"),
    *alone("longitude", "range", ["180.1", "-1.8001e2", "1e3"], latitude="1"),
    *alone("latitude", "number", NUMBER),
    *alone("longitude", "number", NUMBER),
    *alone("name", "", ["tab\t.", "line\r\nbreak", "no-break\u00a0space", "\U000e0001", "\u2028x"]),
    *alone("name", "invisible", ["\u200b", "a\xad"]),
]


@pytest.mark.parametrize("name", WRITTEN)
def test_every_warning_of_a_cell_is_reported_in_every_format_and_its_record_served(tmp_path: Path, name: str) -> None:
    records = [store(f"{number:03}") | fields for number, (fields, _) in enumerate(WARNINGS)]
    loaded = load_stores(tmp_path, WRITTEN[name]([*records, store("zz", latitude="95", city="")]), name)
    warnings = loaded.report.warnings
    found = zip((fields for fields, _ in WARNINGS), flaws(warnings, len(records)), strict=True)
    assert list(found) == WARNINGS
    by_identifier = {each["store_id"]: each for each in served(loaded)}
    assert all(by_identifier[f"{number:03}"].items() >= fields.items() for number, (fields, _) in enumerate(WARNINGS))
    assert flaws(warnings, len(records) + 1)[-1] == [("range", "latitude", "95")]  # of a record that is not served


WRONG_TYPES: list[tuple[str, object, str]] = [
    ("name", True, "expected a string: true"),
    ("name", ["a", 1], 'expected a string: ["a", 1]'),
    ("city", {"a": [1]}, 'expected a string: {"a": [1]}'),
    ("is_open", [], "expected true or false: []"),
    ("latitude", True, "expected a string or a number: true"),
    ("latitude", [1.5], "expected a string or a number: [1.5]"),
    ("created_at", False, "expected a string: false"),
    ("city", ["\x7f\u202e"], 'expected a string: ["\\x7f\\u202e"]'),
    ("created_at", "0", "expected a date or date-time such as 2024-05-31T10:00:00Z: '0'"),
]


def test_a_json_value_of_a_wrong_type_is_reported_and_shown_as_written(tmp_path: Path) -> None:
    records = [store("s1"), *(store(f"t{number}") | {each[0]: each[1]} for number, each in enumerate(WRONG_TYPES))]
    array = load_stores(tmp_path, as_json(records), "stores.json")
    lines = load_stores(tmp_path, as_lines(records), "stores.ndjson")
    for number, (field, value, shown) in enumerate(WRONG_TYPES):
        of_array, of_line = array.report.errors[number], lines.report.errors[number]
        assert str(of_array) == f"stores.json:1: record {number + 2}: {field}: {shown}"
        assert str(of_line) == f"stores.ndjson:{number + 2}: {field}: {shown}"
        if not isinstance(value, str):
            assert of_array.value == of_line.value == as_json(value).decode()
    assert totals(array) == totals(lines) == (1, 1, len(WRONG_TYPES), 0)


def test_a_record_that_is_not_an_object_is_reported_without_a_field(tmp_path: Path) -> None:
    values = ["5", "null", '"text"', "[]", "[{}]", "true"]
    texts = [as_json(store("s1")), *(value.encode() for value in values), as_json(store("s2"))]
    for name, content in (
        ("stores.jsonl", b"\r\n".join([*texts, b""])),
        ("stores.json", b'{"stores": [' + b"\n,".join(texts) + b"]}"),
    ):
        loaded = load_stores(tmp_path, content, name)
        expected = [("type", number, number, None, value) for number, value in enumerate(values, 2)]
        assert reported(loaded.report.errors, name) == expected
        where = "stores.json:2: record 2" if name == "stores.json" else "stores.jsonl:2"
        assert str(loaded.report.errors[0]) == f"{where}: expected an object: 5"
        assert len(rows(loaded)) == 2


def test_an_unknown_parent_and_every_company_in_a_cycle_have_one_warning(tmp_path: Path) -> None:
    parents = {"a": "b", "b": "c", "c": "a", "outside": "a", "self": "self", "top": None, "x": "nobody", "y": "bad"}
    records = [company(name, parent_company_id=parent) for name, parent in parents.items()]
    bad = company("bad", parent_company_id="y", name="")
    loaded = load_companies(tmp_path, as_csv([*records, records[6], bad], COMPANY_FIELDS))
    assert reported(loaded.report.warnings, "companies.csv") == [
        *(("parent", line, line - 1, "parent_company_id", "bca"[line - 2]) for line in (2, 3, 4)),
        ("parent", 6, 5, "parent_company_id", "self"),
        ("parent", 8, 7, "parent_company_id", "nobody"),
        ("parent", 9, 8, "parent_company_id", "bad"),
        ("repeated", 10, 9, "company_id", "x"),
        ("parent", 10, 9, "parent_company_id", "nobody"),
    ]
    assert loaded.report.totals.companies == 8


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("stores.csv", as_csv([store()])[:-1], 2),
        ("stores.csv", as_csv([])[:-1], 1),
        ("stores.csv", as_csv([store(name="a\nb")])[:-1], 3),
        ("stores.jsonl", b"\n\n" + as_lines([store()])[:-1], 3),
        ("stores.ndjson", as_lines([store()]) + b" ", 2),
    ],
)
def test_an_unterminated_last_line_has_a_warning(tmp_path: Path, name: str, content: bytes, line: int) -> None:
    loaded = load_stores(tmp_path, content, name)
    assert reported(loaded.report.warnings, name) == [("unterminated", line, None, None, None)]
    assert loaded.report.errors == []


@pytest.mark.parametrize("name", WRITTEN)
def test_line_numbers_are_correct_in_later_batches(tmp_path: Path, name: str) -> None:
    wrong = [BATCH_SIZE - 1, BATCH_SIZE, BATCH_SIZE + 1, 3 * BATCH_SIZE + 5]
    records = [store(f"s{number}", city="" if number in wrong else "Bo") for number in range(1, 4 * BATCH_SIZE)]
    errors = load_stores(tmp_path, WRITTEN[name](records), name).report.errors
    assert [(error.record, error.line) for error in errors] == [(number, number + 1) for number in wrong]


@pytest.mark.parametrize("ending", FORMATS)
def test_records_are_named_and_values_are_as_written_as_the_format_needs(ending: str) -> None:
    for name in (f"stores.{ending}", f"a.{ending.upper()}.gz"):
        shown = str(Diagnostic("type", name, 3, 2, "city", "5", "expected a string"))
        form = FORMATS[ending]
        assert ("record 2" in shown) == (not form.line_ends and form is not WORKBOOK)
        assert shown.endswith("'5'" if form.is_csv or form is WORKBOOK else ": 5")
