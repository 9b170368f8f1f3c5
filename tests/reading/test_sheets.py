"""Several sheets are one table; cells are as they are shown, and what their texts do not say is warned of."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

from service.loading.dataset import Loaded
from service.reading.formats.package import links
from service.reading.formats.sheet import Workbook
from service.reading.formats.table_file import TableOptions
from service.reading.formats.workbook_file import CellNote, SheetRequest, WorkbookFile
from tests.loading.data_files import REQUIRED, as_json, load_files, load_mapped, load_stores, refusal, served
from tests.program import run_here
from tests.workbooks import Sheets, Value, ods, xlsx, xlsx_sheet
from tests.zip_archives import zipped


def with_file(content: bytes, name: str, file: bytes) -> bytes:
    with ZipFile(BytesIO(content)) as archive:
        return zipped({each: archive.read(each) for each in archive.namelist()} | {name: file})


def changed(content: bytes, part: str, old: bytes, new: bytes) -> bytes:
    with ZipFile(BytesIO(content)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(part)]
        file = archive.read(name)
    assert old in file
    return with_file(content, name, file.replace(old, new, 1))


MAIN: Final = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def store(number: int, *others: Value) -> list[Value]:
    return [f"s{number}", "c1", f"{number} Elm St", "Ada", "Utopia", *others]


def lines(loaded: Loaded) -> list[str]:
    return list(map(str, loaded.report.warnings))


def ids(loaded: Loaded) -> list[str]:
    return [each["store_id"] for each in served(loaded)]


HEADER: Final[list[Value]] = [*REQUIRED]
NORTH: Final[list[list[Value]]] = [HEADER, store(1), store(2)]
SOUTH: Final[list[list[Value]]] = [HEADER, [], store(3)]


@pytest.mark.process
@pytest.mark.parametrize("write", [xlsx, ods])
def test_declared_sheets_are_one_table_with_errors_by_sheet(tmp_path: Path, write: Callable[[Sheets], bytes]) -> None:
    south: list[list[Value]] = [
        ["country", None, "City", *REQUIRED[:3]],
        [],
        ["Utopia", "x", "Bo", *store(3)[:3]],
        ["Utopia", "x", None, *store(4)[:3]],
    ]
    other: list[list[Value]] = [["a"]]
    content = xlsx({"North": NORTH, "Other": other, "South": south})
    loaded = load_mapped(tmp_path, '[stores]\nsheets = ["North", "South"]', content, "stores.xlsx")
    assert list(map(str, loaded.report.errors)) == ["stores.xlsx:South:4: city: a value is required"]
    content = write({"North": NORTH, "South": SOUTH})
    loaded = load_mapped(tmp_path, '[stores]\nsheets = ["South", "North"]', content, "stores.xlsx")
    assert (ids(loaded), loaded.report.errors, lines(loaded)) == (["s1", "s2", "s3"], [], [])


@pytest.mark.process
def test_the_records_of_all_sheets_of_a_file_are_those_that_a_manifest_counts(tmp_path: Path) -> None:
    content = xlsx({"North": NORTH, "South": SOUTH, "West": [HEADER]})
    mapping = b'[stores]\nsheets = ["North", "South", "West"]\n[companies]\nfrom = "stores"'
    files = {"stores.xlsx": content, "mapping.toml": mapping}
    for records in (3, 2):
        listed = {"stores.xlsx": {"sha256": sha256(content).hexdigest(), "records": records}}
        loaded = load_files(tmp_path, files | {"manifest.json": as_json({"files": listed})})
        why = ["the file has 3 records, manifest.json says 2"] if records == 2 else []
        assert [each.why for each in loaded.report.errors] == why


@pytest.mark.process
def test_sheets_without_a_header_are_read_by_position_and_one_without_a_column_is_an_error(tmp_path: Path) -> None:
    mapping = f'[stores]\nsheets = ["N", "S"]\nskip_lines = 1\ncolumns = {REQUIRED}'
    content = xlsx({"N": [["North"], store(1)], "S": [["South"], store(2), store(3)]})
    assert ids(load_mapped(tmp_path, mapping, content, "stores.xlsx")) == ["s1", "s2", "s3"]
    content = xlsx({"North": NORTH, "South": [[], HEADER[:-1], store(3)[:-1]]})
    loaded = load_mapped(tmp_path, '[stores]\nsheets = ["North", "South"]', content, "stores.xlsx")
    assert str(refusal(loaded)).startswith("stores.xlsx:South:2: missing columns: country")


@pytest.mark.process
def test_sheets_of_such_records_that_are_not_read_are_warned_of(tmp_path: Path) -> None:
    notes: list[list[Value]] = [["a", "b"], ["c"]]
    sheets = {"North": NORTH, "Notes": notes, "South": [HEADER[:-1], store(3)[:-1]], "Empty": [HEADER]}
    loaded = load_stores(tmp_path, xlsx(sheets | {"Old": SOUTH}, hidden=["Old"]), "stores.xlsx")
    why = '1 other sheet has such records, not read: declare sheets = ["North","South"]'
    assert (ids(loaded), lines(loaded)) == (["s1", "s2"], [f"stores.xlsx: {why}"])
    loaded = load_mapped(tmp_path, '[stores]\nsheet = "North"', xlsx(sheets), "stores.xlsx")
    assert lines(loaded) == []


@pytest.mark.process
@pytest.mark.parametrize(
    ("sheets", "declared"),
    [
        ({"North": NORTH, "Notes": [["a"], ["b"]], "South": SOUTH}, 'sheets = ["North", "South"]'),
        ({"Cover": [["Our stores"]], "South": SOUTH}, 'sheets = ["South"]'),
        ({"Cover": [], "North": NORTH, "South": SOUTH}, 'sheets = ["North", "South"]'),
        ({"North": [["2024"], *NORTH], "South": [["2025"], *SOUTH]}, 'skip_lines = 1\nsheets = ["North", "South"]'),
        ({"North": NORTH, "Notes": [["a"], ["b"]]}, ""),
    ],
)
def test_a_proposal_names_the_sheets_of_the_stores(
    tmp_path: Path, sheets: Mapping[str, Sequence[Sequence[Value]]], declared: str
) -> None:
    (tmp_path / "x.xlsx").write_bytes(xlsx(sheets))
    text = run_here("mapping", str(tmp_path / "x.xlsx")).stdout
    assert text.split("\n\n")[1] == (f"[stores]\n{declared}" if declared else text.split("\n\n")[1])
    (tmp_path / "m.toml").write_text(text)
    assert run_here("check", str(tmp_path / "x.xlsx"), "--mapping", str(tmp_path / "m.toml")).returncode == 0


def styles(*formats: str) -> bytes:
    """Return the styles of a workbook: 1 and so on have these formats."""
    numbers = "".join(f'<numFmt numFmtId="{at}" formatCode="{code}"/>' for at, code in enumerate(formats, 164))
    used = "".join(f'<xf numFmtId="{at}"/>' for at in range(164, 164 + len(formats)))
    return f"<styleSheet {MAIN}><numFmts>{numbers}</numFmts><cellXfs><xf/>{used}</cellXfs></styleSheet>".encode()


def workbook(*cells: str, formats: Sequence[str] = (), **files: bytes) -> bytes:
    """Return a workbook with cells in a row below a header, and other files of it."""
    named = list(zip("ABCDE", cells, strict=False))
    head = "".join(f'<c r="{name}1" t="inlineStr"><is><t>{name.lower()}</t></is></c>' for name, _ in named)
    row = "".join(f'<c r="{name}2"{cell}</c>' for name, cell in named)
    sheet = xlsx_sheet(f'<row r="1">{head}</row><row r="2">{row}</row>').encode()
    return xlsx({"S": []}, replaced={"xl/worksheets/sheet1.xml": sheet, "xl/styles.xml": styles(*formats), **files})


def first_row(content: bytes) -> list[str]:
    (part,) = Workbook(content).parts(SheetRequest("S"))
    return list(part.rows[0])


def read(content: bytes) -> tuple[list[str], Sequence[CellNote]]:
    """Return the texts below the header, and the notes."""
    (part,) = Workbook(content).parts(SheetRequest("S"))
    return list(part.rows[1]), part.notes


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("h:mm", "1.0416666666666667", "01:00:00"),
        ("h:mm", "-0.25", "-06:00:00"),
        ("h:mm AM/PM", "0.5", "12:00:00"),
        ("[h]:mm", "1.0416666666666667", "25:00:00"),
        ("[h]:mm", "-0.2708333333333333", "-06:30:00"),
        ("yyyy\\-mm\\-dd", "43497", "2019-02-01"),
        ("d/m/yy h:mm", "1.5", "1900-01-01T12:00:00"),
        ("00000", "1067", "01067"),
        ("00000", "10670", "10670"),
        ("00000", "10670.5", "10670.5"),
        ("[$-407]00000;@", "1067", "01067"),
        ("00000\\-0000", "21080001", "02108-0001"),
        ("&quot;D-&quot;00000", "1067", "D-01067"),
        ("##000", "7", "007"),
        ("##000", "1234567", "1234567"),
        ("0", "7", "7"),
        ("0.00", "7", "7"),
        ("000&quot; kg&quot;", "7", "7"),
        ("#,##0", "1234", "1234"),
    ],
)
def test_a_number_is_the_text_that_is_shown_if_it_is_a_time_or_begins_with_0(code: str, value: str, text: str) -> None:
    content = workbook(f' s="1"><v>{value}</v>', formats=[code])
    row, notes = read(content)
    assert row == [text]
    assert [note.code for note in notes] == ["format"] * text.startswith("0") * (":" not in text)


def test_the_first_day_that_counts_from_1904_is_a_date() -> None:
    content = changed(
        workbook(' s="1"><v>0</v>', ' s="1"><v>0.5</v>', ' s="1"><v>1</v>', formats=["yyyy-mm-dd"]),
        "workbook.xml",
        b"<sheets>",
        b'<workbookPr date1904="1"/><sheets>',
    )
    assert read(content)[0] == ["1904-01-01", "1904-01-01T12:00:00", "1904-01-02"]


@pytest.mark.parametrize(
    ("cell", "text", "is_noted"),
    [
        ("><f>A1</f><v></v>", "", True),
        ("><f>A1</f><v/>", "", True),
        ("><f>A1</f>", "", True),
        (' t="str"><f>A1</f>', "", True),
        (' t="str"><f>""</f><v></v>', "", False),
        (' t="str"><f t="shared" si="0"/><v>x</v>', "x", False),
        ("><f>A1</f><v>0</v>", "0", False),
        (' t="e"><f>A1</f><v>#REF!</v>', "", False),
    ],
)
def test_a_formula_without_a_value_is_noted(cell: str, text: str, is_noted: bool) -> None:  # noqa: FBT001 - a case
    row, notes = read(workbook("><v>1</v>", cell))
    assert row == ["1", text]
    assert notes == ([CellNote("formula", "", 2, 1, ["B2"])] if is_noted else ())


def test_zeros_of_formulas_that_no_program_has_calculated_are_no_values() -> None:
    content = workbook("><v>0</v>", "><f>A1</f><v>0</v>", "><f>A1</f><v>7</v>")
    content = changed(content, "workbook.xml", b"</sheets>", b'</sheets><calcPr fullCalcOnLoad="1"/>')
    assert read(content) == (["0", "", "7"], [CellNote("formula", "", 2, 1, ["B2"])])


RELATED: Final = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    b'<Relationship Id="r1" Type="x" Target="https://x.org/?a=1&amp;b=2" TargetMode="External"/>'
    b'<Relationship Id="r2" Type="x" Target="mailto:a@x.org" TargetMode="External"/></Relationships>'
)
XMLNS_R: Final = b' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def with_links(content: bytes, links: bytes) -> bytes:
    listed = b"<hyperlinks" + XMLNS_R + b">" + links + b"</hyperlinks>"
    content = changed(content, "sheet1.xml", b"</sheetData>", b"</sheetData>" + listed)
    return with_file(content, "xl/worksheets/_rels/sheet1.xml.rels", RELATED)


@pytest.mark.process
def test_the_addresses_that_texts_link_to_are_a_column(tmp_path: Path) -> None:
    links = b'<hyperlink ref="F2:F3" r:id="r1" location="top"/><hyperlink ref="F4" r:id="r2"/>'
    links += b'<hyperlink ref="A1" location="B2"/>'
    texts = ("Visit", "https://y.org", "a@x.org", "Call")
    rows: list[list[Value]] = [[*REQUIRED, "Web"], *(store(number, text) for number, text in enumerate(texts, 1))]
    content = with_links(xlsx({"S": rows}), links)
    loaded = load_mapped(tmp_path, '[stores.attributes]\nweb = "Web"', content, "stores.xlsx")
    why = "1 text has a link (S!F2): the addresses are in the column 'Web.link', which is not used"
    assert lines(loaded)[1:] == [f"stores.xlsx:2: {why}"]
    mapping = '[stores.attributes]\nweb = { from = "Web.link", kind = "url" }'
    loaded = load_mapped(tmp_path, mapping, content, "stores.xlsx")
    assert [each["attributes"]["web"] for each in served(loaded)] == ["https://x.org/?a=1&b=2#top", None, None, None]
    assert lines(loaded) == ["stores.xlsx:1: Web: not a field, so it is ignored (4 records)"]


def test_a_formula_with_an_address_is_a_link() -> None:
    content = workbook(' t="str"><f>HYPERLINK("https://x.org/?a=1&amp;b=2","Visit")</f><v>Visit</v>', "><v>1</v>")
    row, notes = read(content)
    assert row == ["Visit", "1", "https://x.org/?a=1&b=2"]
    assert notes == [CellNote("link", "a.link", 2, 1, ["A2"])]


def test_links_of_a_whole_column_are_bounded() -> None:
    found = links(with_links(xlsx({"S": []}), b'<hyperlink ref="A1:XFD1048576" r:id="r1"/>' * 3), "S")
    assert len(found) < 2**21


def test_merged_cells_below_a_title_are_noted() -> None:
    rows: list[list[Value]] = [["Title"], ["a", "b"], ["x", "y"], [None, "z"]]
    content = changed(
        xlsx({"S": rows}),
        "sheet1.xml",
        b"</sheetData>",
        b'</sheetData><mergeCells><mergeCell ref="A1:B1"/><mergeCell ref="A3:A4"/></mergeCells>',
    )
    (part,) = Workbook(content).parts(SheetRequest("S", above=1))
    assert part.notes == [CellNote("merged", "", 3, 1, ["A3:A4"])]


CELL: Final = b'<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'


@pytest.mark.parametrize(
    ("cell", "text", "note"),
    [
        (b'<table:table-cell table:formula="of:=[.A1]"/>', ["", "y"], ["formula"]),
        (b'<table:table-cell table:formula="of:=1" office:value-type="float" office:value="1"/>', ["1", "y"], []),
        (CELL.replace(b'string"', b'float" office:value="1067"').replace(b"x<", b"01067<"), ["01067", "y"], ["format"]),
        (CELL.replace(b" office", b' table:number-rows-spanned="2" office'), ["x", "y"], ["merged"]),
        (
            CELL.replace(b" office", b' table:number-columns-spanned="1" table:number-rows-spanned="2" office').replace(
                b"x<", b'<text:a xlink:href="https://x.org/?a=1&amp;b=2">x</text:a><'
            ),
            ["x", "y", "https://x.org/?a=1&b=2"],
            ["link", "merged"],
        ),
        (b'<table:table-cell office:value-type="time" office:time-value="-PT06H30M00S"/>', ["-06:30:00", "y"], []),
    ],
)
def test_cells_of_ods_have_the_same_notes(cell: bytes, text: list[str], note: list[str]) -> None:
    row, notes = read(changed(ods({"S": [["a", "b"], ["x", "y"]]}), "content.xml", CELL, cell))
    assert (row, sorted(each.code for each in notes)) == (text, note)
    assert all(each.cells == ["A2"] for each in notes)


@pytest.mark.process
def test_notes_are_warnings_with_the_cells_and_the_sheet() -> None:
    cells = ["><f>A1</f><v/>"] * 5
    file = WorkbookFile(workbook(*cells), TableOptions(sheets=("S",)))
    assert len(list(file.batches(["a"]))) == 1
    ((line, issue),) = file.warnings
    why = "5 formulas have no value (S!A2, S!B2, S!C2, …): open the file in a spreadsheet program, and save it"
    assert (line, issue.code, issue.why) == (2, "formula", why)


ANCHORED = b'<draw:g><draw:g/><draw:frame draw:name="x"><text:p>Image</text:p></draw:frame></draw:g>'


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (b"<text:p>Oslo", ANCHORED + b"<text:p>Oslo", "Oslo"),
        (b"<text:p>Oslo", b"<office:annotation><text:p>Note</text:p></office:annotation><text:p>Oslo", "Oslo"),
        (b"Oslo", b"Oslo<text:line-break/>North", "Oslo\nNorth"),
        (b'office:value-type="string"', b'office:value-type="time" office:time-value="PT26H30M00S"', "26:30:00"),
    ],
)
def test_only_the_text_of_a_cell_of_ods_is_its_value(old: bytes, new: bytes, text: str) -> None:
    assert first_row(changed(ods({"S": [["Oslo"]]}), "content.xml", old, new)) == [text]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (b't="e"><v>#GETTING_DATA</v>', ""),
        (b't="e"><f>A1.x</f><v>#FIELD!</v>', ""),
        (b't="n"><v>1 234</v>', "1 234"),
        (b't="n"><v>12.50</v>', "12.5"),
        (b't="new"><v>a</v>', "a"),
    ],
)
def test_an_odd_cell_of_xlsx_does_not_reject_the_workbook(cell: bytes, text: str) -> None:
    content = changed(
        xlsx({"S": [["a", 7]]}),
        "sheet1.xml",
        b"</row>",
        b'<c r="C1" t="e"><v>#BUSY!</v></c><c r="D1" ' + cell + b"</c></row>",
    )
    assert first_row(content) == ["a", "7", "", text]
