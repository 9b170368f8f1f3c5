"""Cells that other programs write, and calamine rejects or misreads, are values, texts or nothing."""

from io import BytesIO
from zipfile import ZipFile

import pytest

from service.reading.formats.sheet import Workbook
from service.reading.formats.workbook_file import SheetRequest
from tests.workbooks import ods, xlsx
from tests.zip_archives import zipped


def changed(content: bytes, part: str, old: bytes, new: bytes) -> bytes:
    with ZipFile(BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (name,) = [name for name in files if name.endswith(part)]
    assert old in files[name]
    return zipped({**files, name: files[name].replace(old, new, 1)})


def row(content: bytes) -> list[str]:
    (part,) = Workbook(content).parts(SheetRequest("S"))
    return list(part.rows[0])


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
    assert row(changed(ods({"S": [["Oslo"]]}), "content.xml", old, new)) == [text]


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
    assert row(content) == ["a", "7", "", text]
