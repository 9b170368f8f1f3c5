"""Conversions of cells, by column: to what a field has, and to the values of attributes as they are served."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import date
from functools import lru_cache, partial
from math import isfinite
from typing import Final, TypeAlias

import msgspec

from service.model.kinds import FLAG, INSTANT, NUMBER, NUMBER_PATTERN, parse_flag, trim
from service.model.records import Field
from service.reading.batch import Cell, Invalid, TextCells, WrongType, written
from service.reading.characters import has_c1, repair_of_c1
from service.reading.columns.dates import MAX_CACHED, RFC_3339, Cells, cached_converter, day_parser, instant_converter
from service.reading.columns.flags import past_tester
from service.reading.diagnostics import Issue
from service.reading.mapping.declaration import FieldMapping, ResourceMapping
from service.reading.mapping.points import POINTS, coordinate, is_empty, with_decimal_points

Conversion: TypeAlias = Callable[[Cells], Cells]
_COMMA: Final = Issue("type", "expected a number such as 7,5, as the mapping declares, without thousands separators")
_Value: TypeAlias = str | bool | tuple[str, ...] | None
_CODE: Final = re.compile("([0-9]{1,20})((?:-[0-9]{4})?)")
CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_HOST: Final = r"://[^\s\\/?#@:][^\s\\/?#@]*(?:[/?#][^\s\\]*)?"
# What a text of a kind is, without the white space around it.
_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "url": re.compile(f"https?{_HOST}", re.IGNORECASE),
    "image": re.compile(f"https{_HOST}", re.IGNORECASE),
    "email": re.compile(r"[^\s@]+@[^\s@]+"),
    "phone": re.compile(r"(?=(?:[^0-9]*[0-9]){5})(?:[0-9+()/.;\- \xa0]|[^\W\d_])+"),
}
# Lines already in canonical form.
_TEXTS: Final = re.compile(".*", re.DOTALL)
_NUMBERS: Final = re.compile(r"(?:(?:-?(?:0|[1-9][0-9]{0,15})(?:\.[0-9]{1,15})?)?\n)*")
_INTEGERS: Final = re.compile(r"(?:(?:-?(?:0|[1-9][0-9]{0,15}))?\n)*")
_URLS: Final = re.compile(r"(?:(?:https?://[^\s\\/?#@:][^\s\\/?#@]*(?:[/?#][^\s\\]*)?)?\n)*")
_MOST_BYTES: Final = 4  # of a character
_NO_CONTROLS: Final = "control characters other than tab and line breaks are not allowed"
_CONTROL_CHARACTER: Final = Issue("text", _NO_CONTROLS)
_C1: Final = f'{_NO_CONTROLS}; those from U+0080 to U+009F become letters with repair = "{{}}" in mapping.toml'
_NOT: Final[Mapping[str, Issue]] = {
    "text": Issue("type", "expected a text"),
    "number": Issue("type", "expected a number such as 7.5, without thousands separators"),
    "flag": Issue("type", "expected true or false, or one of the declared `values`"),
    "list": Issue("type", "expected texts, or an array of them"),
    "url": Issue("type", "expected a URL that begins with http:// or https://"),
    "email": Issue("type", "expected an email address such as info@shop.example"),
    "phone": Issue("type", "expected a telephone number such as +49 30 1234567"),
    "image": Issue("type", "expected a URL that begins with https://"),
    "date": Issue("date", "expected a date such as 2019-02-01, or one of the declared format"),
}


def conversions(field: Field, entry: FieldMapping, mapping: ResourceMapping, *, texts: bool) -> Iterator[Conversion]:
    """Yield the conversions of a field, in order; `texts` if all cells of the file are texts."""
    if entry.split is not None:
        yield lambda cells: [_part(entry, cell) if isinstance(cell, str) else cell for cell in cells]
    if entry.pad:
        convert_number = cached_converter(partial(padded, entry.pad))
        yield lambda cells: list(map(convert_number, cells))
    if entry.values or entry.other is not None:
        values, other = entry.values, entry.other
        convert = cached_converter(lambda text: values.get(text.casefold(), text if other is None else other))
        yield lambda cells: [convert(written(cell) if isinstance(cell, bool) else cell) for cell in cells]
    if entry.point:
        yield _point_converter(field.name, entry.point, mapping.decimal)
    elif field.kind is NUMBER and mapping.decimal == "," and not entry.kind:
        yield lambda cells: [_with_point(cell) if isinstance(cell, str) else cell for cell in cells]
    if field.kind is INSTANT and (parse := instant_converter(entry.date or (), mapping.time_zone)) is not None:
        yield lambda cells: [parse(trim(cell)) if isinstance(cell, str) and has_value(cell) else cell for cell in cells]
    if (default := entry.default) is not None:
        yield lambda cells: [cell if has_value(cell) else default for cell in cells]
    if entry.kind:
        yield AttributeReader(entry).column
    elif not texts and field.kind is not FLAG:
        yield _without_flags


def _point_converter(name: str, notation: str, decimal: str) -> Conversion:
    issue = Issue("type", f"expected coordinates as {notation!r}, as the mapping declares")

    def convert(text: str) -> Cell:
        if is_empty(text):
            return None
        found = coordinate(with_decimal_points(text) if decimal == "," else text, POINTS[notation], name)
        return Invalid(text, issue) if found is None else found

    converted = cached_converter(convert)
    return lambda cells: [converted(cell.text if isinstance(cell, WrongType) else cell) for cell in cells]


def without(cells: Cells, texts: AbstractSet[str]) -> Cells:
    """Return cells, None for the texts that mean "no value", whatever their case and the spaces around them."""
    return [None if isinstance(cell, str) and cell.strip(" ").casefold() in texts else cell for cell in cells]


def control_issue(text: str) -> Issue | None:
    """Return the issue of a text with control characters, None if it has none."""
    if CONTROL.search(text) is None:
        return None
    return Issue("text", _C1.format(repair_of_c1(text))) if has_c1(text) else _CONTROL_CHARACTER


def has_value(cell: Cell) -> bool:
    """Return whether a cell has a value: blank texts have none."""
    return cell is not None and not (isinstance(cell, str) and (not cell or cell.isspace()))


def padded(digits: int, text: str) -> str:
    """Return a number with zeros in front, as they were before a spreadsheet; with its extension: 2108-1234."""
    return text if (found := _CODE.fullmatch(text)) is None else f"{found[1].zfill(digits)}{found[2]}"


def _part(entry: FieldMapping, text: str) -> str | None:
    """Return the declared part of a text, without white space around it; without a separator, all of it is part 1."""
    if entry.split is None or entry.part is None:
        return text
    parts = trim(text).split(entry.split, 1)
    return trim(parts[entry.part - 1]) if entry.part <= len(parts) else None


def _with_point(text: str) -> Cell:
    return Invalid(text, _COMMA) if "." in text else text.replace(",", ".", 1)


def _without_flags(cells: Cells) -> Cells:
    if bool not in set(map(type, cells)):  # all at once: hardly any column has them
        return cells
    return [WrongType(written(cell)) if isinstance(cell, bool) else cell for cell in cells]


def closer(entry: FieldMapping, as_of: date) -> Callable[[Cells, Cells], Cells]:
    """Return the function that merges flags and closing dates: False if the date is past, Invalid if it is none.

    The values of the entry are those of the flag, or of texts that are no dates if no column has flags.
    """
    formats = entry.date or ()
    expected = f"as {' or '.join(formats)}, as the mapping declares" if formats else "such as 2024-05-31"
    issue = Issue("date", f"expected a closing date {expected}")
    is_past = past_tester(formats, as_of)
    values, other = ({}, None) if entry.sources else (entry.values, entry.other)

    def flag(text: str) -> Cell:
        if (meaning := values.get(text.casefold())) is not None:
            return meaning
        if (past := is_past(text)) is not None:
            return not past
        return Invalid(text, issue) if other is None else other

    def close(flags: Cells, dates: Cells) -> Cells:
        converted = map(convert, map(written, dates))
        return [
            cell if cell is False or isinstance(cell, Invalid) else flag
            for flag, cell in zip(flags, converted, strict=True)
        ]

    convert = cached_converter(flag)
    return close


class AttributeReader:
    """Reads the cells of an attribute: its values, `Invalid` for others, which may be null."""

    def __init__(self, entry: FieldMapping, no_value: AbstractSet[str] = frozenset()) -> None:
        """Read cells as an entry declares; what it declares of values is applied to the texts of lists."""
        self._entry, self._no_value = entry, no_value
        parse_day, decimal = day_parser((*(entry.date or ()), RFC_3339)), entry.decimal
        self._issue = _COMMA if entry.kind == "number" and decimal == "," else _NOT[entry.kind]
        numbers = _NUMBERS if decimal == "." else _INTEGERS
        self._plain = {"text": _TEXTS, "number": numbers, "url": _URLS}.get(entry.kind)
        # Each returns None for other texts.
        parsers: dict[str, Callable[[str], _Value]] = {
            "text": lambda text: text,
            "number": lambda text: None if decimal == "," and "." in text else _json_number(trim(text), decimal),
            "flag": lambda text: parse_flag(trim(text)),
            "list": lambda text: self._texts((_part(entry, text) or "").split(entry.separator)),
            "date": lambda text: None if (day := parse_day(trim(text))) is None else day.isoformat(),
        }
        form = _FORMS.get(entry.kind, _TEXTS)
        parsers.setdefault(entry.kind, lambda text: trim(text) if form.fullmatch(trim(text)) else None)
        self._parse = parsers[entry.kind]
        self._read_cached = lru_cache(MAX_CACHED)(self._read)

    def column(self, cells: Cells) -> Cells:
        """Return the cells of a column, read."""
        texts = TextCells.of(cells) if self._plain else None
        return list(map(self._read_cached, cells)) if texts is None or not self._are_plain(texts) else texts

    def _are_plain(self, texts: TextCells) -> bool:
        return (
            self._plain is not None
            and texts.lines.count("\n") == len(texts)
            and _MOST_BYTES * max(map(len, texts), default=0) <= self._entry.max_length
            and texts.lines.replace("\n", "").isprintable()
            and self._plain.fullmatch(texts.lines) is not None
        )

    def _read(self, cell: Cell) -> Cell:
        if not has_value(cell):
            return None
        value = cell if isinstance(cell, Invalid) else self._parsed(cell)
        issue = value.issue if isinstance(value, Invalid) else self._issue if value is None else self._check(value)
        if issue is None:
            return None if value == () else value
        shown = written(cell)
        issue = issue if isinstance(cell, Invalid) else control_issue(shown) or issue
        return Invalid(shown, issue, is_null=self._entry.invalid is not None)

    def _parsed(self, cell: Cell) -> _Value:
        """Return the value of a cell, None if it is none of the kind."""
        if isinstance(cell, str):
            return self._parse(cell)
        if isinstance(cell, tuple) or (isinstance(cell, bool) and self._entry.kind == "flag"):
            return cell
        elements = _elements(cell.text) if isinstance(cell, WrongType) and self._entry.kind == "list" else None
        return None if elements is None else self._texts(elements)

    def _check(self, value: object) -> Issue | None:
        texts = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
        if issue := next(filter(None, map(control_issue, texts)), None):
            return issue
        most = self._entry.max_length
        if sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) > most:
            return Issue("length", f"longer than {most:,} bytes, the `max_length` of the attribute")
        return None

    def _texts(self, texts: Sequence[str]) -> tuple[str, ...]:
        values, other = self._entry.values, self._entry.other
        known = ((text, text.casefold()) for text in map(trim, texts))
        found = ((text, folded) for text, folded in known if text and folded not in self._no_value)
        meant = (values.get(folded, text if other is None else other) for text, folded in found)
        return tuple(filter(None, (trim(str(value)) for value in meant)))


def concatenated(columns: Sequence[Cells]) -> Cells:
    """Return the lists of several columns, those of a record one after the other; what is no list is the result."""
    if len(columns) == 1:
        return columns[0]
    return [
        next((cell for cell in cells if cell is not None and not isinstance(cell, tuple)), None)
        or tuple(text for cell in cells if isinstance(cell, tuple) for text in cell)
        or None
        for cells in zip(*columns, strict=True)
    ]


def _json_number(text: str, decimal: str) -> str | None:
    """Return a decimal as JSON with its digits (RFC 8259, section 6), None if it is none, or no finite double."""
    text = text.replace(decimal, ".", 1)
    match = NUMBER_PATTERN.fullmatch(text)
    if match is None or not isfinite(float(text)):
        return None
    sign, whole, part, bare_part, exponent = match.groups("")
    fraction = part or bare_part
    tail = text[match.start(5) - 1 :] if exponent else ""
    return f"{sign.strip('+')}{whole.lstrip('0') or '0'}{'.' if fraction else ''}{fraction}{tail}"


def _elements(text: str) -> list[str] | None:
    """Return the texts and numbers in an array of JSON, as texts; None if it has others, or is none."""
    try:
        found = [bytes(each) for each in msgspec.json.decode(text, type=list[msgspec.Raw])]
        texts = [msgspec.json.decode(each, type=str) if each[:1] == b'"' else each.decode() for each in found]
    except msgspec.DecodeError:
        return None
    if any(each[:1] in (b"[", b"{", b"t", b"f") for each in found):
        return None
    return [text for text, each in zip(texts, found, strict=True) if each != b"null"]
