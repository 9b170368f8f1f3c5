"""Proposed opening hours: a comment that can be uncommented, with how many values were read."""

import re
import sys
from pathlib import Path
from types import FrameType

import pytest
from orjson import dumps

from service.loading.dataset import load
from service.reading.columns.countries import provinces_of, time_zones
from service.reading.hours.rules import read_rules
from service.reading.proposal.proposal import propose_mapping
from tests.loading.data_files import served
from tests.program import run_here
from tests.reading.hours.weeks import brief
from tests.reading.mapping.record_files import RECORD, nested
from tests.reading.mapping.test_proposal import entries, of_columns

REQUIRED = "store_id;company_id;address_1;city;country"


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        ("Mo-Sa 8-20|24/7", "2 of 2"),
        ("Mo-Fr 08:00-18:00; Sa 09:00-12:00|Mo 08:00-09:00; Tu off", "2 of 2"),
        ("Mo-Fr 9-18; PH off|Lu-Ve 9h-18h30|call us|9am-5pm", "3 of 4"),
        (f"{'; '.join(f'Dec {day} 09:00-12:00' for day in range(1, 20))}|9:00-18:00", "2 of 2"),
    ],
)
def test_a_column_of_which_most_values_are_read_as_hours_is_proposed(cells: str, read: str) -> None:
    found = entries(of_columns(Zeiten=cells))
    assert found["opening_hours"] == f'{{ from = "Zeiten", kind = "hours", invalid = "null" }}  # {read} values read'
    assert "zeiten" not in found


@pytest.mark.parametrize(
    "cells", ["10-12|8-20", "01.06-05.06", "closed|geschlossen", "2026-12-24", "8-20|Mo-Fr|call", "Mo-Fr 9-18|9 to 99"]
)
def test_numbers_dates_words_and_texts_that_are_mostly_not_read_are_no_hours(cells: str) -> None:
    assert "opening_hours" not in entries(of_columns(zzz=cells))


def test_a_column_with_such_a_name_needs_no_letters_or_minutes() -> None:
    assert entries(of_columns(Öffnungszeiten="8-20|9-18"))["opening_hours"].endswith("# 2 of 2 values read")


def test_one_column_of_several_is_proposed_as_hours_first_of_those_with_such_a_name() -> None:
    found = entries(
        of_columns(Lieferung="Mo 9-18|Mo 9-18", Öffnungszeiten="Mo 9-18|call us 1|Mi 8-9", opening_hours="a b")
    )
    assert found["opening_hours"].startswith('{ from = "Öffnungszeiten", kind = "hours"')
    assert found["lieferung"] == '{ from = "Lieferung", invalid = "null" }'
    assert found["opening_hours_2"] == '{ from = "opening_hours", invalid = "null" }'


@pytest.mark.parametrize(
    "names",
    [
        ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"),
        ("Monday hours", "Tuesday hours", "Wednesday hours", "Thursday hours", "Friday hours"),
        ("Open: lundi", "Open: mardi", "Open: mercredi", "Open: jeudi", "Open: vendredi", "Open: samedi"),
    ],
)
def test_columns_of_days_are_proposed_together(names: tuple[str, ...], tmp_path: Path) -> None:
    cells = ["9.00–12.30 / 14.00–18.30", *["9:00-18:00"] * (len(names) - 2), "-"]  # noqa: RUF001 - a dash of sheets
    rows = f"s1;c;a;b;DE;{';'.join(cells)}\ns2;c;a;b;DE;{';'.join(['?', *cells[1:]])}\ns3;c;a;b;DE;{';'.join(cells)}\n"
    text = _proposed(tmp_path, f"{REQUIRED};{';'.join(names)}\n{rows}")
    assert 'opening_hours = { kind = "hours", days = { monday = ' in text
    assert text.endswith('invalid = "null" }  # 2 of 3 values read\n')
    first, unknown, _ = _served(tmp_path, text)
    assert brief(first).startswith("mo 09:00-12:30")
    assert unknown is None


def test_a_column_of_one_day_is_no_week() -> None:
    found = entries(of_columns(**{"Sunday hours": "x|x", "Monday hours": "09:00-17:30|09:00-17:30"}))
    assert found["monday_hours"] == '{ from = "Monday hours", invalid = "null" }'
    assert "opening_hours" not in found


PERIOD = {"openDay": "MONDAY", "closeDay": "MONDAY", "openTime": {"hours": 9}, "closeTime": {"hours": 18}}
SPECIAL = {"startDate": {"year": 2026, "month": 12, "day": 24}, "closed": True}
SCHEMA_ORG = {"dayOfWeek": ["https://schema.org/Monday"], "opens": "09:00", "closes": "18:00"}
UCP = [{"day": "monday", "opens": "09:00", "closes": "18:00"}]
DATE = {"valid_from": "2026-12-24", "valid_through": "2026-12-24"}


@pytest.mark.parametrize(
    ("members", "keys"),
    [
        ({"regularHours": {"periods": [PERIOD]}, "specialHours": {"specialHourPeriods": [SPECIAL]}},
         'from = "regularHours", exceptions = "specialHours", kind = "hours"'),
        ({"openingHoursSpecification": [SCHEMA_ORG]}, 'from = "openingHoursSpecification", kind = "hours"'),
        ({"openingHoursSpecification": SCHEMA_ORG | {"dayOfWeek": "Monday"}},
         'from = "openingHoursSpecification", kind = "hours"'),
        ({"at": {"hours": UCP, "exception_hours": [DATE], "timezone": "Asia/Tokyo"}},
         'from = "at.hours", exceptions = "at.exception_hours", kind = "hours", timezone = { from = "at.timezone" }'),
        ({"h": dict.fromkeys(("Mon", "Tue", "Wed", "Thu"), "9-18")},
         'kind = "hours", days = { monday = "h.Mon", tuesday = "h.Tue", wednesday = "h.Wed", thursday = "h.Thu" }'),
    ],
)  # fmt: skip
def test_json_of_known_kinds_is_proposed_with_all_that_belongs_to_it(members: dict[str, object], keys: str) -> None:
    text = propose_mapping(nested([RECORD | {"country": "DE"} | members] * 2), "stores.json")
    assert text.endswith(f'line.\n# opening_hours = {{ {keys}, invalid = "null" }}  # 2 of 2 values read\n')


def test_json_in_cells_and_the_first_of_several_texts(tmp_path: Path) -> None:
    document = dumps({"periods": [PERIOD]}).decode().replace('"', '""')
    text = _proposed(tmp_path, f'{REQUIRED};regularHours;specialHours\ns1;c;a;b;DE;"{document}";{{}}\n')
    assert '= { from = "regularHours", exceptions = "specialHours", kind = "hours", invalid = "null" }' in text
    text = propose_mapping(nested([RECORD | {"hours": ["Mo 9-18", "Tu 9-18"]}]), "stores.json")
    assert entries(text)["hours"] == '{ from = "hours", kind = "list", invalid = "null" }'


def test_provinces_of_one_time_zone_get_it_and_others_are_left_to_be_filled_in() -> None:
    found = entries(of_columns(H="9h-18h|9h-17h|Mo 9-18", State="ca|Texas|ca", Land="USA|US|Canada", country="||"))
    zones = found["opening_hours"]
    assert 'timezone = { from = "State", values = {' in zones
    assert '"NY" = "America/New_York"' in zones
    assert '"ca" = "America/Los_Angeles"' in zones  # as it is spelt
    assert '"Texas" = "", ' in zones
    assert '"MB" = "America/Winnipeg"' in zones
    assert zones.endswith('}, other = "" }, invalid = "null" }  # 3 of 3 values read')


def test_every_time_zone_of_provinces_is_known() -> None:
    rows = [row for country in ("US", "Canada", "AUS", "MX", "BR") for row in provinces_of(country)]
    assert {zone for _, _, zone in rows} - {""} <= time_zones()
    assert len(rows) == 136
    assert not provinces_of("DE")
    assert not provinces_of("Utopia")


def test_only_some_distinct_texts_are_tried() -> None:
    reads = 0

    def observe(frame: FrameType, event: str, _: object) -> None:
        nonlocal reads
        reads += event == "call" and frame.f_code is read_rules.__code__

    columns = {f"column {number}": "|".join(f"{each} o'clock" for each in range(60)) for number in range(3)}
    sys.setprofile(observe)
    try:
        assert "opening_hours" not in entries(of_columns(**columns))
    finally:
        sys.setprofile(None)
    assert reads == 3 * 20


def _proposed(folder: Path, content: str) -> str:
    (folder / "stores.csv").write_text(content, "utf-8")
    return run_here("mapping", folder).stdout


def _served(folder: Path, proposal: str) -> list[dict[str, object]]:
    """Return the hours of the stores in a folder, by its proposal with hours."""
    text = re.sub("^# (?=opening_hours = )", "", proposal, flags=re.MULTILINE)
    (folder / "mapping.toml").write_text(text, "utf-8")
    return [store["attributes"]["opening_hours"] for store in served(load(folder))]
