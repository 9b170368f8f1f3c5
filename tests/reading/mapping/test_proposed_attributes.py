"""Proposed attributes and opening hours: comments with the columns that are left, which can be uncommented."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import given, strategies as st
from orjson import dumps

from service.loading.dataset import load
from service.model.attributes import MOST, NAME
from service.model.records import STORES
from service.reading.columns.countries import provinces_of, time_zones
from service.reading.hours.rules import read_rules
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.proposal.proposal import propose_mapping
from tests.loading.data_files import served
from tests.program import run_here
from tests.reading.hours.weeks import brief
from tests.reading.mapping.record_files import RECORD, Records, nested
from tests.reading.mapping.test_proposal import SAMPLES, entries, of_columns

_PROPOSED = re.compile(r"^# (?=[a-z0-9_]+ = \{ (?:from|kind) = )", re.MULTILINE)


def uncommented(text: str) -> str:
    """Return a proposal with all attributes that it has in comments."""
    before, heading, lines = text.partition("[stores.attributes]\n")
    return before + heading + _PROPOSED.sub("", lines)


def names(columns: Sequence[str]) -> list[str]:
    """Return the names of the attributes that are proposed for some columns."""
    file = Records([*RECORD, *columns], [{**RECORD, **dict.fromkeys(columns, "Text")}])
    mapping = parse_mapping(uncommented(propose_mapping(file, "x.csv")).encode())
    return [each.name for each in mapping.stores.attributes]


@pytest.mark.parametrize(
    ("cells", "keys"),
    [
        *((cells, "") for cells in ("nein|nein", "1,200|3,400", "007|012", "+49123|+4945", "05.06.2024|01.06.2024")),
        *((cells, "") for cells in ("https://a.example|www.b.example", "wifi;parking|a|wifi")),
        *((cells, 'kind = "flag", ') for cells in ("true|false", "1|0|1")),
        *((cells, 'kind = "number", ') for cells in ("1|1|1", "7.5|-12|0", "20240531|20241301", "20240531|18991201")),
        ("Ja|nein", 'kind = "flag", values = { "Ja" = true, "nein" = false }, '),
        ("x||", 'kind = "flag", values = { "x" = true }, '),
        ("7,5|12", 'kind = "number", decimal = ",", '),
        ("+49 30 1234|+49456", 'kind = "phone", '),
        ("a@b.example|C@d.example", 'kind = "email", '),
        ("https://a.example/x.PNG|https://a.example/x.webp?y", 'kind = "image", '),
        ("https://a.example/x.png|http://a.example/x.png", 'kind = "url", '),
        ("2019-02-01|2020-01-01T10:00:00Z", 'kind = "date", '),
        ("31.05.2024|01.06.2024", 'kind = "date", date = "dd.mm.yyyy", '),
        ("20240531|19991201", 'kind = "date", date = "yyyymmdd", '),
        ("31.05.2024|2020-01-01", 'kind = "date", date = ["dd.mm.yyyy", "rfc3339"], '),
        ("https://a.example|HTTP://b.example/x?a;b", 'kind = "url", '),
        ("wifi;parking|a; b|wifi", 'kind = "list", '),
    ],
)
def test_the_kind_is_that_of_the_first_records(cells: str, keys: str) -> None:
    assert entries(of_columns(zzz=cells))["zzz"] == f'{{ from = "zzz", {keys}invalid = "null" }}'


def test_another_column_proves_the_format_of_dates() -> None:
    text = of_columns(zzz="05.06.2024|01.06.2024", yyy="31.05.2024|01.06.2024")
    assert 'date = "dd.mm.yyyy"' in entries(text)["zzz"]


def test_numbers_are_read_with_the_decimal_commas_of_coordinates() -> None:
    text = of_columns(latitude="43,7|43,8", longitude="-79,4|-79,5", zzz="7,5|8", yyy="7.5|8")
    assert entries(text)["zzz"] == '{ from = "zzz", kind = "number", invalid = "null" }'
    assert entries(text)["yyy"] == '{ from = "yyy", invalid = "null" }'


def test_arrays_and_values_of_json_have_their_kinds() -> None:
    more = {"more": {"size": 7.5, "yes": True}, "parts": [{"k": "v"}], "mixed": [True]}
    mixed = [{**RECORD, "both": each, "zzz": ["a", 5], **more} for each in (["a"], [{"k": "v"}])]
    found = entries(propose_mapping(nested(mixed), "x.json"))
    assert found["zzz"] == '{ from = "zzz", kind = "list", invalid = "null" }'
    assert found["both"] == '{ from = "both.0", invalid = "null" }'
    assert found["more_size"] == '{ from = "more.size", kind = "number", invalid = "null" }'
    assert found["more_yes"] == '{ from = "more.yes", kind = "flag", invalid = "null" }'
    assert found["parts_0_k"] == '{ from = "parts.0.k", invalid = "null" }'
    assert found["mixed"] == '{ from = "mixed.0", kind = "flag", invalid = "null" }'


def test_names_are_ascii_and_those_of_no_field() -> None:
    assert names(["Öffnungszeiten", "Größe (m²)", "24h", "東京", "大阪", "CITY", "Café", "cafe", "Distance"]) == [
        "offnungszeiten", "grosse_m2", "column_24h", "column", "column_2", "city_2", "cafe", "cafe_2", "distance_2",
    ]  # fmt: skip
    assert names(["attributes.zzz"]) == ["zzz"]


@given(st.sets(st.text(max_size=8) | st.text(min_size=62, max_size=70), max_size=40))
def test_any_columns_get_names_that_are_valid_and_distinct(columns: set[str]) -> None:
    found = names(sorted(columns))
    assert len(found) == len(set(found)) <= MOST
    assert all(NAME.fullmatch(name) for name in found)
    assert {field.name for field in STORES.fields}.isdisjoint(found)


def test_columns_beyond_the_most_attributes_are_listed() -> None:
    columns = [f"zzz{number}" for number in range(MOST + 2)]
    file = Records([*RECORD, *columns], [{**RECORD, **dict.fromkeys(columns, "y z")}])
    text = propose_mapping(file, "x.csv")
    assert len(_PROPOSED.findall(text)) == MOST
    assert text.endswith(f'\n\n# A mapping has at most 32 attributes: "zzz{MOST}", "zzz{MOST + 1}".\n')
    assert len(parse_mapping(uncommented(text).encode()).stores.attributes) == MOST


def test_all_lines_can_be_uncommented_and_give_values_without_warnings(tmp_path: Path) -> None:
    (tmp_path / "stores.csv").write_text(
        "store_id;company_id;address_1;city;country;aaa;bbb;ccc;ddd;eee\n"
        's1;c;a;b;CA;text one;ja;7,5;31.05.2024;"a;b"\n'
        's2;c;a;b;CA;text two;nein;8;01.06.2024;"c;d"\n'
        "s3;c;a;b;CA;;;;;\n",
        "utf-8",
    )
    text = run_here("mapping", tmp_path).stdout
    (tmp_path / "mapping.toml").write_text(uncommented(text), "utf-8")
    found = load(tmp_path)
    assert found.report.errors == found.report.warnings == []
    assert [store["attributes"] for store in served(found)] == [
        {"aaa": "text one", "bbb": True, "ccc": 7.5, "ddd": "2024-05-31", "eee": ["a", "b"]},
        {"aaa": "text two", "bbb": False, "ccc": 8, "ddd": "2024-06-01", "eee": ["c", "d"]},
        dict.fromkeys(("aaa", "bbb", "ccc", "ddd", "eee")),
    ]
    for name in ("aaa", "bbb", "ccc", "ddd", "eee"):
        one = re.sub(rf"^# (?={name} = )", "", text, flags=re.MULTILINE)
        assert [each.name for each in parse_mapping(one.encode()).stores.attributes] == [name]


@pytest.mark.parametrize(
    "sample", ["openstreetmap.geojson", "all_the_places.geojson", "google_business_profile.csv", "overture.json"]
)
def test_the_columns_that_a_preset_leaves_are_proposed_too(sample: str, tmp_path: Path) -> None:
    proposal = run_here("mapping", SAMPLES / sample)
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(uncommented(proposal.stdout), "utf-8")
    declared = parse_mapping(mapping.read_bytes()).stores.attributes
    assert declared
    before = run_here("check", SAMPLES / sample, "--mapping", re.findall('preset = "(.*)"', proposal.stdout)[0])
    after = run_here("check", SAMPLES / sample, "--mapping", mapping)
    assert before.returncode == after.returncode
    assert "attributes" in after.stdout


def test_codes_that_are_words_for_yes_and_no_are_texts() -> None:
    record = {"store_id": "s", "company_id": "c", "address_1": "1 Elm St", "city": "Ada", "country": "Norway"}
    codes = {"province": "Ontario", "province_code": "ON", "country_code": "NO", "land_code": "SI", "mainPhone": "1"}
    text = propose_mapping(nested([{**record, **codes, "drive_in": True, "has_atm": "no"}]), "x")
    assert 'phone_number = "mainPhone"' in text
    for name in ("province_code", "country_code", "land_code"):
        assert f'\n# {name} = {{ from = "{name}", invalid = "null" }}\n' in text
    for name in ("drive_in", "has_atm"):
        assert f'\n# {name} = {{ from = "{name}", kind = "flag", invalid = "null" }}' in text


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


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("Hours", "Mon-Fri: 9:00 AM - 5:00 PM; Sat 10-2|9-18", "bare hours that end before they begin"),
        ("hours", "Mo-Fr 9-5pm|call", "am or pm on one side"),
        ("Store hours", "Mo 9 am-18+", "open ends"),
        ("Zeiten", "Mo 9-5", ""),
        ("opened", "Jan 5, 2020|2021-01-01", ""),
        ("open", "1|0", ""),
    ],
)
def test_a_column_named_for_hours_is_listed_with_why_most_are_not_read(name: str, cells: str, why: str) -> None:
    text = of_columns(**{name: cells})
    assert 'kind = "hours"' not in text
    first = cells.partition("|")[0]
    line = f'\n# "{name}": opening hours that cannot be read: {why}, such as "{first}".\n'
    assert (line in text) is bool(why)
    assert ("cannot be read" in text) is bool(why)


def test_one_column_of_several_is_proposed_as_hours_first_of_those_with_such_a_name() -> None:
    hours = {"Lieferung": "Mo 9-18|Mo 9-18", "Öffnungszeiten": "Mo 9-18|call us 1|Mi 8-9", "opening_hours": "a b"}
    found = entries(of_columns(**hours))
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
    weeks = (cells, ["?", *cells[1:]], cells)
    rows = "".join(f"s{number};c;a;b;DE;x;{';'.join(week)};x\n" for number, week in enumerate(weeks))
    text = _proposed(tmp_path, f"{REQUIRED};Fax;{';'.join(names)};Notes\n{rows}")
    assert 'opening_hours = { kind = "hours", days = { monday = ' in text
    assert 'invalid = "null" }  # 2 of 3 values read\n' in text
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
