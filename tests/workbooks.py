"""Workbooks, written as spreadsheet programs do: .xlsx (ISO/IEC 29500) and .ods (OpenDocument 1.3)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from tests.zip_archives import zipped

Value: TypeAlias = str | float | date | None  # flags and integers are numbers, a date-time is a date
Sheets: TypeAlias = Mapping[str, Sequence[Sequence[Value]]]

_MAIN: Final = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STYLES: Final = "".join(f'<xf numFmtId="{each}"/>' for each in (0, 14, 22))  # general, a date, a date and a time
_DAY_0: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - spreadsheets know no zones
_OASIS: Final = "urn:oasis:names:tc:opendocument:xmlns"
_SPACES: Final = re.compile(r" {2,}|^ | $|\n")


def xlsx(sheets: Sheets, *, hidden: Sequence[str] = (), replaced: Mapping[str, bytes] | None = None) -> bytes:
    """Return a workbook with some sheets; `replaced` are other files of it, some instead of its own."""
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{index}" state="{"hidden" if name in hidden else "visible"}"'
        f' r:id="r{index}"/>'
        for index, name in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="r{index}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{index}.xml"/>'
        for index in range(1, len(sheets) + 1)
    )
    styles = f'<Relationship Id="styles" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    document = f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    files = {
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}">{document}</Relationships>',
        "xl/workbook.xml": f'<workbook {_MAIN} xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{related}{styles}</Relationships>',
        "xl/styles.xml": f"<styleSheet {_MAIN}><cellXfs>{_STYLES}</cellXfs></styleSheet>",
    }
    for index, rows in enumerate(sheets.values(), 1):
        files[f"xl/worksheets/sheet{index}.xml"] = xlsx_sheet("".join(_xlsx_rows(rows)))
    return zipped({name: text.encode() for name, text in files.items()} | dict(replaced or {}))


def xlsx_sheet(rows: str) -> str:
    """Return the file of a sheet with some rows in XML."""
    return f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>"


def ods(sheets: Sheets, *, manifest: str = "") -> bytes:
    """Return a workbook with some sheets; `manifest` is in its list of files."""
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>{''.join(map(_ods_row, rows))}</table:table>"
        for name, rows in sheets.items()
    )
    spaces = " ".join(f'xmlns:{each}="{_OASIS}:{each}:1.0"' for each in ("office", "table", "text"))
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    root = "manifest:manifest"
    files = {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": f"<{root} xmlns:manifest='{_OASIS}:manifest:1.0'>{manifest}</{root}>",
        "content.xml": f"<office:document-content {spaces}>{body}</office:document-content>",
    }
    return zipped({name: text.encode() for name, text in files.items()})


def _xlsx_rows(rows: Sequence[Sequence[Value]]) -> Iterator[str]:
    for number, row in enumerate(rows, 1):
        cells = "".join(_xlsx_cell(f"{_column_name(index)}{number}", cell) for index, cell in enumerate(row))
        yield f'<row r="{number}">{cells}</row>' if cells else ""


def _column_name(index: int) -> str:
    """Return the letters of a column, whose index is from 0."""
    above, letter = divmod(index, 26)
    return (_column_name(above - 1) if above else "") + chr(ord("A") + letter)


def _xlsx_cell(at: str, value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return f'<c r="{at}" t="b"><v>{value:d}</v></c>'
        case str():
            text = escape(value.replace("_x", "_x005F_x"))
            return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
        case datetime():
            return f'<c r="{at}" s="2"><v>{(value - _DAY_0) / timedelta(days=1)!r}</v></c>'
        case date():
            return f'<c r="{at}" s="1"><v>{(value - _DAY_0.date()).days}</v></c>'
    return f'<c r="{at}"><v>{value!r}</v></c>'


def _ods_row(row: Sequence[Value]) -> str:
    return f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>"


def _ods_cell(value: Value) -> str:
    match value:
        case None:
            typed = ""
        case bool():
            typed = f'office:value-type="boolean" office:boolean-value="{"true" if value else "false"}"'
        case str():
            text = f"<text:p>{_SPACES.sub(_ods_space, escape(value))}</text:p>"
            return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
        case date():
            typed = f'office:value-type="date" office:date-value="{value.isoformat()}"'
        case _:
            typed = f'office:value-type="float" office:value="{value!r}"'
    return f"<table:table-cell {typed}/>"


def _ods_space(found: re.Match[str]) -> str:
    return "</text:p><text:p>" if found[0] == "\n" else f'<text:s text:c="{len(found[0])}"/>'
