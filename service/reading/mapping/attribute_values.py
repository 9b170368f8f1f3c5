"""The values of attributes: texts to numbers, flags, lists, URLs and dates, in the form in which they are served."""

import re
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from datetime import date
from math import isfinite
from typing import Any, Final, TypeAlias

import msgspec

from service.model.kinds import NUMBER_PATTERN, parse_flag, parse_instant, trim
from service.reading.batch import Cell, Invalid, WrongType
from service.reading.columns.dates import MAX_CACHED, RFC_3339, Cells, parse_date_format
from service.reading.diagnostics import Issue
from service.reading.mapping.declaration import AttributeOptions, Constant

_Parsed: TypeAlias = str | bool | tuple[str, ...] | Issue | None
_Parse: TypeAlias = Callable[[str], _Parsed]

CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_URL: Final = re.compile(r"https?://[^\s\\/?#@:][^\s\\/?#@]*(?:[/?#][^\s\\]*)?", re.IGNORECASE)
# Lines already in canonical form.
_NUMBERS: Final = re.compile(r"(?:(?:-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?)?\n)*")
_URLS: Final = re.compile(r"(?:(?:https?://[^\s\\/?#@:][^\s\\/?#@]*(?:[/?#][^\s\\]*)?)?\n)*")
_MOST_BYTES: Final = 4  # of a character
_DATE_LENGTH: Final = len("2000-01-01")

CONTROL_CHARACTER: Final = Issue("text", "control characters other than tab and line breaks are not allowed")
_NOT: Final[Mapping[str, Issue]] = {
    "text": Issue("type", "expected a text"),
    "number": Issue("type", "expected a number such as 7.5"),
    "flag": Issue("type", "expected true or false, or one of the declared `values`"),
    "list": Issue("type", "expected texts, or an array of them"),
    "url": Issue("type", "expected a URL that begins with http:// or https://"),
    "date": Issue("date", "expected a date such as 2019-02-01, or one of the declared format"),
}


class AttributeReader:
    """Reads the cells of an attribute: its values, `Invalid` for others, which may be null."""

    def __init__(
        self,
        options: AttributeOptions,
        *,
        dates: Sequence[str] = (),
        no_value: AbstractSet[str] = frozenset(),
        values: Mapping[str, Constant] | None = None,
        other: Constant | None = None,
    ) -> None:
        """Read cells as declared; `no_value`, `values` and `other` are applied to the texts of lists."""
        self._options, self._known = options, dict[Cell, Cell]()
        self._no_value, self._values, self._other = no_value, values or {}, other
        formats = [parse_date_format(each).parse for each in dates if each != RFC_3339]
        parsers: Mapping[str, _Parse] = {
            "text": lambda text: text,
            "number": self._number,
            "flag": lambda text: _or_wrong(parse_flag(trim(text)), "flag"),
            "list": self._list,
            "url": lambda text: trim(text) if _URL.fullmatch(trim(text)) else _NOT["url"],
            "date": lambda text: _or_wrong(_date(trim(text), formats), "date"),
        }
        self._parse = parsers[options.kind]

    def column(self, cells: Cells) -> Cells:
        """Return the cells of a column, read."""
        if self._are_plain(cells):
            return cells
        known = self._known
        if len(known) > MAX_CACHED:
            known.clear()
        for cell in set(cells) - known.keys():
            known[cell] = self._read(cell)
        return list(map(known.__getitem__, cells))

    def _are_plain(self, cells: Cells) -> bool:
        """Return whether all cells are texts, or None, that are certainly in canonical form."""
        try:
            texts: Sequence[Any] = ["" if cell is None else cell for cell in cells]
            lines = "\n".join([*texts, ""])
        except TypeError:
            return False
        if lines.count("\n") != len(cells) or _MOST_BYTES * max(map(len, lines.split("\n"))) > self._options.max_length:
            return False
        match self._options.kind:
            case "text":
                return lines.replace("\n", "").isprintable()
            case "number":
                is_notation_of_json = self._options.decimal == "." or "." not in lines
                return is_notation_of_json and _NUMBERS.fullmatch(lines) is not None
            case "url":
                return lines.replace("\n", "").isprintable() and _URLS.fullmatch(lines) is not None
        return False

    def _read(self, cell: Cell) -> Cell:
        if isinstance(cell, Invalid):
            return self._wrong(cell.text, cell.issue)
        value = self._parsed(cell)
        issue = value if isinstance(value, Issue) else self._check(value)
        if issue is not None:
            text = _as_written(cell)
            return self._wrong(text, CONTROL_CHARACTER if CONTROL.search(text) else issue)
        return None if isinstance(value, Issue) else value

    def _parsed(self, cell: Cell) -> _Parsed:
        kind = self._options.kind
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return None
        if isinstance(cell, bool):
            return cell if kind == "flag" else _NOT[kind]
        if isinstance(cell, WrongType) and kind == "list":
            elements = _elements(cell.text)
            return _NOT[kind] if elements is None else self._texts(elements)
        if isinstance(cell, tuple):
            return cell
        return self._parse(cell) if isinstance(cell, str) else _NOT[kind]

    def _check(self, value: object) -> Issue | None:
        """Return the issue of a value of the right kind."""
        texts = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
        if any(map(CONTROL.search, texts)):
            return CONTROL_CHARACTER
        most = self._options.max_length
        if sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) > most:
            return Issue("length", f"longer than {most:,} bytes, the `max_length` of the attribute")
        return None

    def _wrong(self, text: str, issue: Issue) -> Cell:
        return Invalid(text, issue, is_null=self._options.is_null_if_invalid)

    def _number(self, text: str) -> _Parsed:
        text = trim(text)
        if self._options.decimal == ",":
            if "." in text:
                return _NOT["number"]
            text = text.replace(",", ".", 1)
        return _or_wrong(_json_number(text), "number")

    def _list(self, text: str) -> _Parsed:
        return self._texts(text.split(self._options.separator))

    def _texts(self, texts: Sequence[str]) -> tuple[str, ...] | None:
        found = tuple(value for text in texts if (value := self._text(trim(text))))
        return found or None

    def _text(self, text: str) -> str:
        folded = text.casefold()
        if not text or folded in self._no_value:
            return ""
        value = self._values.get(folded, text if self._other is None else self._other)
        return trim(str(value))


def concatenated(columns: Sequence[Cells]) -> Cells:
    """Return the lists of several columns, those of a record one after the other; what is no list is the result."""
    if len(columns) == 1:
        return columns[0]
    return [_concatenated(cells) for cells in zip(*columns, strict=True)]


def _concatenated(cells: Sequence[Cell]) -> Cell:
    wrong = next((cell for cell in cells if cell is not None and not isinstance(cell, tuple)), None)
    return wrong or tuple(text for cell in cells if isinstance(cell, tuple) for text in cell) or None


def _as_written(cell: Cell) -> str:
    """Return a cell as its file has it: a flag as JSON."""
    return cell.text if isinstance(cell, WrongType) else str(cell).lower() if isinstance(cell, bool) else str(cell)


def _or_wrong(value: _Parsed, kind: str) -> _Parsed:
    return _NOT[kind] if value is None else value


def _json_number(text: str) -> str | None:
    """Return a decimal as JSON with its digits (RFC 8259, section 6), None if it is none, or no finite double."""
    match = NUMBER_PATTERN.fullmatch(text)
    if match is None or not isfinite(float(text)):
        return None
    sign, whole, part, bare_part, exponent = match.groups("")
    fraction = part or bare_part
    tail = text[re.search("[eE]", text).start() :] if exponent else ""  # type: ignore[union-attr]
    return f"{sign.strip('+')}{whole.lstrip('0') or '0'}{'.' if fraction else ''}{fraction}{tail}"


def _date(text: str, formats: Sequence[Callable[[str], tuple[str, str] | None]]) -> str | None:
    """Return the date of a text as RFC 3339 writes it, None if it has no such format, or does not exist."""
    days = [found[0] for parse in formats if (found := parse(text)) is not None]
    if parse_instant(text) is not None:
        days.append(text[:_DATE_LENGTH])
    for day in days:
        try:
            return date.fromisoformat(day).isoformat()
        except ValueError:
            continue
    return None


def _elements(text: str) -> list[str] | None:
    """Return the texts and numbers in an array of JSON, as texts; None if it has others, or is none."""
    try:
        found = [bytes(each) for each in msgspec.json.decode(text, type=list[msgspec.Raw])]
        return [_element(each) for each in found if each != b"null"]
    except (msgspec.DecodeError, ValueError):
        return None


def _element(element: bytes) -> str:
    if element[:1] == b'"':
        return msgspec.json.decode(element, type=str)
    if element[:1] in (b"[", b"{", b"t", b"f"):
        raise ValueError("neither a text nor a number")
    return element.decode()
