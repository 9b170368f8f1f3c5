"""The report of many warnings is bounded, and their counts are exact."""

from pathlib import Path

import pytest

from service.dataset import InvalidRecords, Rejected
from service.loading import batch_diagnostics
from service.loading.dataset import accept, groups, notes
from tests.loading.data_files import (
    COMPANY_FIELDS,
    REQUIRED,
    STORE_FIELDS,
    as_csv,
    company,
    load_companies,
    load_stores,
    store,
)

MAX_LISTED = 200
MANY = MAX_LISTED + 1_500


@pytest.fixture(autouse=True)
def few_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_diagnostics, "MAX_LISTED", MAX_LISTED)


def wrong(number: int) -> dict[str, object]:
    """Return a store whose coordinates are no decimals; three in all have no telephone number either."""
    return store(f"s{number}", latitude="47,37", longitude="8,54", phone_number="n/a" if number < 3 else "1")


def test_the_first_warnings_of_each_code_and_field_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    loaded = load_stores(tmp_path, as_csv(map(wrong, range(MANY))))
    listed = [(each.code, each.field, each.record) for each in loaded.report.warnings]
    assert loaded.report.errors == []
    assert loaded.warning_counts == {"number": 2 * MANY, "placeholder": 3}
    for field in ("latitude", "longitude"):
        records = [record for _, other, record in listed if other == field]
        assert records == [*range(1, MAX_LISTED + 1), None]
    of_telephones = [(code, record) for code, field, record in listed if field == "phone_number"]
    assert of_telephones == [("placeholder", record) for record in (1, 2, 3)]
    last = loaded.report.warnings[-1]
    why = "1,500 more warnings are not listed"
    assert (last.file, last.line, last.value, last.why) == ("stores.csv", None, None, why)


def test_the_first_errors_of_each_code_and_field_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    records = [store(f"s{number}", city="", country="", created_at="x") for number in range(MANY)]
    loaded = load_stores(tmp_path, as_csv(records, [*REQUIRED, "created_at"]))
    listed = loaded.report.errors
    for field in ("city", "country", "created_at"):
        assert [each.record for each in listed if each.field == field] == [*range(1, MAX_LISTED + 1), None]
    assert listed[-1].why == "1,500 more errors are not listed"
    assert loaded.error_counts == {"missing": 2 * MANY, "date": MANY}
    assert loaded.report.totals.skipped == MANY
    assert [str(group) for group in groups(loaded)] == ["date: 1,700 errors", "missing: 3,400 errors"]
    with pytest.raises(Rejected, match=r"city: a value is required \(and 5,099 more\)$"):
        accept(loaded, InvalidRecords.REFUSE)


def test_warnings_of_repeated_records_are_counted(tmp_path: Path) -> None:
    loaded = load_stores(tmp_path, as_csv([store()] * MANY, REQUIRED))
    assert loaded.report.totals.repeated == loaded.warning_counts["repeated"] == MANY - 1
    assert len(loaded.report.warnings) == MAX_LISTED + 1


def test_warnings_of_unknown_parents_are_counted(tmp_path: Path) -> None:
    companies = [company(f"c{number}", parent_company_id="nobody") for number in range(MANY)]
    loaded = load_companies(tmp_path, as_csv(companies, COMPANY_FIELDS))
    assert loaded.warning_counts == {"parent": MANY}
    assert len(loaded.report.warnings) == MAX_LISTED + 1


def test_the_log_has_one_line_per_code_with_the_count_and_the_first_case(tmp_path: Path) -> None:
    records = [store("s1", city=""), *map(wrong, range(4)), store("s9", city="", country="")]
    loaded = load_stores(tmp_path, as_csv(records, [*STORE_FIELDS, "zip", "state"]))
    why = {warning.code: warning.why for warning in loaded.report.warnings}
    assert [str(group) for group in groups(loaded)] == [
        "missing: 3 errors", "number: 8 warnings", "placeholder: 3 warnings", "unused: 2 warnings"
    ]  # fmt: skip
    assert list(notes(loaded)) == [
        "skipped 2 invalid records",
        "missing: 3 errors, the first: stores.csv:2: city: a value is required",
        f"number: 8 warnings, the first: stores.csv:3: latitude: {why['number']}: '47,37'",
        f"placeholder: 3 warnings, the first: stores.csv:3: phone_number: {why['placeholder']}: 'n/a'",
        "unused: 2 warnings, the first: stores.csv:1: zip: not a field, so it is ignored (6 records)",
        f"`store-directory check {tmp_path}` reports every error and warning",
    ]


def test_valid_data_logs_nothing(tmp_path: Path) -> None:
    assert list(notes(load_stores(tmp_path, as_csv([store()])))) == []
