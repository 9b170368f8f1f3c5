"""The documentation of mappings against the code: every key, every preset, and the tutorial to the letter."""

import csv
import re
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import get_args

import orjson
import pytest

from service.dataset import ReadOptions
from service.loading.dataset import load
from service.model.attributes import AttributeKind
from service.reading.columns.dates import RFC_3339, TOKENS
from service.reading.mapping.declaration import (
    AttributeTable,
    CompaniesTable,
    FieldTable,
    FileTable,
    JoinedColumns,
    StoresTable,
)
from service.reading.mapping.mapping_file import PRESETS, parse_mapping
from service.reading.mapping.toml import keys_of
from tests.program import run_here, serving
from tests.test_docs import ROOT, blocks, codes, named, rows, section
from tests.workbooks import Value, xlsx

MAPPING, TUTORIAL = ((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("mapping", "tutorial-spreadsheet"))
FILE = "filialen.csv"


def test_every_key_of_a_mapping_is_documented_in_order() -> None:
    assert named(section(MAPPING, "mapping.toml"), "Key") == keys_of(FileTable)
    assert named(section(MAPPING, "`[stores]`"), "Key") == keys_of(StoresTable)
    assert keys_of(StoresTable) + named(section(MAPPING, "`[companies]`"), "Key") == keys_of(CompaniesTable)
    assert named(section(MAPPING, "Entries"), "Key") == keys_of(FieldTable)
    own = set(keys_of(AttributeTable)) - set(keys_of(FieldTable)) | {"separator"}
    assert set(named(section(MAPPING, "Attributes"), "Key of an attribute")) == own
    assert named(section(MAPPING, "Attributes"), "Kind") == list(get_args(AttributeKind))
    assert named(section(MAPPING, "Entries"), "Key of a join") == keys_of(JoinedColumns)


def test_every_part_of_a_format_of_dates_is_documented() -> None:
    text = section(MAPPING, "Formats of dates")
    assert {code for row in rows(text, "Part") for code in codes(row["Part"])} == TOKENS.keys()
    assert RFC_3339 in codes(text)


def test_every_preset_has_a_section_with_the_command_that_tries_it() -> None:
    assert sorted(re.findall(r"^### `([a-z-]+)`$", MAPPING, re.MULTILINE)) == sorted(PRESETS)
    for preset in PRESETS:
        assert f" --mapping {preset}\n" in section(MAPPING, f"`{preset}`")


@pytest.mark.parametrize("example", blocks(MAPPING, "toml"))
def test_every_mapping_in_the_docs_is_valid(example: str) -> None:
    assert parse_mapping(example.encode()).derives_companies


def test_every_way_to_declare_opening_hours_in_the_docs_is_valid() -> None:
    declared = [codes(row["Declare"])[0] for row in rows(section(MAPPING, "Opening hours"), "The file has")]
    assert len(declared) > 1
    for each in declared:
        [attribute] = parse_mapping(f"[stores.attributes]\n{each}".encode()).stores.attributes
        assert attribute.kind == "hours"


def test_the_errors_of_mappings_in_the_docs_are_those_that_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    header = "store_id,company_id,address_1,Ort,country,created_at\n"
    stores = (f"s{day},c,a,b,DE,{day}\n" for day in ("31.05.2024", "01.06.2024", "2020-02-29"))
    Path(FILE).write_text(header + "".join(stores))
    reported = []
    for mapping in (
        "[stores]\nfeilds = {}",
        '[stores.fields]\ncity = "Orr"',
        '[stores]\ndate = "dd.mm.yyyy"\n[stores.fields]\ncity = "Ort"',
    ):
        Path("mapping.toml").write_text(mapping)
        reported += load(Path(FILE), options=ReadOptions(mapping="mapping.toml")).report.errors
    documented = re.findall(rf"^(?:mapping\.toml|{FILE}):.*$", MAPPING, re.MULTILINE)
    assert list(map(str, reported)) == documented


@pytest.mark.process
def test_the_tutorial_is_true_to_the_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    proposal, completed, of_csv = blocks(TUTORIAL, "toml")
    (spreadsheet,), answers = blocks(TUTORIAL, "csv"), blocks(TUTORIAL, "json")
    header, *stores = csv.reader(spreadsheet.splitlines(), delimiter=";")
    assert [dict(zip(header, map(with_points, store), strict=True)) for store in stores] == rows(TUTORIAL, header[0])
    title = re.search("title `(.*)`", TUTORIAL)
    assert title is not None
    cells = [[typed(name, cell) for name, cell in zip(header, store, strict=True)] for store in stores]
    Path("filialen.xlsx").write_bytes(xlsx({"Filialen": [[title[1]], [], header, *cells]}))
    Path(FILE).write_text(spreadsheet, "utf-8")

    mapped = run_here("mapping", "filialen.xlsx")
    assert (mapped.stdout, mapped.stderr) == (proposal, "")
    Path("mapping.toml").write_text(complete(proposal, completed), "utf-8")
    command, checked = printed("check")
    assert run_here(*command).stdout == checked
    command, _ = printed("serve")
    with serving(*command[1:]) as service:
        targets = re.findall(r"curl .*8080([^']*)'", TUTORIAL)
        served = [orjson.loads(service.get(target, service.key).body) for target in targets]
        assert served == list(map(orjson.loads, answers))
        assert service.get("/explorer").status == HTTPStatus.OK

    mapped = run_here("mapping", FILE)
    assert set(of_csv.splitlines()) == set(mapped.stdout.splitlines()[3:]) - set(proposal.splitlines())
    Path("mapping.toml").write_text(complete(mapped.stdout, completed), "utf-8")
    same = run_here("check", FILE, "--mapping", "mapping.toml").stdout
    assert same.splitlines()[2:] == checked.splitlines()[1:]


def with_points(cell: str) -> str:
    """Return a cell of the tutorial's CSV file as its table shows it."""
    return cell.replace(",", ".") if re.fullmatch("[0-9]+,[0-9]+", cell) else cell


def typed(name: str, cell: str) -> Value:
    """Return a cell as a spreadsheet program keeps it."""
    if name == "Eröffnet am":
        return datetime.strptime(cell, "%d.%m.%Y").replace(tzinfo=UTC).date()
    return float(with_points(cell)) if re.fullmatch("[0-9]+(,[0-9]+)?", cell) and name != "PLZ" else cell


def complete(proposal: str, completed: str) -> str:
    """Return a proposed mapping with the lines of the tutorial in place of those of the same key or column."""
    for line in completed.splitlines():
        key, column = line.partition(" = ")[0], re.search('from = "[^"]*"', line)
        same = rf"^# \w+ = {{ {re.escape(column[0])}.*$" if column else rf"^{key} = .*$"
        proposal, changed = re.subn(same, line, proposal, flags=re.MULTILINE)
        assert changed == 1
    return proposal


def printed(name: str) -> tuple[list[str], str]:
    """Return the command of a name in the tutorial, and what it prints."""
    (found,) = re.findall(rf"^\$ store-directory ({name} .*)\n((?:(?!```).*\n)*)", TUTORIAL, re.MULTILINE)
    return found[0].split(), found[1]
