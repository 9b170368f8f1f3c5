"""The checks by column and distinct cell equal those of the oracle."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
from hypothesis import example, given, strategies as st

from service.loading.checks import check_column
from service.loading.dataset import Loaded
from service.model.kinds import FLAG, NUMBER
from service.model.records import STORES, Field
from service.reading.diagnostics import Diagnostic, StoresWarning
from tests.loading.data_files import COMPANY_FIELDS, STORE_FIELDS, Record, as_csv, as_json, as_lines, load_files, rows
from tests.loading.oracle import Oracle, Reported

FLAWS = [None, "", "  ", "a\x00", "\x7f", "\x1c"]
ODD = ["N/A", "NA", "None", " NULL ", "-", "\uff0d", "() -", '="08001"', '="1" &"2"', "null and void"]
WRONG = [5, True, [1], {"a": "b"}]
CELLS: dict[str, list[object]] = {
    "store_id": ["s1", "s2", "s3", "s1 ", "5"],
    "company_id": ["c1", "c2", "c3"],
    "parent_company_id": ["c1", "c2", "c3", "c4"],
    "is_open": ["true", "NO", "1", "maybe", " true", "\uff11", False, 0, 2],
    "latitude": ["90", "90.0", "90.01", "-9e1", "-9.1e1", "north", "1_0", "\u0661", "1e999", " 91", 7, 91],
    "longitude": ["91", "-181", "180.00", "NaN", "Infinity", "0x1", -181],
    "created_at": ["2024-05-31", "2024-05-31T10:00Z", "2024-02-30", "0001-01-01T00:00+00:01", "9999-12-31 23:59-01:00"],
    "updated_at": ["2024-05-31 10:00:00.1234567-05:00", "2024-05-31T10:00:00.0+00:00", "2024-05-31T24:00:00Z", "now"],
}
VALID = {"store_id": "s0", "company_id": "c1", "address_1": "1 Elm St", "city": "Ada", "country": "CA", "name": "Acme"}


def records(fields: Sequence[str], *, typed: bool) -> st.SearchStrategy[list[Record]]:
    """Return records that are mostly valid, each with a few cells of any kind."""
    cells = {
        field: st.sampled_from([*CELLS.get(field, ["Ada", "ADA"]), *ODD, *FLAWS, *(WRONG if typed else [])])
        for field in fields
    }
    if not typed:
        cells = {field: cell.filter(lambda it: it is None or isinstance(it, str)) for field, cell in cells.items()}
    valid: Record = {field: VALID[field] for field in fields if field in VALID}
    identifiers = {fields[0]: st.sampled_from(CELLS[fields[0]][:3])}
    changes = st.sets(st.sampled_from(fields), max_size=3).flatmap(
        lambda some: st.fixed_dictionaries(identifiers | {field: cells[field] for field in sorted(some)})
    )
    return st.lists(changes.map(lambda change: valid | change), max_size=12)


def by_line(written: Sequence[Record], *, typed: bool) -> dict[int, Record]:
    """Return records by line, below a header unless they are typed; without rows of empty cells, which are none."""
    return {line: record for line, record in enumerate(written, 1 + (not typed)) if typed or any(record.values())}


def reported(errors: Sequence[Diagnostic], kind: str, lines: Sequence[int]) -> list[Reported]:
    """Return the errors of a kind of records, which have these lines if their file has lines."""
    own = [error for error in errors if error.file.startswith(kind)]
    assert all(error.line == lines[(error.record or 0) - 1] for error in own if error.file.endswith(("csv", "jsonl")))
    return [(error.code, error.record or 0, error.field, error.value) for error in own]


def assert_equal(loaded: Loaded, stores: Sequence[Record], companies: Sequence[Record], *, typed: bool) -> None:
    """Hold what is loaded against the oracle."""
    of_companies, of_stores = by_line(companies, typed=typed), by_line(stores, typed=typed)
    known = Oracle("companies", [])
    known.check([*of_companies.values()])
    wanted = Oracle("stores", list(known.served))
    wanted.check([*of_stores.values()])
    of_records = [warning for warning in loaded.report.warnings if warning.code not in get_args(StoresWarning)]
    for kind, oracle, lines in (("companies", known, [*of_companies]), ("stores", wanted, [*of_stores])):
        assert reported(loaded.report.errors, kind, lines) == oracle.errors
        assert reported(of_records, kind, lines) == oracle.warnings
        served = [json.loads(row[:-1]) for row in rows(loaded, kind)]
        assert {next(iter(row.values())): row for row in served} == oracle.served
        assert len(served) == len(oracle.served)
    totals = loaded.report.totals
    assert (totals.stores, totals.companies) == (len(wanted.served), len(known.served))
    assert totals.skipped == sum(len({error[1] for error in oracle.errors}) for oracle in (known, wanted))
    assert totals.repeated == sum(warning[0] == "repeated" for warning in known.warnings + wanted.warnings)


@given(records(STORE_FIELDS, typed=True), records(COMPANY_FIELDS, typed=True))
def test_json_records_are_checked_like_the_oracle(stores: list[Record], companies: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        files = {"stores.jsonl": as_lines(stores), "companies.json": as_json(companies)}
        assert_equal(load_files(Path(folder), files), stores, companies, typed=True)


def test_numbers_and_words_of_json_are_read_as_in_csv(tmp_path: Path) -> None:
    record: Record = VALID | {"store_id": 7, "postal_code": 8001, "phone_number": 1.50, "is_open": "No", "latitude": 43}
    files = {"companies.json": as_json([VALID])}
    in_json = load_files(tmp_path, files | {"stores.json": as_json([record, record | {"store_id": 8, "is_open": 0}])})
    written = [record, record | {"store_id": 8, "is_open": "f"}]
    in_csv = load_files(tmp_path, files | {"stores.csv": as_csv(written)})
    assert in_json.report.errors == []
    assert rows(in_json) == rows(in_csv)


@given(records(STORE_FIELDS, typed=False), records(COMPANY_FIELDS, typed=False))
@example([], [{"company_id": None, "name": ""}, {"company_id": "", "name": " "}])
def test_csv_records_are_checked_like_the_oracle(stores: list[Record], companies: list[Record]) -> None:
    with TemporaryDirectory() as folder:
        files = {"stores.csv": as_csv(stores), "companies.csv": as_csv(companies, COMPANY_FIELDS)}
        assert_equal(load_files(Path(folder), files), stores, companies, typed=False)


@pytest.mark.parametrize("more", [[], ["1e999"], [" 7"]])
@pytest.mark.parametrize("word", ["north", "4km"])
def test_a_number_of_any_field_that_is_no_decimal_has_a_warning(word: str, more: list[str]) -> None:
    cells = ["0", "-1.5", "9" * 30, "-9e999", "1e-999", None, *more]
    area = Field("area", NUMBER, "Floor area.")
    assert check_column(area, cells, None).warnings == {}
    found = check_column(area, [*cells, word], None)
    assert ({cell: issue.code for cell, issue in found.warnings.items()}, found.errors) == ({word: "number"}, {})


def test_a_record_without_a_flag_has_the_default_of_its_field() -> None:
    others = Field("is_new", FLAG, "Whether it is new."), Field("is_new", FLAG, "Whether it is new.", default=False)
    values = [check_column(field, ["true", None], None).values for field in (STORES.field("is_open"), *others)]
    assert values == [[True, True], [True, None], [True, False]]
