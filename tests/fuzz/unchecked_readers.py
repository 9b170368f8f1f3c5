"""Readers whose complexity is measured: they read and do not check the result, unlike fuzz targets."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from service.loading.compiler import Compiler
from service.model.coordinates import parse_box, parse_point
from service.model.envelope import opening
from service.model.errors import RequestError, UnprocessableContent
from service.model.hours import DAYS
from service.model.kinds import POSTAL, WORDS, number_key, parse_flag, parse_instant
from service.model.query import QueryParser, query_pairs
from service.model.records import STORES
from service.model.words import parse_terms, words_of_lines
from service.reading.batch import Cell
from service.reading.diagnostics import FileError
from service.reading.files.places_file import PlaceList, read_places
from service.reading.formats.csv_file import open_csv
from service.reading.hours.reader import HoursReader
from service.reading.mapping.points import POINTS, coordinate, propose_notation
from service.reading.proposal.column_choice import recognizes
from service.reading.proposal.proposal import propose_mapping
from service.reading.text import plain_text
from service.spool import Spools
from service.web.connections.framing import ChunkedBody, read_request
from service.web.connections.heads import HeadReader, RejectedHead
from service.web.http.links import ignored_parameter_lines, link_lines, page_link_base
from tests.declared_attributes import STORES_WITH_HOURS
from tests.loading.data_files import read_batches

_PARSER: Final = QueryParser(STORES_WITH_HOURS)


def read_heads(given: bytes) -> None:
    """Read the heads of requests."""
    reader, received = HeadReader(), bytearray(given)
    while (head := reader.read(received, ended=True)) is not None and not isinstance(head, RejectedHead):
        read_request(head, bytearray(), None)


def skip_chunks(given: bytes) -> None:
    """Skip a body in chunks."""
    with suppress(RequestError):
        ChunkedBody().skip(bytearray(given))


def read_query(given: bytes) -> None:
    """Read a query of stores, and write the beginning and the links of its page, and what it ignores."""
    raw = given.translate(None, b"\r\n\0").decode("utf-8", "surrogateescape")
    pairs = query_pairs(raw)
    with suppress(UnprocessableContent):
        query, unknown = _PARSER.read(pairs, strict=False)
        ignored_parameter_lines(unknown)
        opening(query, 1)
        link_lines(page_link_base(raw), query, 1)


def match_value(given: bytes) -> None:
    """Parse one value as each kind of field."""
    text = given.decode("utf-8", "replace")
    for read in (WORDS.normalize, POSTAL.normalize, number_key, parse_flag, parse_instant):
        read(text)


def parse_places(given: bytes) -> None:
    """Parse a text as a point and as a box."""
    text = given.decode("utf-8", "replace")
    for read in (parse_point, parse_box):
        with suppress(ValueError):
            read(text)


def read_place_list(given: bytes) -> None:
    """Read an operator's list of places."""
    place_list(given)


def place_list(given: bytes) -> PlaceList | None:
    """Return the places of a list, None if it is refused."""
    with TemporaryDirectory() as folder, suppress(FileError):
        (file := Path(folder) / "places.csv").write_bytes(given)
        return read_places(str(file), Spools(file.parent))
    return None


def take_point(given: bytes) -> None:
    """Take coordinates from a text."""
    text = given.decode("utf-8", "replace")
    coordinate(text, POINTS["lat lon"], "latitude")
    propose_notation(text, [text])


def split_words(given: bytes) -> None:
    """Split a text into words as it is indexed and as it is searched for."""
    text = given.decode("utf-8", "replace")
    words_of_lines(text)
    with suppress(ValueError):
        parse_terms(text)


def read_hours(given: bytes) -> None:
    """Read opening hours."""
    list(hours(given))


def hours(given: bytes) -> Sequence[Cell]:
    """Return a text, or cells of days between NUL, as opening hours are served, or `Invalid`."""
    cells = given.decode("utf-8", "replace").split("\0")
    source = cells[0] if len(cells) == 1 else tuple([*cells, *[""] * len(DAYS)][: len(DAYS)])
    reader = HoursReader(holidays=(date(2026, 12, 25),), as_of=date(2026, 11, 26), is_null_if_invalid=False)
    return reader.column([source], [None], ["UTC"], [None])


def load_stores(form: str) -> Callable[[bytes], None]:
    """Return a reader that parses stores in a format, validates them and builds their table."""

    def read(given: bytes) -> None:
        compiler = Compiler(STORES, file="file", companies=None)
        with suppress(FileError):
            for batch in read_batches(form, given, STORES):
                compiler.add(batch)
            compiler.close()
            compiler.build()

    return read


def open_csv_text(given: bytes) -> None:
    """Find the delimiter and the columns of a CSV text."""
    with suppress(FileError):
        read_batches("csv", given, STORES)


def propose(given: bytes) -> None:
    """Propose a mapping for a CSV text."""
    with suppress(FileError):
        propose_mapping(open_csv(plain_text(given, None), finds=recognizes), "file")
