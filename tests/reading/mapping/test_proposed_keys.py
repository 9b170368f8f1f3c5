"""`store-directory mapping` proposes the keys that a file needs: with them, it loads like the file as it should be."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from service.dataset import ReadOptions
from service.loading.dataset import Loaded, load
from tests.loading.data_files import dataset, served
from tests.program import run_here
from tests.workbooks import xlsx
from tests.zip_archives import zipped

NAMES = ["store_id", "company_id", "address_1", "city", "country", "name"]
RECORDS = [[f"s{n}", "acme", f"{n} Elm St", f"City {n % 3}", "CA", f"Shop {n}"] for n in range(1, 8)]
Rows = Sequence[Sequence[str]]


def written(rows: Rows, delimiter: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def proposal(path: Path) -> str:
    ended = run_here("mapping", path)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def mapped(path: Path, mapping: str) -> Loaded:
    (path.parent / "mapping.toml").write_text(mapping, "utf-8")
    return load(path, options=ReadOptions(mapping=str(path.parent / "mapping.toml")))


def keys(mapping: str) -> list[str]:
    """Return the lines of `[stores]` in a mapping."""
    assert mapping.count("[stores]\n") <= 1
    return mapping.partition("[stores]\n")[2].partition("\n\n")[0].splitlines()


def version(loaded: Loaded) -> str:
    assert loaded.report.errors == []
    return dataset(loaded).version


DEFORMED: dict[str, tuple[Callable[[Rows], str], list[str]]] = {
    "a title": (lambda rows: f"Our stores\n\n{written(rows)}", ["skip_lines = 1"]),
    "a title with cells": (lambda rows: f"Stores;2026\nof;us;all\n\n{written(rows, ';')}", ["skip_lines = 2"]),
    "a title with a quote": (lambda rows: f'"Our" stores\n{written(rows)}', ["skip_lines = 1"]),
    "spaces": (lambda rows: written([[f" {cell}\t" for cell in row] for row in rows]), ["trim = true"]),
    "wrong characters": (lambda rows: written(rows).replace("Elm St", "Elm\x92s"), ['repair = ["windows-1252"]']),
    "quotes": (lambda rows: written(rows).replace("Shop 3", '"3" Shop'), ['quote = ""']),
    "an inch": (lambda rows: written(rows).replace("Shop 3", '"Shop'), ['quote = ""']),
    "all of them": (
        lambda rows: "Stores of\n" + "".join(f'{",".join(row)}x"\n' for row in rows).replace("City", " City\x80"),
        ['repair = ["windows-1252"]', "skip_lines = 1", "trim = true"],
    ),
    "nothing": (written, []),
}


@pytest.mark.parametrize("name", DEFORMED)
def test_a_deformed_file_loads_with_the_proposed_keys(tmp_path: Path, name: str) -> None:
    deform, expected = DEFORMED[name]
    file = tmp_path / "shops.csv"
    file.write_text(deform([NAMES, *RECORDS]), "utf-8")
    mapping = proposal(file)
    assert keys(mapping) == expected
    loaded = mapped(file, mapping)
    assert (loaded.report.errors, len(dataset(loaded).stores)) == ([], len(RECORDS))


@pytest.mark.parametrize("title", ["", "Our stores\n\nof 2026\n"])
def test_columns_are_proposed_for_a_file_without_a_header(tmp_path: Path, title: str) -> None:
    file = tmp_path / "shops.csv"
    file.write_text(title + written(RECORDS, ";"), "utf-8")
    mapping = proposal(file)
    skip = ["skip_lines = 3"] if title else []
    columns = [f"column_{number}" for number in range(1, 7)]
    assert keys(mapping) == [*skip, f"columns = {json.dumps(columns)}"]
    why = '# There is no header line: name the columns, the first values of which are "s1", "acme", "1 Elm St"'
    assert why in mapping
    named = f'[stores]\n{"".join(skip)}\ncolumns = {json.dumps(NAMES)}\n[companies]\nfrom = "stores"\n'
    whole = tmp_path / "whole.csv"
    whole.write_text(written([NAMES, *RECORDS]), "utf-8")
    assert version(mapped(file, named)) == version(load(whole))


@pytest.mark.parametrize(
    ("change", "expected"),
    [(("Shop 3", " Shop 3"), ["trim = true"]), (("Shop 3", '"3" Shop'), ['quote = ""']), (("Shop 1", "Shop 1"), [])],
    ids=["spaces", "quotes", "nothing"],
)
def test_a_file_without_a_header_is_judged_by_all_of_its_first_records(
    tmp_path: Path, change: tuple[str, str], expected: list[str]
) -> None:
    file = tmp_path / "shops.csv"
    file.write_text(written([[*row, row[0] if row != RECORDS[0] else ""] for row in RECORDS]).replace(*change))
    mapping = proposal(file)
    assert sorted(line for line in keys(mapping) if not line.startswith("columns")) == expected
    assert f"its first {len(RECORDS)} records" in mapping
    assert 'such as "column_1"' in mapping
    assert '# column_7 = { from = "column_7", invalid = "null" }' in mapping


@pytest.mark.process
@pytest.mark.parametrize("header", [[NAMES], []], ids=["header", "none"])
def test_the_keys_of_a_sheet_are_proposed(tmp_path: Path, header: list[list[str]]) -> None:
    file = tmp_path / "shops.xlsx"
    file.write_bytes(xlsx({"S": [["Our stores"], [], *header, *([f"{row[0]} ", *row[1:]] for row in RECORDS)]}))
    columns = [] if header else [f"columns = {json.dumps([f'column_{number}' for number in range(1, 7)])}"]
    mapping = proposal(file)
    assert keys(mapping) == ["skip_lines = 1", *columns, "trim = true"]
    if header:
        assert mapped(file, mapping).report.totals.stores == len(RECORDS)


def test_a_header_of_unknown_names_is_neither_a_title_nor_data(tmp_path: Path) -> None:
    file = tmp_path / "shops.csv"
    header = ["kaupa", "nimi", "osoite", "paikka", "maa", "x", ""]
    file.write_text(written([header, *([*row, ""] for row in RECORDS)]), "utf-8")
    assert not {"skip_lines", "columns"} & {line.partition(" ")[0] for line in keys(proposal(file))}


def test_spaces_and_wrong_characters_are_found_in_json(tmp_path: Path) -> None:
    file = tmp_path / "shops.json"
    records = [dict(zip(NAMES, row, strict=True)) | {"name": " Joe\x92s"} for row in RECORDS]
    file.write_text(json.dumps(records), "utf-8")
    mapping = proposal(file)
    assert keys(mapping) == ['repair = ["windows-1252"]', "trim = true"]
    assert served(mapped(file, mapping))[0]["name"] == "Joe’s"  # noqa: RUF001 - a real apostrophe


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["stores-1.csv", "stores-2.csv", "notes.md"], ["stores-*.csv"]),
        (["filialen_nord.csv", "filialen_sued.csv"], ["filialen_*.csv"]),
        (["stores.csv", "stores.jsonl"], ["stores.*"]),
        (["Stores.csv", "stores-2.csv"], ["Stores.csv", "stores-2.csv"]),
    ],
)
@pytest.mark.parametrize("place", ["data", "data.zip"])
def test_several_files_are_proposed(tmp_path: Path, names: Sequence[str], pattern: Sequence[str], place: str) -> None:
    data = tmp_path / place
    lines = "".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in RECORDS[4:])
    second = lines if names[1].endswith(".jsonl") else written([NAMES, *RECORDS[4:]])
    files = dict(zip(names, (written([NAMES, *RECORDS[:4]]).encode(), second.encode(), b""), strict=False))
    if data.suffix:
        data.write_bytes(zipped(files))
    else:
        write(data, files)
    mapping = proposal(data)
    assert keys(mapping) == [f"files = {json.dumps(pattern)}"]
    assert mapped(data, mapping).report.totals.stores == len(RECORDS)
    if not data.suffix:
        write(data, {"mapping.toml": mapping.encode()})
        assert proposal(data) == mapping


def test_files_that_are_not_alike_are_not_proposed(tmp_path: Path) -> None:
    for name in ("berlin.csv", "ulm.csv", "companies.csv", "company.csv"):
        (tmp_path / name).write_text(written([NAMES, *RECORDS]))
    ended = run_here("mapping", tmp_path)
    assert ended.returncode == 1
    assert "stores: the file is missing" in ended.stderr


@pytest.mark.parametrize("content", ["store_id,city,city\ns1,a,b\n", "store_id,city,country,address\ns1,a\ns2,a,b,c\n"])
def test_what_no_key_helps_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    file = tmp_path / "shops.csv"
    file.write_text(content)
    ended = run_here("mapping", file)
    duplicate = "Error: shops.csv:1: duplicate columns: 'city': rename them\n"
    assert ended.stderr == (duplicate if "city,city" in content else "")
    assert keys(ended.stdout) == []
