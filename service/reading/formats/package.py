"""The XML in the package of a workbook, .xlsx (ISO/IEC 29500) or .ods (OpenDocument 1.3), where calamine misreads it.

Cells are rewritten as texts. Before some are marks, from `MARK` to `END`: a letter, and perhaps an address.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from html import unescape
from io import BytesIO
from itertools import islice, product
from typing import Final, TypeAlias
from xml.sax.saxutils import escape
from zipfile import ZipFile

from service.reading.diagnostics import FileError
from service.reading.text import ZIP_DAMAGE, check_size

MARK, END = "\U000f0000", "\U000f0001"  # of private use
LINKED: Final = "l"  # the letter before an address; f: a formula without a value, m: merged, z: zeros are shown
SAVE: Final = "save it as .xlsx, without a password"
_OPEN, _CLOSE = MARK.encode(), END.encode()
_MANIFEST: Final = "META-INF/manifest.xml"  # of .ods
_ENCRYPTION: Final = b"encryption-data"
_CONTENT: Final = "content.xml"  # of .ods
_SHEETS: Final = "xl/worksheets/"
_WORKBOOK, _STYLES = "xl/workbook.xml", "xl/styles.xml"
_MAX_LINKS: Final = 2**20
_MAX_STYLES: Final = 100  # of which cells are found by one expression
_Writer: TypeAlias = Callable[[float], str | None]
_ATTRIBUTE: Final = re.compile(rb"""\b(\w+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")  # without the prefix
_ADDRESS: Final = re.compile("(?:https?|mailto|tel):", re.IGNORECASE)
_RANGE: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})(?::([A-Z]{1,3})([0-9]{1,7}))?")
# Parts of a format of numbers that are no text: colours, locales and conditions, padding.
_NOT_SHOWN: Final = re.compile(r"\[(?![hms]+\])[^\[\]]*\]|[_*].", re.IGNORECASE)
_LITERAL: Final = re.compile(r'"[^"]*"|\\.|[-+ /()]')
_PART: Final = re.compile(rf"{_LITERAL.pattern}|[#0]")
_PADDED: Final = re.compile("#*0{2,}")
_FORMATS: Final = {"14": "m/d/y", "15": "d-m-y", "16": "d-m", "17": "m-y", "22": "m/d/y h:m"} | dict.fromkeys(
    ("18", "19", "20", "21", "45", "47"), "h:m"
)  # that are built in, of dates and times
_DAY: Final = 86_400  # seconds
_CELL: Final = (  # of some styles, or with a formula
    rb'<((?:\w+:)?)c\b(?=[^<>]*\ss="(?:%s)"|[^<>]*>\s*<(?:\w+:)?f\b)([^<>]*)>'
    rb"(\s*<(?:\w+:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w+:)?f>))?"
    rb"(\s*<(?:\w+:)?v\b[^<>]*(?:/>|>([^<]*)</(?:\w+:)?v>))?\s*</(?:\w+:)?c>"
)
_STYLE: Final = re.compile(rb'\ss="([0-9]{1,5})"')
_TYPE: Final = re.compile(rb'\st="(\w*)"')
_LINKED: Final = re.compile(
    rb'>\s*HYPERLINK\(\s*(?:"|&quot;)((?:https?|mailto|tel):[^"<]*?)(?:"|&quot;)', re.IGNORECASE
)
# Cells of .xlsx that calamine rejects: errors of new functions, texts as numbers, unknown types.
_ODD: Final = rb'<c\b[^<>]*?\bt="'
_ODD_VALUE: Final = rb'"[^<>]*>(?:<f\b[^<>]*/>|<f\b[^<>]*>[^<]*</f>)?<v>'
_ODD_ERROR: Final = re.compile(rb"(" + _ODD + rb"e" + _ODD_VALUE + rb")[^<]*")
_ODD_NUMBER: Final = re.compile(rb"(" + _ODD + rb")n(" + _ODD_VALUE + rb")(?![+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?</v>)")
_ODD_TYPE: Final = re.compile(rb"(" + _ODD + rb')(?!(?:n|s|str|b|d|e|inlineStr)")[^"<>]*"')
# What is anchored in a cell of .ods has texts of its own: images, shapes, comments.
_ANCHORED: Final = re.compile(rb"<(/?)(?:draw:|office:annotation)[^<>]*?(/?)>")
_TEXT: Final = rb'office:value-type="string"'
_REWRITTEN: Final = (  # what a text has that is rewritten
    (b"<text:line-break", re.compile(rb"<text:line-break ?/>"), b"\n"),
    (  # times that are negative, or of 24 hours or more
        b"office:time-value=",
        re.compile(
            rb'office:value-type="time" office:time-value="(?:(-)PT|PT(?=2[4-9]|[3-9][0-9]|[0-9]{3}))'
            rb'([0-9]{2,9})H([0-9]{2})M([0-9]{2})(?:[.,][0-9]+)?S"'
        ),
        _TEXT + rb' office:string-value="\1\2:\3:\4"',
    ),
    (  # numbers that are shown with zeros in front
        b"<text:p>0",
        re.compile(
            rb'office:value-type="float" office:value="([0-9]{1,20})"([^<>]{0,400}><text:p>)(0{1,20}\1</text:p>)'
        ),
        _TEXT + rb"\2" + _OPEN + b"z" + _CLOSE + rb"\3",
    ),
    (  # formulas without a value
        b"table:formula=",
        re.compile(rb"(<table:table-cell\b(?=[^<>]*\stable:formula=)(?![^<>]*\soffice:value-type=)[^<>]*?)/>"),
        rb"\1 " + _TEXT + b"><text:p>" + _OPEN + b"f" + _CLOSE + b"</text:p></table:table-cell>",
    ),
    (  # texts with a link
        b"<text:a ",
        re.compile(
            rb'(<text:p\b[^<>]*>(?:<text:span\b[^<>]*>)?<text:a\b[^<>]{0,400}?\sxlink:href="([^"<>]{0,2048})"[^<>]{0,400}>)'
        ),
        rb"\1" + _OPEN + rb"l\2" + _CLOSE,
    ),
    (  # merged cells with a text
        b"-spanned=",
        re.compile(
            rb'(<table:table-cell\b(?=[^<>]*-spanned="(?:[2-9]|[1-9][0-9]))(?=[^<>]*\s'
            + _TEXT
            + rb")[^<>]*><text:p\b[^<>]*>)"
        ),
        rb"\1" + _OPEN + b"m" + _CLOSE,
    ),
)


def rewritten(content: bytes) -> bytes:
    """Return a workbook in which cells are as they are shown, the same object if nothing is changed.

    Raises FileError for a bomb and for an encrypted .ods, what zipfile raises for a damaged archive.
    """
    with ZipFile(BytesIO(content)) as archive:
        names = set(archive.namelist())
        check_size(sum(info.file_size for info in archive.infolist()), stored=len(content))
        if _MANIFEST in names and _ENCRYPTION in archive.read(_MANIFEST):
            raise FileError(f"the workbook is encrypted: {SAVE}")
        if _CONTENT in names:
            return _changed(content, archive, _CONTENT, change_content)
        workbook = archive.read(_WORKBOOK) if _WORKBOOK in names else b""
        writers = list(writers_of(archive.read(_STYLES), workbook)) if _STYLES in names else []
        change = partial(change_sheet, writers, is_new=b'fullCalcOnLoad="1"' in workbook)
        return _changed(content, archive, _SHEETS, change)


def without_odd_cells(content: bytes) -> bytes:
    """Return an .xlsx in which errors are `#N/A`, and what is no number or of no known type is a text."""

    def change(xml: bytes) -> bytes:
        return _ODD_TYPE.sub(rb'\1str"', _ODD_NUMBER.sub(rb"\1str\2", _ODD_ERROR.sub(rb"\1#N/A", xml)))

    with ZipFile(BytesIO(content)) as archive:
        return _changed(content, archive, _SHEETS, change)


def links(content: bytes, sheet: str) -> dict[tuple[int, int], str]:
    """Return the addresses that the cells of a sheet of .xlsx link to, by row, from 1, and column, from 0."""
    found, most = dict[tuple[int, int], str](), _MAX_LINKS
    with suppress(KeyError, StopIteration, *ZIP_DAMAGE), ZipFile(BytesIO(content)) as archive:  # none are known then
        identifier = next(each["id"] for each in _elements(archive.read(_WORKBOOK), b"sheet") if each["name"] == sheet)
        part = "xl/" + _targets(archive, _WORKBOOK)[identifier].removeprefix("/xl/")
        targets = _targets(archive, part)
        for each in _elements(archive.read(part), b"hyperlink") if targets else ():
            place, target = _RANGE.fullmatch(each.get("ref", "")), targets.get(each.get("id", ""), "")
            if place is not None and _ADDRESS.match(target):
                address = f"{target}#{each['location']}" if "location" in each else target
                rows = range(int(place[2]), int(place[4] or place[2]) + 1)
                columns = range(_column(place[1]), _column(place[3] or place[1]) + 1)
                cells = list(islice(product(rows, columns), most))
                found.update(dict.fromkeys(cells, address))
                most -= len(cells)
    return found


def _targets(archive: ZipFile, part: str) -> Mapping[str, str]:
    """Return the targets of the relationships of a part by their identifiers."""
    folder, _, name = part.rpartition("/")
    path = f"{folder}/_rels/{name}.rels"
    found = _elements(archive.read(path), b"Relationship") if path in archive.namelist() else ()
    return {each["Id"]: each["Target"] for each in found if each.keys() >= {"Id", "Target"}}


def _column(letters: str) -> int:
    return reduce(lambda index, letter: 26 * index + ord(letter) - ord("A") + 1, letters, 0) - 1


def _elements(xml: bytes, name: bytes) -> Iterator[dict[str, str]]:
    """Yield the attributes of the elements of a name."""
    for tag in re.finditer(rb"<(?:\w+:)?" + name + rb"\b((?:[^\"<>]|\"[^\"<]*\")*)>", xml):
        found = _ATTRIBUTE.findall(tag[1])
        yield {key.decode(): unescape((one or other).decode("utf-8", "replace")) for key, one, other in found}


def _changed(content: bytes, archive: ZipFile, part: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return an archive with changed files, those whose names begin with `part`; the same object if none is changed."""
    changed = {}
    for name in archive.namelist():
        if name.startswith(part) and name.endswith(".xml") and (xml := archive.read(name)) != (new := change(xml)):
            changed[name] = new
    if not changed:
        return content
    written = BytesIO()
    with ZipFile(written, "w") as copy:
        for info in archive.infolist():
            copy.writestr(info.filename, changed.get(info.filename) or archive.read(info))
    return written.getvalue()


def change_content(xml: bytes) -> bytes:
    """Return the content of an .ods without what is anchored in cells, other cells as texts."""
    kept, depth, end = list[bytes](), 0, 0
    for tag in _ANCHORED.finditer(xml):
        if depth == 0:
            kept.append(xml[end : tag.start()])
        if not tag[2]:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        end = tag.end()
    text = b"".join([*kept, xml[end:]]) if end else xml
    for sign, pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text) if sign in text else text
    return text


def writers_of(styles: bytes, workbook: bytes) -> Iterator[_Writer | None]:
    """Yield for each style what returns a number as it is shown, None if calamine reads it so."""
    custom = {each.get("numFmtId", ""): each.get("formatCode", "") for each in _elements(styles, b"numFmt")}
    known, has_1904 = _FORMATS | custom, re.search(rb'\bdate1904="(?:1|true)"', workbook) is not None
    for style in _elements(styles.partition(b"cellXfs")[2].partition(b"cellXfs")[0], b"xf"):
        code = _NOT_SHOWN.sub("", known.get(style.get("numFmtId", ""), "")).partition(";")[0]
        letters = set(_LITERAL.sub("", code).casefold())
        if letters & set("hs") and not letters & set("yd["):
            yield _clock
        elif letters & set("yd") and has_1904 and "[" not in letters:
            yield _first_day
        else:
            yield partial(_padded, code) if code.endswith("0") and _PADDED.fullmatch(_LITERAL.sub("", code)) else None


def _clock(days: float) -> str | None:
    """Return a time of a day: negative, or on a later day; calamine reads others."""
    hours, seconds = divmod(round(abs(days) % 1 * _DAY) % _DAY, 3600)
    text = f"{'-' * (days < 0)}{hours:02}:{seconds // 60:02}:{seconds % 60:02}"
    return None if 0 <= days < 1 else text


def _first_day(days: float) -> str | None:
    """Return a time of the first day that counts from 1904, which calamine takes for a time."""
    clock = _clock(days + 1)
    return None if not 0 <= days < 1 else "1904-01-01" if clock == "00:00:00" else f"1904-01-01T{clock}"


def _padded(code: str, number: float) -> str | None:
    """Return an integer as a format shows it, if that has zeros in front, or other characters."""
    if number < 0 or not number.is_integer():
        return None
    plain, parts = f"{number:.0f}", _PART.findall(code)
    digits = plain.zfill(parts.count("0")).rjust(parts.count("0") + parts.count("#"))
    excess = len(digits) - parts.count("0") - parts.count("#")
    each = iter([digits[: excess + 1], *digits[excess + 1 :]])
    shown = "".join(next(each) if part in "0#" else part.strip('"').removeprefix("\\") for part in parts).strip()
    return None if shown == plain else shown


def change_sheet(writers: Sequence[_Writer | None], xml: bytes, *, is_new: bool) -> bytes:
    """Return a sheet of .xlsx with some cells as texts; `is_new` if a spreadsheet program has not calculated it."""
    known = [str(index).encode() for index, writer in enumerate(writers) if writer is not None]
    styles = b"|".join(known) if len(known) <= _MAX_STYLES else b"[0-9]+"
    if not styles and b"<f" not in xml and b":f" not in xml:
        return xml

    def change(cell: re.Match[bytes]) -> bytes:
        prefix, attributes, formula, element, value = cell.groups()
        kind, style = (found[1] if (found := each.search(attributes)) else b"" for each in (_TYPE, _STYLE))
        is_number, mark, text = kind in (b"", b"n"), b"", value
        has_value = (element is not None if kind == b"str" else value) and not (is_new and is_number and value == b"0")
        if formula and not has_value:
            mark, text = b"f", b""
        elif formula and kind == b"str" and (address := _LINKED.search(formula)):
            mark = b"l" + address[1]
        elif is_number and value and style and (shown := _shown(writers, int(style), value)) is not None:
            mark, text = b"z" * shown.startswith("0") * (":" not in shown), escape(shown).encode()
        else:
            return cell[0]
        marked = (_OPEN + mark + _CLOSE if mark else b"") + (text or b"")
        attributes = _TYPE.sub(b"", attributes)
        return b'<%bc%b t="str"><%bv>%b</%bv></%bc>' % (prefix, attributes, prefix, marked, prefix, prefix)

    return re.sub(_CELL % (styles or b"-"), change, xml)


def _shown(writers: Sequence[_Writer | None], style: int, value: bytes) -> str | None:
    """Return the text of a number in a style, None if calamine reads it so."""
    writer = writers[style] if style < len(writers) else None
    with suppress(ValueError, OverflowError):
        return None if writer is None else writer(float(value))
    return None
