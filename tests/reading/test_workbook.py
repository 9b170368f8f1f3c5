"""Workbooks: the same tables as CSV, values as promised, rows as the program numbers them, hostile files refused."""

import os
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias, cast

import pytest
from hypothesis import example, given, strategies as st

from service.reading import isolation
from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import FileError
from service.reading.formats.sheet import Workbook, row_texts
from service.reading.formats.table_file import TableOptions
from service.reading.formats.workbook_file import SheetRequest, SheetRows, Sheets, WorkbookFile
from service.reading.isolation import answer
from tests.loading.data_files import REQUIRED, STORE_FIELDS, load_mapped, load_stores, refusal, rows, served, store
from tests.program import children
from tests.workbooks import Sheets as Written, Value, ods, xlsx, xlsx_sheet
from tests.zip_archives import zipped

Values: TypeAlias = dict[str, Value]


def typed(identifier: str, **values: Value) -> Values:
    return cast("Values", store(identifier)) | values


ROW = ["s1", "c1", "1 Elm St", "Ada", "Utopia"]
WRITERS: Sequence[Callable[[Written], bytes]] = (xlsx, ods)


def table(records: Sequence[Values], columns: Sequence[str] = STORE_FIELDS) -> list[Sequence[Value]]:
    return [columns, *([record.get(name) for name in columns] for record in records)]


def sheet_rows(content: bytes, sheet: str = "S") -> list[list[str]]:
    """Return the rows of a sheet, read in this process."""
    return [list(row) for some in Workbook(content).parts(SheetRequest(sheet)) for row in some.rows]


def why_refused(content: bytes, sheet: str | None = None) -> str:
    with pytest.raises(FileError) as error:
        list(WorkbookFile(content, TableOptions(sheets=(sheet,) if sheet else ())).batches([]))
    return error.value.why


TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff") | st.sampled_from("\t\n")
)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
DATES = st.dates(date(1900, 3, 1))
INSTANTS = st.datetimes(datetime(1900, 3, 1)).map(lambda instant: instant.replace(microsecond=0))  # noqa: DTZ001


@example(row=[datetime(2000, 1, 1)], write=ods)  # noqa: DTZ001
@given(row=st.lists(TEXTS | NUMBERS | st.booleans() | DATES | INSTANTS, max_size=5), write=st.sampled_from(WRITERS))
def test_what_is_written_is_read_as_promised(row: list[Value], write: Callable[[Written], bytes]) -> None:
    (found,) = sheet_rows(write({"S": [["first", *row, "last"]]}))
    assert (found[0], found[-1]) == ("first", "last")
    for value, text in zip(row, found[1:-1], strict=True):
        match value:
            case bool():
                assert text == ("true" if value else "false")
            case int() | float():
                assert (float(text), "e" in text, text.endswith(".0")) == (value, False, False)
                assert len(Decimal(text).normalize().as_tuple().digits) <= 17
            case datetime() if value.time() != time():
                assert text == value.isoformat()
            case date():
                assert text == value.isoformat()[:10]
            case _:
                assert text == value


def test_cells_become_the_shortest_texts() -> None:
    numbers = [5.0, -0.0, 43.70, 1e-7, 1e20, 2.0**53]
    times: list[time | timedelta] = [time(12, 30), timedelta(hours=36, seconds=5), timedelta(minutes=5)]
    assert row_texts(numbers) == ["5", "0", "43.7", "0.0000001", "100000000000000000000", "9007199254740992"]
    assert row_texts(times) == ["12:30:00", "36:00:05", "00:05:00"]


@pytest.mark.process
@pytest.mark.parametrize("write", WRITERS)
def test_real_dates_are_read_whatever_format_texts_have(tmp_path: Path, write: Callable[[Written], bytes]) -> None:
    dates: list[Value] = [date(2019, 2, 1), "01.02.2019", datetime(2019, 2, 1, 12, 30), "02/01/2019"]  # noqa: DTZ001
    records = [typed(f"s{at}", created_at=value, Seit=value, Bis=value) for at, value in enumerate(dates)]
    mapping = (
        '[stores]\ndate = "dd.mm.yyyy"\ntime_zone = "Europe/Berlin"\n'
        '[stores.fields]\nis_open = {closing_date = "Bis"}\n[stores.attributes]\nsince = {from = "Seit", kind = "date"}'
    )
    content = write({"S": table(records, [*REQUIRED, "created_at", "Seit", "Bis"])})
    loaded = load_mapped(tmp_path, mapping, content, "stores.xlsx")
    found = [(each["created_at"], each["is_open"], each["attributes"]["since"]) for each in served(loaded)]
    times = [f"2019-02-01T{time}+01:00" for time in ("00:00:00", "00:00:00", "12:30:00")]
    assert found == [(time, False, "2019-02-01") for time in times]
    assert {error.field for error in loaded.report.errors} == {"created_at", "is_open", "attributes.since"}


@pytest.mark.process
@pytest.mark.parametrize("write", WRITERS)
def test_rows_are_numbered_as_the_program_shows_them(tmp_path: Path, write: Callable[[Written], bytes]) -> None:
    written: list[list[Value]] = [
        [],
        [],
        [None, *REQUIRED],
        [],
        [None, *ROW],
        [None, "s2", "c1", None, "Ada", "Utopia"],
    ]
    loaded = load_stores(tmp_path, write({"S": written}), "stores.xlsx")
    assert list(map(str, loaded.report.errors)) == ["stores.xlsx:6: address_1: a value is required"]


@pytest.mark.process
def test_rows_of_many_batches_keep_their_numbers() -> None:
    file = WorkbookFile(xlsx({"S": [*[[]] * BATCH_SIZE, ["a"], *([index] for index in range(BATCH_SIZE * 2))]}))
    batches = list(file.batches(["a"]))
    assert [cell for batch in batches for cell in batch.columns["a"]] == list(map(str, range(BATCH_SIZE * 2)))
    assert [line for batch in batches for line in batch.lines()] == list(range(BATCH_SIZE + 2, BATCH_SIZE * 3 + 2))
    assert batches[-1].done == batches[-1].total == BATCH_SIZE * 3 + 1


@pytest.mark.process
def test_a_process_reads_a_file_from_its_start_as_often_as_needed_and_ends_with_it() -> None:
    before = set(children(os.getpid()))
    file = WorkbookFile(xlsx({"S": [["a"], *[["x"]] * 5 * BATCH_SIZE]}))
    (reader,) = set(children(os.getpid())) - before
    assert [sum(len(batch.numbers) for batch in file.batches(["a"])) for _ in range(2)] == [5 * BATCH_SIZE] * 2
    assert set(children(os.getpid())) - before == {reader}
    batches = file.batches(["a"])
    assert [len(next(batches).numbers) for _ in range(2)] == [BATCH_SIZE - 1, BATCH_SIZE]
    batches.close()  # type: ignore[attr-defined]
    assert sum(len(batch.numbers) for batch in file.batches(["a"])) == 5 * BATCH_SIZE
    del file, batches
    assert set(children(os.getpid())) <= before


@pytest.mark.process
def test_columns_behave_as_in_csv(tmp_path: Path) -> None:
    for names, why in (
        ([*REQUIRED, "city"], "duplicate columns: 'city': rename them"),
        (["s0", *ROW[1:]], "the first line looks like data ("),
        (REQUIRED[:-1], "missing columns: country"),
    ):
        written = [names, [*ROW, "x"], ["s2", *ROW[1:], "y"]]
        error = refusal(load_stores(tmp_path, xlsx({"S": written}), "stores.xlsx"))
        assert (error.line, error.why[: len(why)]) == (1, why)
    loaded = load_stores(tmp_path, xlsx({"S": [[*REQUIRED, None], [*ROW, "x"], [], ["s2", *ROW[1:]]]}), "stores.xlsx")
    assert list(map(str, loaded.report.warnings)) == ["stores.xlsx:1: '': not a field, so it is ignored (1 record)"]
    assert len(rows(loaded)) == 2


@pytest.mark.process
@pytest.mark.parametrize(("sheet", "read"), [("", "s1"), ('sheet = "Zwei"', "s2"), ('sheet = "Alt"', "s3")])
def test_the_first_visible_sheet_is_read_or_the_declared_one(tmp_path: Path, sheet: str, read: str) -> None:
    sheets = {name: [REQUIRED, [key, *ROW[1:]]] for name, key in (("Alt", "s3"), ("Eins", "s1"), ("Zwei", "s2"))}
    loaded = load_mapped(tmp_path, f"[stores]\n{sheet}", xlsx(sheets, hidden=["Alt"]), "stores.xlsx")
    assert [each["store_id"] for each in served(loaded)] == [read]
    assert any("sheet 'Eins', the first of 3" in each for each in loaded.assumed) == (not sheet)


@pytest.mark.process
def test_an_unknown_sheet_is_an_error_that_lists_those_there_are() -> None:
    why = "the workbook has no sheet 'Drei'; its sheets are 'Eins', 'Zwei'"
    assert why_refused(xlsx({"Eins": [], "Zwei": []}), "Drei") == why
    assert why_refused(xlsx({})) == "the workbook has no sheet with cells"
    assert why_refused(xlsx({"Eins": []})) == "the file is empty: a header line is required"


def test_the_process_answers_requests_one_after_the_other() -> None:
    content = xlsx({"A": [["a"], ["b"], ["c"]], "B": [[], [1]]})
    requests = [SheetRequest("A", most=1), SheetRequest("A", skip=1), SheetRequest("B")]
    assert list(answer(Workbook, content, requests)) == [
        Sheets(["A", "B"], 2),
        *(SheetRows([["a"]], 1, 3), None),
        *(SheetRows([["b"], ["c"]], 2, 3), None),
        *(SheetRows([[""], ["1"]], 1, 2), None),
    ]
    assert list(answer(Workbook, b"", [])) == ["not a workbook that can be read: the file is empty"]


TALL = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
MANIFEST = '<manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry>'
WHOLE = xlsx({"S": [REQUIRED, ROW]})


def with_sheet(xml: bytes) -> bytes:
    return xlsx({"S": []}, replaced={"xl/worksheets/sheet1.xml": xml})


@pytest.mark.process
def test_a_workbook_that_takes_too_much_memory_is_refused_by_the_process_that_reads_it() -> None:
    why = why_refused(with_sheet(xlsx_sheet(TALL).encode()))
    assert why.startswith("not a workbook that can be read: it takes too much memory; delete ")


RELATIONS = "xl/_rels/workbook.xml.rels"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (OLE + bytes(600), "the workbook is encrypted, or in the format .xls: save it "),
        (ods({"S": [["a"]]}, manifest=MANIFEST), "the workbook is encrypted: save it as .xlsx, without a password"),
        (b"store_id,company_id\n", "not a workbook that can be read: it does not begin like one; if it is a text, "),
        (zipped({"a.txt": b"x"}), "not a workbook that can be read: "),
        (xlsx({"S": []}, replaced={RELATIONS: b"<Relationships/>"}), "not a workbook that can be read: "),
        (with_sheet(b"<worksheet><sheetData><row"), "not a workbook that can be read: "),
    ],
)
def test_hostile_and_other_files_are_refused(content: bytes, why: str) -> None:
    with pytest.raises(FileError, match=f"^{re.escape(why)}"):
        sheet_rows(content)


def test_a_decompression_bomb_is_refused() -> None:
    with pytest.raises(FileError, match=r"^the compressed file expands to more than 64 MiB and 200 times its size"):
        sheet_rows(with_sheet(b" " * 70_000_000))


def test_a_workbook_truncated_anywhere_is_refused() -> None:
    for length in range(0, len(WHOLE), 7):
        with pytest.raises(FileError):
            Workbook(WHOLE[:length])


@pytest.mark.process
def test_what_is_read_of_a_sheet_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MAX_SIZE", 1 << 20)
    wide = '<row r="1"><c r="A1"><v>1</v></c></row><row r="100"><c r="XFD100"><v>1</v></c></row>'
    why = why_refused(with_sheet(xlsx_sheet(wide).encode()))
    assert why == "the sheet expands to more than 64 MiB and 200 times the size of the file"
