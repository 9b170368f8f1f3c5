"""CSV as a table of texts: its rows, and its delimiter, as the text declares it or from its header."""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from itertools import accumulate, chain, compress, islice, tee
from typing import Final, Literal

import msgspec

from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import FileError
from service.reading.formats.json_text import WEB_PAGE
from service.reading.formats.table_file import (
    IN_QUOTES,
    NO_OPTIONS,
    Finds,
    MissingHeader,
    Rows,
    TableFile,
    TableOptions,
    check_names,
    finds_nothing,
)
from service.reading.text import count_line_breaks
from service.spool import FileBytes, open_bytes
from service.texts import counted

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
LINE_END: Final = re.compile(rb"\r\n?|\n")
_MAX_CELL: Final = 2**31 - 1  # the maximum of the csv module on every platform; cells cannot exceed the file
_UNCLOSED: Final = "unexpected end of data"  # what the csv module says of a quote that is not closed
_IF_ORDINARY: Final = 'if quotes are ordinary characters, declare quote = "" in mapping.toml'
COMMA: Final = ","
DELIMITERS: Final = {COMMA: "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# A quote opens a cell at its beginning only; if it is not closed, the cell is the rest of the text.
_QUOTED_OR_LINE_END: Final = re.compile(rb'(?<![^,;\t|\r\n])"[^"]*+(?:""[^"]*+)*+"?|[\r\n]')
_SEPARATOR_LINE: Final = re.compile(r'("?)sep=([^\r\n"])\1(?=[\r\n])', re.IGNORECASE)
_LONGEST_SEPARATOR_LINE: Final = 12  # bytes
_BEGINNINGS: Final = {
    WEB_PAGE: "a web page; download the data itself",
    re.compile(rb'\s*(?:\[\s*)?\{\s*"'): "JSON: its name must end in .json, or in .jsonl with one record in each line",
}


class RowStream:
    """Reads the rows of a CSV text, from the one that begins at the offset `start` on the line `line`.

    A row that is not valid CSV ends with its first line: what follows is read as if it were valid. To trim cells allows
    spaces around quotes.

    unclosed  the line of the last row with a quote that is not closed before the end of the text; 0 if there is none
    """

    def __init__(
        self, text: FileBytes, delimiter: str, options: TableOptions = NO_OPTIONS, start: int = 0, line: int = 1
    ) -> None:
        csv.field_size_limit(_MAX_CELL)
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE
        spaces, end = options.trim and delimiter != " ", re.escape(delimiter)
        self._quoted_cell = re.compile(rf'((?:\A|{end}) *"(?:[^"]|"")*+") *(?={end}|[\r\n]|\Z)') if spaces else None
        self._parse = partial(csv.reader, delimiter=delimiter, quoting=quoting, strict=True, skipinitialspace=spaces)
        self.unclosed, self._bytes = 0, open_bytes(text, start)
        self._source = TextIOWrapper(self._bytes, "utf-8", newline="")
        self._open([], line)
        self._quoted: Iterator[str] = iter(())
        self._error = ""

    def read(self, size: int) -> Rows:
        """Return the next rows, none at the end."""
        read = self._read(size)
        if len(read.rows) == size:
            return read
        rows, lines, malformed = list(read.rows), list(read.lines), dict(read.malformed)
        while len(rows) < size and (read := self._read(size - len(rows))).rows:
            malformed |= {len(rows) + index: why for index, why in read.malformed.items()}
            rows += read.rows
            lines += read.lines
        return Rows(rows, lines, self._bytes.tell(), malformed)

    def _open(self, lines: Sequence[str], number: int) -> None:
        """Parse lines, of which the first has a number, then those that are not read."""
        parsed, self._log = tee(chain(lines, self._source))
        self._reader, self._first, self._line = self._parse(parsed), number, number

    def _read(self, size: int) -> Rows:
        """Return the next rows, up to one that is not valid."""
        if lines := list(islice(self._quoted, size)):
            return self._read_lines(lines)
        rows, error, first = list[list[str]](), "", self._line
        try:
            rows.extend(islice(self._reader, size))
        except csv.Error as found:
            error = str(found)
        self._line = self._first + self._reader.line_num
        lines = list(islice(self._log, self._line - first))
        if len(lines) == len(rows):  # nearly always: no cell has a line break
            return Rows(rows, range(first, self._line), self._bytes.tell())
        numbers = list(accumulate((1 + len(_LINE_BREAK.findall(",".join(row))) for row in rows), initial=first))
        if not error:
            return Rows(rows, numbers[:-1], self._bytes.tell())
        if (row := self._read_spaced(lines[numbers[-1] - first :])) is not None:
            self._open([], self._line)
            return Rows([*rows, row], numbers)
        # What follows the first line of the row is parsed again.
        number, within = numbers[-1], lines[numbers[-1] - first + 1 :]
        self._open(within[-1:], number + len(within) + (not within))
        self._quoted, self._error, self._line = iter(within[:-1]), error, number + 1
        return Rows([*rows, []], numbers, malformed={len(rows): self._describe(error, number)})

    def _read_spaced(self, lines: Sequence[str]) -> list[str] | None:
        """Return a row that has spaces behind quotes, if that is allowed and all that is wrong."""
        with suppress(csv.Error):
            if self._quoted_cell is not None:
                return next(self._parse([self._quoted_cell.sub(r"\1", "".join(lines))]))
        return None

    def _read_lines(self, lines: Sequence[str]) -> Rows:
        """Return lines between the first and the last one of the row with the last error, each as a row.

        These begin within a quote of that row. So does what follows one that opens a quote: it comes to the same error,
        and is not read again.
        """
        rows, malformed = list[list[str]](), {}
        numbers = range(self._line, self._line + len(lines))
        for number, line in zip(numbers, lines, strict=True):
            try:
                rows += self._parse([line])
            except csv.Error as error:
                malformed[len(rows)] = self._describe(self._error if str(error) == _UNCLOSED else str(error), number)
                rows.append([])
        self._line = numbers.stop
        return Rows(rows, numbers, self._bytes.tell(), malformed)

    def _describe(self, error: str, line: int) -> str:
        if error == _UNCLOSED:
            self.unclosed = line
        return f"the record that begins here is not valid CSV: {error}; {_IF_ORDINARY}"


def is_delimiter(text: str) -> bool:
    """Return whether a text can be declared as a delimiter: one character, but no letter, digit or quote."""
    return len(text) == 1 and not text.isalnum() and text not in '"\r\n\0'


def separator_line(text: FileBytes, start: int = 0) -> str | None:
    """Return the delimiter that the line at `start` declares: `sep=;`, as in spreadsheets. None: no such line.

    Raises FileError if it cannot be a delimiter.
    """
    match = _SEPARATOR_LINE.match(text[start : start + _LONGEST_SEPARATOR_LINE].decode("utf-8", "replace"))
    if match is not None and not is_delimiter(match[2]):
        raise FileError(f"{match[2]!r} cannot be a delimiter", 1 + count_line_breaks(text, 0, start))
    return match and match[2]


def skip_blank_rows(text: FileBytes, delimiters: bytes, start: int = 0) -> int:
    """Return the offset after the rows at `start` that have no other characters than some delimiters."""
    row = re.compile(rb"[%b\r\n]*" % re.escape(delimiters)).match(text, start)
    end = row.end() if row else start
    return max(start, 1 + text.rfind(b"\n", start, end), 1 + text.rfind(b"\r", start, end))


def _find_delimiter(text: "_CsvText", finds: Finds) -> str:
    """Return the delimiter of a text, as its header shows: the first row that has a value.

    A comma with which all required columns are found is the delimiter, then the only one outside quotes, then the only
    one with which they are found. Raises FileError.
    """
    start, header = _read_header(text)
    found = [delimiter for delimiter in DELIMITERS if delimiter.encode() in header]
    fits = partial(_fits, text, finds)
    if found in ([], [COMMA]) or fits(COMMA):
        return COMMA
    fitting = found if len(found) == 1 else list(filter(fits, found))
    if len(fitting) != 1:
        kinds = " and ".join(DELIMITERS[delimiter] for delimiter in found)
        declared = " or ".join(f"delimiter = {msgspec.json.encode(delimiter).decode()}" for delimiter in found)
        unclear = f"the header has {kinds}, and which of them delimit columns is unclear"
        raise FileError(f"{unclear}: declare {declared} in mapping.toml", 1 + count_line_breaks(text.text, 0, start))
    return fitting[0]


def _read_header(csv_text: "_CsvText") -> tuple[int, bytes]:
    """Return the offset of the first row with a value, and its bytes with a quote for each quoted cell."""
    row, text = bytearray(), csv_text.text
    tokens = _QUOTED_OR_LINE_END if csv_text.options.quote else LINE_END
    start = end = skip_blank_rows(text, "".join(DELIMITERS).encode(), csv_text.start)
    for token in tokens.finditer(text, start):
        row += text[end : token.start()]
        end = token.end()
        if not token[0].startswith(b'"'):
            return start, bytes(row)
        row += b'"'
    return start, bytes(row) + text[end:]


class _CsvText(msgspec.Struct, frozen=True):
    """A CSV text whose delimiter may be unknown, and the offset at which the lines that are skipped end."""

    text: FileBytes
    options: TableOptions
    start: int = 0

    def rows(self, delimiter: str) -> RowStream:
        """Return the rows, from the first that is not blank; blank ones may be millions."""
        declared = LINE_END.search(self.text, self.start) if separator_line(self.text, self.start) else None
        encoded = delimiter.encode()
        begin = declared.end() if declared else self.start
        start = skip_blank_rows(self.text, encoded if len(encoded) == 1 else b"", begin)
        return RowStream(self.text, delimiter, self.options, start, 1 + count_line_breaks(self.text, 0, start))


class CsvFile(TableFile):
    """A CSV text with a known delimiter."""

    def __init__(self, text: _CsvText, delimiter: str, finds: Finds, assumed: Sequence[str] = ()) -> None:
        self._text, self.delimiter, self.total = text, delimiter, len(text.text)
        super().__init__(text.options, finds, assumed)
        (name, *others), delimiters = self.names, set(DELIMITERS)
        if not others and sum(map(name.count, delimiters)) > 1 and not (text.options.delimiter or finds(self.names)):
            raise FileError(f"each {IN_QUOTES}", self.line)

    def _rows(self, first: int) -> Iterator[Rows]:
        stream, complete, read = self._text.rows(self.delimiter), 0, Rows([], ())
        while (some := stream.read(BATCH_SIZE if read.rows else first)).rows:
            yield (read := some)
            if stream.unclosed:
                complete = max(compress(read.lines, map(self._header.accepts, read.rows)), default=complete)
        if stream.unclosed > complete:
            raise FileError("the record that begins here is truncated, or a quote in it is not closed", stream.unclosed)
        is_short = bool(read.rows) and len(read.rows[-1]) < self._header.width
        if is_short and not self._text.text.endswith((b"\n", b"\r")):
            raise FileError("the last record is truncated", read.lines[len(read.rows) - 1])


def open_csv(content: FileBytes, *, options: TableOptions = NO_OPTIONS, finds: Finds = finds_nothing) -> CsvFile:
    """Return a CSV text with its delimiter: declared, of its first line, or as its header shows. Raises FileError."""
    if options.delimiter is not None and not is_delimiter(options.delimiter):
        raise FileError(f"{options.delimiter!r} cannot be a delimiter")
    if beginning := next((what for pattern, what in _BEGINNINGS.items() if pattern.match(content)), None):
        raise FileError(f"not CSV: {beginning}", 1)
    text = _CsvText(content, options, _skip_lines(content, options.skip_lines))
    if declared := options.delimiter or separator_line(content, text.start):
        return CsvFile(text, declared, finds)
    try:
        delimiter = _find_delimiter(text, finds)
        return CsvFile(text, delimiter, finds, [] if delimiter == COMMA else [DELIMITERS[delimiter]])
    except MissingHeader:
        raise
    except FileError:
        for each in DELIMITERS if not options.columns else ():
            check_names(text.rows(each).read(BATCH_SIZE))
        raise


def _skip_lines(text: FileBytes, count: int) -> int:
    """Return the offset after some lines. Raises FileError if nothing follows them."""
    ends = [0, *(each.end() for each in islice(LINE_END.finditer(text), count))]
    if (count and ends[-1] == len(text)) or len(ends) <= count:
        found = len(ends) - 1 + (ends[-1] < len(text))
        raise FileError(f"the mapping skips {counted(count, 'line')}, but the file has only {found:,}")
    return ends[-1]


def _fits(text: _CsvText, finds: Finds, delimiter: str) -> bool:
    """Return whether all required columns are found with a delimiter; of declared ones, as many as are declared."""
    if text.options.columns:
        return any(len(row) == len(text.options.columns) for row in text.rows(delimiter).read(1).rows)
    with suppress(FileError):
        return finds(CsvFile(text, delimiter, finds).names)
    return False
