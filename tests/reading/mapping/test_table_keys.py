"""Keys of a mapping for files as people have them: titles, no header, quotes, spaces, wrong characters."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from service.loading.dataset import Loaded
from service.reading.batch import BATCH_SIZE
from service.reading.characters import cleaner
from service.reading.formats.csv_file import open_csv
from service.reading.formats.table_file import TableOptions
from tests.loading.data_files import DERIVED, REQUIRED as NAMES, dataset, load_mapped, refusal, served
from tests.workbooks import Sheets, Value, ods, xlsx

COLUMNS = f"columns = {json.dumps(NAMES)}"
HEADER = ",".join(NAMES)
ROW = "s1,c1,1 Elm St,Ada,CA"
RECORD = dict(zip(NAMES, ROW.split(","), strict=True))


def loaded(folder: Path, text: str | bytes, keys: str, name: str = "stores.csv") -> Loaded:
    """Load one file of stores with some keys of `[stores]`."""
    return load_mapped(folder, f"[stores]\n{keys}\n{DERIVED}", text, name)


def errors(found: Loaded) -> list[tuple[str, int | None]]:
    """Return the code and the line of each error."""
    return [(each.code, each.line) for each in found.report.errors]


def test_lines_above_the_header_are_skipped_and_errors_keep_the_lines_of_the_file(tmp_path: Path) -> None:
    text = f'Stores of "Acme\r\n\rJanuary, 2026\n{HEADER}\n{ROW}\ns2,c1,,Ada,CA\n'
    found = loaded(tmp_path, text, "skip_lines = 3")
    assert [each["store_id"] for each in served(found)] == ["s1"]
    assert errors(found) == [("missing", 6)]


def test_a_separator_line_may_follow_lines_that_are_skipped(tmp_path: Path) -> None:
    text = f"Title\nsep=~\n{HEADER}\n{ROW}\n".replace(",", "~")
    assert served(loaded(tmp_path, text, "skip_lines = 1"))[0]["city"] == "Ada"


@pytest.mark.parametrize(
    ("text", "count", "has"),
    [("a\nb\n", 2, "2"), ("a\nb\n", 9, "2"), ("a\r\nb", 2, "2"), ("", 1, "0"), ("a", 1, "1"), ("\n", 1, "1")],
)
def test_more_lines_than_a_file_has_cannot_be_skipped(tmp_path: Path, text: str, count: int, has: str) -> None:
    lines = "line" if count == 1 else "lines"
    why = f"the mapping skips {count} {lines}, but the file has only {has}"
    assert refusal(loaded(tmp_path, text, f"skip_lines = {count}")).why == why


@pytest.mark.parametrize("delimiter", list(",;\t|"))
def test_without_a_header_every_line_is_a_record(tmp_path: Path, delimiter: str) -> None:
    text = f"{ROW}\n\ns2,c1,1 Elm St,Ada,CA,\ns3,c1\ns4,c1,1 Elm St,Ada,CA,x\n".replace(",", delimiter)
    found = loaded(tmp_path, text, COLUMNS)
    assert [each["store_id"] for each in served(found)] == ["s1", "s2"]
    assert errors(found) == [("cells", 4), ("cells", 5)]
    assert found.report.errors[0].why == "expected 5 cells as in the mapping, found 2"


def test_a_file_without_records_may_have_declared_columns(tmp_path: Path) -> None:
    assert served(loaded(tmp_path, "", COLUMNS)) == []


def test_declared_columns_are_those_that_entries_name(tmp_path: Path) -> None:
    keys = f"{COLUMNS}\n[stores.fields]\nname = "
    assert served(loaded(tmp_path, ROW, f'{keys}"City"'))[0]["name"] == "Ada"
    missing = refusal(loaded(tmp_path, ROW, f'{keys}"town"'))
    assert (missing.line, "'town'" in missing.why) == (None, True)


def test_quotes_are_ordinary_characters_if_declared(tmp_path: Path) -> None:
    text = f'{HEADER},name\n{ROW},12" pizza\ns2,c1,"Old" Rd,Ada,CA,"x\ns3,c1,a,b,c,a""b\n'
    assert [each["name"] for each in served(loaded(tmp_path, text, 'quote = ""'))] == ['12" pizza', '"x', 'a""b']
    assert errors(loaded(tmp_path, text, r'quote = "\""')) == [("cells", 3)]


def test_quotes_that_are_ordinary_hide_no_delimiter() -> None:
    assert open_csv(b'"a;b"\n1;2\n').names == ["a;b"]
    assert open_csv(b'"a;b"\n1;2\n', options=TableOptions(quote="")).names == ['"a', 'b"']


def test_cells_are_trimmed_before_all_else(tmp_path: Path) -> None:
    text = " store_id ,company_id,address_1,city\t,country,\n s1\t, c1 ,1 Elm  St ,\u3000Ada,CA, \n , ,,,\n"
    found = loaded(tmp_path, text, "trim = true")
    assert found.report.errors == []
    assert [each["address_1"] + each["city"] for each in served(found)] == ["1 Elm  StAda"]
    assert len(dataset(found).companies) == 1
    assert set(errors(loaded(tmp_path, text, ""))) == {("missing", 3)}


MOJIBAKE = "Joe\x92s \x80 \x85Café\x81"
REPAIRED = "Joe’s € …Café"  # noqa: RUF001 - a real apostrophe


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stores.csv", f"{HEADER},name\n{ROW},{MOJIBAKE[:-1]}\n"),
        ("stores.json", json.dumps([RECORD | {"name": MOJIBAKE[:-1]}])),
        ("stores.jsonl", json.dumps(RECORD | {"name": MOJIBAKE[:-1]}) + "\n"),
    ],
)
def test_c1_characters_are_repaired_in_every_format(tmp_path: Path, name: str, text: str) -> None:
    assert errors(loaded(tmp_path, text, "", name))[0][0] == "text"
    (one,) = served(loaded(tmp_path, text, 'repair = "windows-1252"\ntrim = true', name))
    assert one["name"] == REPAIRED


def test_c1_characters_of_a_declared_encoding_are_repaired(tmp_path: Path) -> None:
    text = f"{HEADER},name\n{ROW},Joe\x92s\n".encode("latin-1")
    (one,) = served(loaded(tmp_path, text, 'encoding = "latin-1"\nrepair = "cp1252"'))
    assert one["name"] == "Joe’s"  # noqa: RUF001 - a real apostrophe


def test_columns_of_json_that_are_not_used_are_trimmed_too(tmp_path: Path) -> None:
    found = loaded(tmp_path, json.dumps([RECORD | {"Status": " closed "}]), "trim = true", "stores.json")
    assert [each.value for each in found.report.warnings if each.code == "closed"] == ["closed"]


@given(st.text())
def test_repaired_texts_are_those_that_a_round_trip_gives(text: str) -> None:
    clean = cleaner(["cp1252"], trims=False)
    assert clean is not None
    meant = [
        bytes([ord(each)]).decode("cp1252", "ignore") or each if 0x80 <= ord(each) < 0xA0 else each for each in text
    ]
    assert clean(text) == "".join(meant)


def test_all_keys_together_keep_the_lines(tmp_path: Path) -> None:
    text = (
        'Our "stores\n'
        "\n"
        " s1 ;c1;1 Elm\x96St;Ada ;CA\n"
        '"s2;c1;12" Rd;Ada;CA\n'
        "s3;c1\n"
        "  ; ;;;\n"
        "s4;c1;a;b;CA; \n"
        "s5;c1;;b;CA\n"
    )
    keys = f'skip_lines = 1\nquote = ""\ntrim = true\nrepair = "windows-1252"\n{COLUMNS}'
    found = loaded(tmp_path, text, keys)
    assert [(each["store_id"], each["address_1"]) for each in served(found)] == [
        ('"s2', '12" Rd'),
        ("s1", "1 Elm–St"),  # noqa: RUF001 - a real dash
        ("s4", "a"),
    ]
    assert errors(found) == [("cells", 5), ("missing", 8)]


PLAIN = st.text(st.sampled_from('ab, "\x92ü'), min_size=1, max_size=4)


@given(
    st.lists(st.lists(PLAIN.filter(lambda text: "," not in text), min_size=2, max_size=2), max_size=5),
    st.integers(0, 4),
    st.booleans(),
)
def test_options_read_what_a_naive_reader_reads(records: Sequence[Sequence[str]], skipped: int, trim: bool) -> None:  # noqa: FBT001
    options = TableOptions(delimiter=",", quote="", skip_lines=skipped, columns=("x", "y"), trim=trim)
    lines = ["title"] * skipped + [",".join(record) for record in records] + ["end,"]
    file = open_csv("".join(f"{line}\n" for line in lines).encode(), options=options)
    found: list[tuple[int | None, Mapping[str, object]]] = []
    for batch in file.batches(["x", "y"]):
        assert not batch.unreadable
        found += zip(
            batch.lines(),
            [dict(zip("xy", row, strict=True)) for row in zip(*batch.columns.values(), strict=True)],
            strict=True,
        )
    naive = [
        (number, dict(zip("xy", (cell.strip() if trim else cell for cell in line.split(",")), strict=True)))
        for number, line in enumerate(lines, 1)
        if number > skipped
    ]
    assert found == [(number, row) for number, row in naive if any(row.values())]


@pytest.mark.parametrize("name", ["stores.json", "stores.jsonl", "stores.geojson", "stores.parquet"])
@pytest.mark.parametrize(
    ("keys", "named"),
    [
        (COLUMNS, "columns"),
        ("skip_lines = 1", "skip_lines"),
        ('quote = ""', "quote"),
        ('delimiter = ";"\nsheet = "S"', "delimiter, sheets"),
    ],
)
def test_keys_of_tables_are_errors_for_other_formats(tmp_path: Path, name: str, keys: str, named: str) -> None:
    why = f"the mapping declares {named}: only for CSV files and workbooks; remove it"
    assert refusal(loaded(tmp_path, "[]", keys, name)).why == why


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "write", "above"),
    [("stores.xlsx", xlsx, 2), ("stores.ods", ods, BATCH_SIZE), ("stores.xlsx", xlsx, BATCH_SIZE + 3)],
)
def test_the_keys_are_those_of_sheets(tmp_path: Path, name: str, write: Callable[[Sheets], bytes], above: int) -> None:
    first: list[Value] = [" s1 ", "c1", "1 Elm\x96St", "Ada", "CA"]
    records: list[list[Value]] = [first, [], ["s2", "c1"], ["s3", "c1", "a", " ", "CA"]]
    keys = f'skip_lines = {above}\ntrim = true\nrepair = "windows-1252"'
    titles: list[list[Value]] = [["Stores", f"{row}"] for row in range(above)]
    for header, columns in (([list(NAMES)], ""), ([], COLUMNS)):
        content = write({"S": [*titles, *header, *records]})
        found = loaded(tmp_path, content, f"{keys}\n{columns}", name)
        assert [(each["store_id"], each["address_1"]) for each in served(found)] == [("s1", "1 Elm–St")]  # noqa: RUF001
        assert {line for _, line in errors(found)} == {above + len(header) + 3, above + len(header) + 4}


@pytest.mark.process
def test_more_rows_than_a_sheet_has_cannot_be_skipped(tmp_path: Path) -> None:
    found = loaded(tmp_path, xlsx({"S": [["a"], ["b"]]}), "skip_lines = 2", "stores.xlsx")
    assert refusal(found).why == "the mapping skips 2 rows, but the sheet has only 2"
