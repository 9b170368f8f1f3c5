"""`store-directory check`."""

import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unicodedata import east_asian_width

import orjson
import pytest

from service.commands import main
from service.loading.dataset import load
from tests.directory import store, write_directory
from tests.program import SECONDS, run, run_here, run_into, usage
from tests.zip_archives import zipped


@pytest.fixture
def valid(tmp_path: Path) -> Path:
    return write_directory(tmp_path / "valid", [store("s1"), store("s1")])


@pytest.fixture
def invalid(tmp_path: Path) -> Path:
    stores = [store(f"s{number}", city=None) for number in range(7)]
    return write_directory(tmp_path / "invalid", [*stores, store("s8", created_at="2024-13-01", latitude="95")])


@pytest.mark.process
def test_warnings_alone_exit_with_0(valid: Path) -> None:
    ended = run("check", valid)
    assert ended.returncode == 0
    assert "repeated: 1 warning" in ended.stdout
    assert "1 store and 1 company can be served; 0 invalid records, 1 repeated" in ended.stdout


def test_data_without_a_store_exits_with_1_and_the_error_of_serve(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [])
    ended = run_here("check", folder, "--json")
    assert ended.returncode == 1
    assert orjson.loads(ended.stdout)["totals"]["stores"] == 0
    assert "0 stores, at least 1 needed; --min-stores 0 allows that" in ended.stderr
    assert run_here("check", folder, "--min-stores", "0").returncode == 0


@pytest.mark.parametrize("command", ["check", "mapping", "bake"])
def test_a_baked_file_has_an_error_that_names_the_command_for_it(valid: Path, tmp_path: Path, command: str) -> None:
    baked = tmp_path / "stores.baked"
    usage("bake", valid, baked)
    ended = run_here(command, baked, *([tmp_path / "again.baked"] if command == "bake" else []))
    assert ended.returncode == 1
    why = "a baked file is checked by `store-directory verify`; its data files are needed here"
    assert why in ended.stdout + ended.stderr


def test_errors_are_grouped_by_code_with_counts_and_examples_and_exit_with_1(invalid: Path) -> None:
    ended = run_here("check", invalid)
    assert ended.returncode == 1
    assert "missing: 7 errors" in ended.stdout
    shown = [f"stores.json:1: record {number}: city:" in ended.stdout for number in range(1, 8)]
    assert shown == [True] * 5 + [False] * 2
    assert re.findall(r"… and (\d+) more", ended.stdout) == ["2"]
    assert "date: 1 error\n" in ended.stdout
    assert "'2024-13-01'" in ended.stdout
    assert "range: 1 warning\n" in ended.stdout


def test_all_unused_columns_are_listed_as_warnings(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [])
    (folder / "stores.json").unlink()
    columns = "store_id,company_id,address_1,city,country,store_name,state,zip,lat,lng,open"
    (folder / "stores.csv").write_text(f"{columns}\ns1,acme,1 Main St,Toronto,CA,Acme,ON,M5V,43.7,-79.4,no\n")
    ended = run_here("check", folder)
    assert ended.returncode == 0
    assert "unused: 6 warnings\n" in ended.stdout
    assert "locations: 1 warning\n" in ended.stdout
    for name in columns.split(",")[5:]:
        assert f"\n  stores.csv:1: {name}: not a field, so it is ignored (1 record); did you mean " in ended.stdout


def test_the_first_stores_are_shown_as_they_are_served_one_field_a_line(tmp_path: Path) -> None:
    city = "Zürich\u200b\u00a0"
    stores = [store(f"s{number}", created_at=f"2024-01-0{number}", city=city) for number in (4, 2, 3, 1)]
    folder = write_directory(tmp_path / "data", stores)
    warnings, _, shown_stores = run_here("check", folder).stdout.partition("the first stores in the default order")
    heading, *blocks, unlocated, totals = shown_stores.splitlines()
    assert warnings.startswith("invisible: 4 warnings\n")
    assert unlocated == "4 of 4 stores without a location"
    assert heading == ", by created_at, as they are served:"
    dataset = load(folder).dataset
    assert dataset is not None
    served = [orjson.loads(dataset.stores.row(row)) for row in range(3)]
    shown = [dict(line.split(maxsplit=1) for line in block.splitlines()) for block in "\n".join(blocks).split("\n\n")]
    assert [{name: orjson.loads(value) for name, value in each.items()} for each in shown] == served
    assert [record["store_id"] for record in served] == ["s1", "s2", "s3"]
    assert totals.startswith("4 stores ")
    assert all(line.isprintable() for line in blocks)
    assert '  city               "Zürich\\u200b\\u00a0"' in blocks


def test_attributes_of_the_first_stores_have_a_line_each_and_unlocated_stores_are_counted(tmp_path: Path) -> None:
    hours, located = "Mo-Fr 08:00-20:00, Sa 09:00-18:00", {"latitude": "43.7", "longitude": "-79.4"}
    stores = [store(f"s{number}", **located, Zeiten=hours, Services=["wifi"]) for number in range(11)]
    others = [store("s11"), store("s12", latitude="north")]
    folder = write_directory(tmp_path / "data", [*stores, *others])
    (folder / "mapping.toml").write_text(
        '[stores.attributes]\nopening_hours = "Zeiten"\nservices = {from = "Services", kind = "list"}\n'
    )
    lines = run_here("check", folder).stdout.splitlines()
    assert f'  attributes.opening_hours  "{hours}"' in lines
    assert '  attributes.services       ["wifi"]' in lines
    assert lines[-2] == "2 of 13 stores without a location"
    assert "location" not in run_here("check", write_directory(tmp_path / "all", [store("s1", **located)])).stdout


@pytest.mark.parametrize("text", ["Many words. " * 9, "株式会社 " * 18, "x" * 4000, '"\u200b\\' * 40])
def test_long_values_are_cut_so_that_a_line_of_a_store_fits_in_80_columns(tmp_path: Path, text: str) -> None:
    folder = write_directory(tmp_path / "data", [store("s1", name=text)])
    (line,) = (line for line in run_here("check", folder).stdout.splitlines() if line.startswith("  name "))
    assert line.endswith("…")
    assert 76 <= sum(2 if east_asian_width(each) in "WF" else 1 for each in line) <= 78


def test_long_values_of_errors_and_warnings_are_cut_but_not_in_the_json_report(tmp_path: Path) -> None:
    fields = {"latitude": "x" * 150, "created_at": "y" * 150, "z" * 150: ""}
    folder = write_directory(tmp_path / "data", [store("s1", **fields)])
    ended = run_here("check", folder)
    assert f"'{'x' * 56}…'\n" in ended.stdout
    assert f"'{'y' * 56}…'\n" in ended.stdout
    assert f": {'z' * 56}…: not a field" in ended.stdout
    report = orjson.loads(run_here("check", folder, "--json").stdout)
    assert {each["value"] for each in (*report["faults"], *report["warnings"])} == {"y" * 150, "x" * 150, None}


class Terminal(TextIOWrapper):
    """A terminal that shows the output."""

    def isatty(self) -> bool:
        """Return that it is one."""
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path, **settings: str) -> str:
    """Return what `check` writes to a terminal."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", **settings}.items():
        monkeypatch.setenv(name, value)
    with redirect_stdout(Terminal(written := BytesIO(), "utf-8")) as terminal:
        main(["check", *map(str, arguments)], standalone_mode=False)
        terminal.flush()
    return written.getvalue().decode()


STYLE = re.compile("\x1b\\[([0-9;]*)m")


def test_errors_and_warnings_are_coloured_on_terminals_or_plain(invalid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = on_terminal(monkeypatch, invalid)
    assert "\x1b[1;31mmissing: 7 errors\x1b[0m\n" in shown
    assert "\x1b[1;33mrange: 1 warning\x1b[0m\n" in shown
    plain = run_here("check", invalid).stdout
    for variable in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert on_terminal(monkeypatch, invalid, **variable) == plain == STYLE.sub("", shown)
    assert on_terminal(monkeypatch, invalid, "--json") == run_here("check", invalid, "--json").stdout


def test_values_that_are_null_are_dim_and_markup_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_directory(tmp_path / "data", [store("s1", name="[red]:smile:", city="株" * 50)])
    shown = on_terminal(monkeypatch, folder)
    assert "  \x1b[2mparent_company_id  null\x1b[0m\n" in shown
    assert '  name               "[red]:smile:"\n' in shown
    assert f'  city               "{"株" * 27}…\n' in shown


def test_what_was_assumed_about_a_single_file_comes_first_and_is_not_in_the_json_report(tmp_path: Path) -> None:
    file = tmp_path / "filialen.csv"
    file.write_bytes("store_id,company_id,address_1,city,country\ns1,acme,1 Main St,Köln,DE\n".encode("cp1252"))
    for encoding, code in (("utf-8", 1), ("windows-1252", 0)):
        assert run_here("check", file, "--encoding", encoding).returncode == code
    lines = run_here("check", file, "--encoding", "windows-1252").stdout.splitlines()
    assert lines[0] == "filialen.csv: companies: from company_id, named by company_name if there is one"
    assert lines[-1] == "1 store and 1 company can be served; 0 invalid records, 0 repeated"
    report = orjson.loads(run_here("check", file, "--encoding", "windows-1252", "--json").stdout)
    assert list(report) == ["faults", "warnings", "totals"]


def test_the_name_of_a_file_in_an_archive_is_safe_to_print(tmp_path: Path) -> None:
    file, header = tmp_path / "data.zip", b"store_id,company_id,address_1,city,country,x\n"
    for rows in (b"s1,acme,1 Main St,Toronto,CA,\n", b"s1,acme,,,,\n", b""):
        file.write_bytes(zipped({"\x1b[31m.csv": header[: 45 if rows else 5] + rows}))
        lines = run_here("check", file).stdout.splitlines()
        assert all(line.isprintable() for line in lines)
        assert any("\\x1b[31m.csv:" in line for line in lines)


def test_the_json_report_is_complete_and_has_the_documented_form(invalid: Path) -> None:
    ended = run_here("check", invalid, "--json")
    report = orjson.loads(ended.stdout)
    assert ended.returncode == 1
    assert list(report) == ["faults", "warnings", "totals"]
    assert list(report["faults"][0]) == ["code", "file", "line", "record", "field", "value", "why"]
    assert [fault["record"] for fault in report["faults"]] == list(range(1, 9))
    assert report["totals"] == {"stores": 0, "companies": 1, "skipped": 8, "repeated": 0}


def test_a_missing_folder_is_an_error_without_a_traceback(tmp_path: Path) -> None:
    ended = run_here("check", tmp_path / "nowhere")
    assert (ended.returncode, "nowhere" in ended.stdout, ended.stderr) == (1, True, "")


def test_no_folder_or_a_url_exits_with_2_and_prints_no_password() -> None:
    assert usage("check").exit_code == 2
    ended = usage("check", "s3://user:hunter2@bucket/data")
    assert ended.exit_code == 2
    assert "must be a local folder or file, not a URL" in ended.stderr
    assert "hunter2" not in ended.stderr


@pytest.mark.process
def test_a_folder_name_that_is_not_utf_8_appears_in_the_json_report(tmp_path: Path) -> None:
    ended = run("check", f"{tmp_path}/\udcff", "--json")
    assert ended.returncode == 1
    assert orjson.loads(ended.stdout)["faults"][0]["file"].endswith("\ufffd")


@pytest.mark.process
@pytest.mark.parametrize("command", ["check {}", "--help"])
def test_a_full_output_device_exits_with_1_without_a_traceback(valid: Path, command: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = run_into(full, *command.format(valid).split())
    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr


INTERRUPTED = """
import sys, types
class Interrupted(types.ModuleType):
    def __getattr__(self, name): raise KeyboardInterrupt
module = sys.argv.pop(1)
sys.modules[module] = Interrupted(module)
from service.__main__ import main
main()
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("module", "printed"),
    [("service.commands", ""), ("service.loading.dataset", "\nInterrupted: files are written whole or not at all\n")],
)
def test_an_interrupt_exits_with_130_without_a_traceback(module: str, printed: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, module, "check", "x"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (ended.returncode, ended.stderr) == (130, printed)


OWN_COLUMNS = "Nr,Kette,Strasse,Ort,Seit\n1,b,x,Ulm,2024-02-30\n2,b,x,,\n"
OF_COLUMNS = """[stores.fields]
store_id = "Nr"
company_id = "Kette"
address_1 = "Strasse"
city = "Ort"
country = { constant = "" }
created_at = "Seit"
place = "Ort"
[stores.attributes]
since = { from = "Seit", kind = "day" }
[companies]
from = "stores"
"""


def test_errors_of_mapping_and_data_are_reported_in_one_run_if_records_have_an_identifier(tmp_path: Path) -> None:
    (tmp_path / "stores.csv").write_text(OWN_COLUMNS)
    (tmp_path / "mapping.toml").write_text(OF_COLUMNS)
    loaded = load(tmp_path)
    errors = loaded.report.errors
    assert [(each.code, each.file, each.line, each.field) for each in errors] == [
        *[("file", "mapping.toml", None, None)] * 3,
        ("date", "stores.csv", 2, "created_at"),
        ("missing", "stores.csv", 3, "city"),
    ]
    keys = ["stores.fields.country.constant", "stores.fields.place", "stores.attributes.since.kind"]
    assert [error.why.partition(":")[0] for error in errors[:3]] == keys
    assert loaded.dataset is None
    (tmp_path / "mapping.toml").write_text(OF_COLUMNS.replace('store_id = "Nr"', 'store_id = { constant = "" }'))
    assert [error.file for error in load(tmp_path).report.errors] == ["mapping.toml"] * 4
