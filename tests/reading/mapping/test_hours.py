"""Attributes of the kind hours: which columns they are made of, their time zone, and what is reported."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service.engine.columns.column import KEY_END
from service.loading.checks import check_column
from service.loading.dataset import Loaded, groups
from service.model.attributes import Attribute, field_of
from service.reading.columns.countries import time_zone_of
from service.reading.diagnostics import FileError
from service.reading.mapping.mapping_file import parse_mapping
from tests.loading.data_files import DERIVED, as_json, dataset, load_files, load_mapped, served, store
from tests.reading.hours.weeks import brief, read

REQUIRED = "store_id,company_id,address_1,city,country"
NAMED = f'{DERIVED}[companies.fields]\nname = "company_id"\n'


def loaded(folder: Path, declared: str, columns: str, *cells: str, country: str = "DE") -> Loaded:
    """Load stores with columns, each a line of cells, and hours that the mapping declares."""
    lines = [f"s{index},c1,a,b,{country},{line}\n" for index, line in enumerate(cells)]
    mapping = f"{NAMED}[stores.attributes]\nhours = {declared}\n"
    return load_mapped(folder, mapping, f"{REQUIRED},{columns}\n{''.join(lines)}")


def hours(found: Loaded) -> list[Any]:
    return [each["attributes"]["hours"] for each in served(found)]


def warnings(found: Loaded) -> list[tuple[str, int | None, str]]:
    return [(each.code, each.line, each.why) for each in found.report.warnings]


def test_hours_of_a_text_have_the_zone_of_the_country(tmp_path: Path) -> None:
    [found] = hours(loaded(tmp_path, '{ from = "H", kind = "hours" }', "H", "Mo 09:00-18:00"))
    week = [{"day": "monday", "opens": "09:00", "closes": "18:00"}]
    assert found == {"timezone": "Europe/Berlin", "hours": week, "exception_hours": []}


def test_days_have_columns_and_one_that_is_left_out_is_closed(tmp_path: Path) -> None:
    declared = '{ kind = "hours", days = { monday = "Mo", sunday = "So" }, timezone = { from = "TZ" } }'
    cells = ("9-18,-,Europe/Paris", ",,", ",10-12,Europe/Paris")
    first, unknown, last = hours(loaded(tmp_path, declared, "Mo,So,TZ", *cells))
    assert (brief(first), unknown, brief(last)) == ("mo 09:00-18:00", None, "su 10:00-12:00")
    assert first["timezone"] == "Europe/Paris"


def test_json_has_exceptions_in_a_member_of_their_own(tmp_path: Path) -> None:
    period = {"openDay": "MONDAY", "closeDay": "MONDAY", "openTime": {"hours": 9}, "closeTime": {"hours": 18}}
    special = {"startDate": {"year": 2026, "month": 12, "day": 24}, "closed": True}
    record = store("s1") | {
        "regularHours": {"periods": [period]},
        "specialHours": {"specialHourPeriods": [special]},
        "country": "Germany",
    }
    declared = '{ from = "regularHours", exceptions = "specialHours", kind = "hours" }'
    mapping = f"{NAMED}[stores.attributes]\nhours = {declared}\n"
    [found] = hours(load_mapped(tmp_path, mapping, as_json([record]), "stores.json"))
    assert brief(found) == "mo 09:00-18:00 | 2026-12-24 closed"


@pytest.mark.parametrize(
    ("country", "zone"),
    [
        *(("DE", "Europe/Berlin"), ("deu", "Europe/Berlin"), ("Germany", "Europe/Berlin"), ("JP", "Asia/Tokyo")),
        *(("MY", "Asia/Kuala_Lumpur"), ("US", None), ("CA", None), ("ES", None), ("UA", None), ("Utopia", None)),
    ],
)
def test_a_country_has_a_zone_if_all_its_clocks_have_been_the_same_since_2000(country: str, zone: str | None) -> None:
    assert time_zone_of(country) == zone


def test_hours_without_a_zone_are_unknown_with_one_warning_that_comes_first(tmp_path: Path) -> None:
    cells = ("Mo 9-18", "Mo 9-18; PH off", "", "Mo")
    found = loaded(tmp_path, '{ from = "H", kind = "hours", invalid = "null" }', "H", *cells, country="US")
    assert hours(found) == [None] * 4
    why = "2 stores: the time zone is not known: declare `timezone` of the attribute"
    assert ("timezone", 2, why) in warnings(found)
    assert next(groups(found)).code == "timezone"
    assert len(warnings(found)) == 2


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ('timezone = "America/Toronto"', ["America/Toronto"] * 3),
        ('timezone = { from = "P", values = { "ON" = "America/Toronto", "BC" = "America/Vancouver" }, other = "" }',
         ["America/Toronto", "America/Vancouver", None]),
    ],
)  # fmt: skip
def test_a_zone_is_declared_as_a_text_or_like_a_field(tmp_path: Path, declared: str, expected: list[str]) -> None:
    cells = ("Mo 9-18,on", "Mo 9-18,BC", "Mo 9-18,SK")
    found = hours(loaded(tmp_path, f'{{ from = "H", kind = "hours", {declared} }}', "H,P", *cells, country="CA"))
    assert [each and each["timezone"] for each in found] == expected


def test_a_zone_that_is_not_known_is_an_error_of_the_record(tmp_path: Path) -> None:
    found = loaded(tmp_path, '{ from = "H", kind = "hours", timezone = { from = "Z" } }', "H,Z", "Mo 9-18,localtime")
    [error] = found.report.errors
    assert (error.code, error.field) == ("hours", "attributes.hours")
    assert error.why == "opening hours that cannot be read: no time zone 'localtime'"


def test_rules_for_holidays_are_left_out_with_one_warning_or_are_exceptions(tmp_path: Path) -> None:
    cells = ("Mo 9-18; PH off", "Tu 9-18; PH off")
    found = loaded(tmp_path, '{ from = "H", kind = "hours" }', "H", *cells)
    assert [brief(each) for each in hours(found)] == ["mo 09:00-18:00", "tu 09:00-18:00"]
    why = "2 stores: rules for PH are left out: declare `holidays` of the attribute"
    assert warnings(found) == [("holidays", 2, why)]
    found = loaded(tmp_path, '{ from = "H", kind = "hours", holidays = [2026-12-25, "2027-01-01"] }', "H", *cells)
    assert brief(hours(found)[0]) == "mo 09:00-18:00 | 2026-12-25 closed | 2027-01-01 closed"
    assert not found.report.warnings


def test_dates_without_a_year_are_compared_with_the_day_of_the_data(tmp_path: Path) -> None:
    files = {
        "stores.csv": f"{REQUIRED},H\ns1,c1,a,b,DE,Dec 24 off\ns2,c1,a,b,DE,2020 Dec 24 off\n".encode(),
        "mapping.toml": f'{NAMED}[stores.attributes]\nhours = {{ from = "H", kind = "hours" }}\n'.encode(),
    }
    for generated_at, expected in (("2024-12-24T12:00:00Z", 2024), ("2024-12-25T12:00:00Z", 2025)):
        digests = {name: {"sha256": sha256(content).hexdigest(), "records": 2} for name, content in files.items()}
        manifest = {"generated_at": generated_at, "files": digests}
        found = load_files(tmp_path, files | {"manifest.json": as_json(manifest)})
        years = [each["exception_hours"][0]["valid_from"] for each in hours(found)]
        assert years == [f"{expected}-12-24", "2020-12-24"]
        assert str(dataset(found).as_of) == generated_at[:10]
    assert dataset(loaded(tmp_path, '{ from = "H", kind = "hours" }', "H", "2026 Dec 24 off")).as_of is None


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ('{ from = "H", kind = "hours", filter = true }', "filter: not of kind hours"),
        ('{ from = "H", kind = "hours", max_length = 10 }', "max_length: not of kind hours"),
        ('{ from = "H", kind = "hours", search = true }', "search: only of kind text or list"),
        ('{ from = "H", kind = "hours", separator = ";" }', "separator: only of kind list"),
        ('{ from = "H", timezone = "UTC" }', "timezone: only of kind hours"),
        ('{ from = "H", holidays = [] }', "holidays: only of kind hours"),
        ('{ from = "H", kind = "hours", timezone = "Europe/Berln" }', "timezone: no time zone 'Europe/Berln'; did you"),
        ('{ from = "H", kind = "hours", timezone = { from = "Z", other = "Mars" } }', "timezone: no time zone 'Mars'"),
        ('{ from = "H", kind = "hours", timezone = { form = "Z" } }', "timezone.form: unknown key; did you mean from?"),
        ('{ from = "H", kind = "hours", holidays = ["25.12."] }', "holidays[0]: invalid RFC3339 encoded date"),
        ('{ kind = "hours", days = {} }', "days: expected columns of monday, tuesday"),
        ('{ kind = "hours", days = { montag = "Mo" } }', "days: expected columns of monday, tuesday"),
        ('{ kind = "hours", days = { monday = "Mo" }, from = "H" }', "from: not used, because there are days"),
        ('{ kind = "hours", days = { monday = "Mo" }, values = {} }', "values: not used, because there are days"),
    ],
)
def test_keys_that_hours_do_not_have_are_errors(declared: str, why: str) -> None:
    with pytest.raises(FileError) as refused:
        parse_mapping(f"[stores.attributes]\nh = {declared}".encode())
    assert refused.value.why.startswith(f"stores.attributes.h.{why}")


@pytest.mark.parametrize("table", ["[stores.attributes]\na = {0}\nb = {0}", "[companies.attributes]\na = {0}"])
def test_only_one_attribute_of_stores_has_hours(table: str) -> None:
    with pytest.raises(FileError, match="only one attribute of stores has opening hours"):
        parse_mapping(table.format('{ from = "H", kind = "hours" }').encode())


def test_a_column_of_a_day_that_the_file_does_not_have_is_named(tmp_path: Path) -> None:
    found = loaded(tmp_path, '{ kind = "hours", days = { monday = "Montags" } }', "Montag", "9-18")
    assert "'Montags' (of attributes.hours; did you mean 'Montag'?)" in found.report.errors[0].why
    found = loaded(tmp_path, '{ kind = "hours", days = { monday = "X" }, optional = true }', "Montag", "9-18")
    assert hours(found) == [None]


def test_hours_are_told_apart_by_short_keys() -> None:
    field, cells = field_of(Attribute("hours", "hours")), [read("Mo-Su 9-18"), None, read("Mo-Sa 9-18"), read("9-18")]
    keys = check_column(field, cells, None).keys.split(KEY_END)
    assert keys[0] == keys[3] != keys[2]
    assert max(map(len, keys)) <= 16
