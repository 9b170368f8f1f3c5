"""Readers of data files, and of the coordinates and words of requests. Each takes any bytes; an exception is a finding.

The errors that a reader promises are caught, and what must hold of what it read is asserted.
"""

import json
import math
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from service.baking.baked_file import read_baked
from service.baking.layout import DamagedFile, expected_length
from service.loading.compiler import Compiler
from service.model.coordinates import parse_box, parse_point
from service.model.errors import UnprocessableContent
from service.model.hours import DAYS
from service.model.kinds import NUMBER_PATTERN, POSTAL, WORDS, format_instant, number_key, parse_instant
from service.model.query import QueryParser
from service.model.records import COMPANIES, STORES, Resource
from service.model.words import MAX_CHARACTERS, MAX_WORDS, parse_terms, words_of_lines
from service.reading.batch import Batch, Cell
from service.reading.columns.field_names import COORDINATES
from service.reading.diagnostics import FileError
from service.reading.files.container import ZipArchive
from service.reading.files.file_names import parse_manifest
from service.reading.files.places_file import PlaceList, read_places
from service.reading.files.records import open_file
from service.reading.formats import package
from service.reading.formats.arrow import ArrowFile
from service.reading.formats.csv_file import DELIMITERS, open_csv
from service.reading.formats.file_format import FORMATS
from service.reading.formats.geojson import OverpassFile
from service.reading.formats.geometry import locate
from service.reading.formats.parquet_file import ColumnRequest
from service.reading.formats.table_file import TableOptions
from service.reading.hours.reader import HoursReader
from service.reading.mapping.conversions import without
from service.reading.mapping.mapped_records import MappedRecords
from service.reading.mapping.mapping_file import parse_mapping
from service.reading.mapping.points import POINTS, coordinate, propose_notation
from service.reading.proposal.proposal import propose_mapping
from service.reading.proposal.table_options import recognizes
from service.reading.text import MAX_RATIO, MAX_SIZE, count_line_breaks, plain_text
from service.spool import Spools
from tests.engine import oracle
from tests.engine.search_oracle import indexed, tokens
from tests.fuzz.seeds import baked
from tests.loading.data_files import read_batches

STYLES = (
    b'<numFmt numFmtId="99" formatCode="00000"/><cellXfs><xf/><xf numFmtId="99"/><xf numFmtId="20"/><xf numFmtId="14"/>'
)


def read_records(form: str, given: bytes) -> None:
    """Read stores and companies from a format."""
    for resource in (STORES, COMPANIES):
        with suppress(FileError):
            _compile(form, plain_text(given, None)[:], resource)


def read_dialect(given: bytes) -> None:
    """Read CSV with the delimiter that is found, and with each that is declared; with quotes and without."""
    read_records("csv", given)
    for delimiter, quotes in product((None, *DELIMITERS), (True, False)):
        with suppress(FileError):
            text = plain_text(given, None)[:]
            file = open_csv(text, options=TableOptions(delimiter=delimiter, quote='"' * quotes))
            assert file.names[-1]
            _check_numbers(file.batches([file.names[-1]]))


def _check_numbers(batches: Iterable[Batch]) -> None:
    """Check that records are numbered from 1, and that each has a cell or is unreadable."""
    first = 1
    for batch in batches:
        numbers = [*batch.numbers, *(each.record for each in batch.unreadable)]
        assert sorted(numbers) == list(range(first, first + len(numbers)))
        assert {len(cells) for cells in batch.columns.values()} == {len(batch.numbers)}
        first += len(numbers)


def read_json_lines(given: bytes) -> None:
    """Read stores and companies from JSON lines."""
    for resource in (STORES, COMPANIES):
        with suppress(FileError):
            text = plain_text(given, None)[:]
            read = _compile("jsonl", text, resource)
            assert read == len([_decode(line) for line in text.split(b"\n") if line.strip(b" \t\r")])


def read_json(given: bytes) -> None:
    """Read stores and companies from JSON. What is taken must be JSON to the standard library too, and the reverse."""
    for resource in (STORES, COMPANIES):
        read = None
        with suppress(FileError):
            read = _compile("json", plain_text(given, None)[:], resource)
        assert read == _count(given, resource.name)


def read_overpass(given: bytes) -> None:
    """Read all columns of Overpass JSON."""
    with suppress(FileError):
        file = OverpassFile(plain_text(given, None)[:])
        for batch in file.batches([*file.names, "absent"]):
            assert {len(column) for column in batch.columns.values()} == {len(batch.numbers)}


def read_paths(given: bytes) -> None:
    """Read all paths of JSON: what the names name is there."""
    for form in ("json", "jsonl"):
        with suppress(FileError):
            file = open_file(plain_text(given, None)[:], FORMATS[form])
            for batch in file.batches([*file.names, "a.0.b", "0", "."]):
                assert {len(column) for column in batch.columns.values()} <= {len(batch.numbers)}
                assert len(batch.lines()) == len(batch.numbers)


def read_parquet(given: bytes) -> None:
    """Read all paths of Parquet, in this process: what crashes here kills only the reader of the service."""
    with suppress(FileError):
        file = ArrowFile(given)
        for batch in file.parts(ColumnRequest([*file.opened.paths, "a.0.b", "geometry.latitude"])):
            assert {len(column) for column in batch.columns} == {batch.records}


def read_workbook_xml(given: bytes) -> None:
    """Rewrite the XML of workbooks, as styles, as a sheet of .xlsx, and as the content of an .ods."""
    writers = list(package.writers_of(STYLES + given, b'date1904="1"'))
    package.change_sheet(writers, given, is_new=True)
    package.change_content(given)


def read_wkb(given: bytes) -> None:
    """Find the place of a geometry."""
    with suppress(ValueError):
        found = locate(given)
        assert found is None or all(repr(float(each)) == each for each in found)


def _compile(form: str, text: bytes, resource: Resource) -> int:
    """Return how many records a text has, once they are read, checked and made a table."""
    compiler = Compiler(resource, file="file", companies=None)
    for batch in read_batches(form, text, resource):
        assert 0 <= batch.done <= batch.total
        compiler.add(batch)
    compiler.close()
    lines = 1 + count_line_breaks(text, 0, len(text))
    for fault in (*compiler.errors, *compiler.warnings):
        assert fault.line is not None
        assert 1 <= fault.line <= lines
        assert str(fault).isprintable()
    table = compiler.build()
    assert len(table) == compiler.records - compiler.skipped - compiler.repeated
    for row in range(len(table)):
        json.loads(bytes(table.row(row)))
    return compiler.records


def _count(text: bytes, name: str) -> int | None:
    """Return how many records the standard library finds in JSON, None where it is none, or of another shape."""
    try:
        document = _decode(text)
        json.dumps(document, ensure_ascii=False).encode()  # no half surrogates
    except (ValueError, RecursionError):
        return None
    records = document.get(name) if isinstance(document, dict) else document
    return len(records) if isinstance(records, list) else None


def _decode(text: bytes) -> Any:
    encoding = "utf-16" if text.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return json.loads(text.decode(encoding), parse_constant=_refuse, parse_int=str, parse_float=str)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def unpack(compression: str, given: bytes) -> None:
    """Unpack a compressed file."""
    with suppress(FileError):
        assert len(plain_text(given, compression)) <= max(MAX_SIZE, MAX_RATIO * len(given))


def read_for_proposal(given: bytes) -> None:
    """Propose a mapping for CSV and for JSON lines: once it is filled in, it is one, and it is safe to print."""
    for form in ("csv", "jsonl"):
        proposed = []
        with suppress(FileError):
            file = open_file(plain_text(given, None)[:], FORMATS[form], finds=recognizes)
            proposed.append(propose_mapping(file, "file"))
        for text in proposed:
            assert all(line.isprintable() for line in text.split("\n"))
            filled_in = text.replace('store_id = { constant = "" }', 'store_id = "x"')
            filled_in = filled_in.replace('{ constant = "" }', '{ constant = "x" }')
            parse_mapping(filled_in.replace(' = ""', " = false").encode())  # words of flags


def read_zip(given: bytes) -> None:
    """Unpack all files of a zip archive."""
    expanded = 0
    with suppress(FileError):
        archive = ZipArchive(given)
        for name in archive.names:
            assert name not in ("", ".", "..")
            assert not set(name) & set("/\\\0")
            expanded += len(archive.read(name))
    assert expanded <= max(MAX_SIZE, MAX_RATIO * len(given))


def read_mapping(given: bytes) -> None:
    """Read a mapping, and what it makes of a record."""
    try:
        mapping = parse_mapping(given)
    except FileError as error:
        assert error.why.isprintable()  # noqa: PT017
        return
    with suppress(FileError):
        file = open_file(b'{"x": "31.05.2024", "a": [{"b": "k.A."}]}\n', FORMATS["jsonl"])
        for batch in MappedRecords(file, mapping.stores, STORES).batches():
            assert {len(cells) for cells in batch.columns.values()} == {1}


def read_no_value(given: bytes) -> None:
    """Read lines as a cell and a text that means "no value" in turn; all cells have no value if each is such a text."""
    lines = given.decode("utf-8", "replace").split("\n")
    texts = [line.strip(" ").casefold() for line in lines]
    assert len(without(lines[::2], set(texts[1::2]))) == len(lines[::2])
    assert without(lines, set(texts)) == [None] * len(lines)


def _hours(given: bytes) -> Sequence[Cell]:
    """Return a text, or cells of days between NUL, as opening hours are served, or `Invalid`."""
    cells = given.decode("utf-8", "replace").split("\0")
    source = cells[0] if len(cells) == 1 else tuple([*cells, *[""] * len(DAYS)][: len(DAYS)])
    reader = HoursReader(holidays=(date(2026, 12, 25),), as_of=date(2026, 11, 26), is_null_if_invalid=False)
    return reader.column([source], [None], ["UTC"], [None])


def read_hours(given: bytes) -> None:
    """Read a text, or cells of days, as opening hours, which stay the same when what is served is read."""
    for cell in _hours(given):
        if isinstance(cell, str):
            assert list(_hours(cell.encode())) == [cell]


def _place_list(given: bytes) -> PlaceList | None:
    """Return the places of a list, None if it is refused."""
    with TemporaryDirectory() as folder, suppress(FileError):
        (file := Path(folder) / "places.csv").write_bytes(given)
        return read_places(str(file), Spools(file.parent))
    return None


def read_place_list(given: bytes) -> None:
    """Read an operator's list of places: each has a name and a point, and errors are in the order of their lines."""
    if (found := _place_list(given)) is not None:
        lines = [each.line or 0 for each in found.errors]
        assert lines == sorted(lines)
        assert all(address.city if is_city else address.postal_code for is_city, address in found.places)
        assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1)
        assert len(found.vectors) == len(found.places)


def read_manifest(given: bytes) -> None:
    """Read a manifest."""
    with suppress(FileError):
        assert all("/" not in name for name in parse_manifest(given).files)


def read_baked_file(given: bytes) -> None:
    """Map a file that may be anything."""
    with suppress(DamagedFile):
        expected_length(given)
    with TemporaryDirectory() as folder, suppress(DamagedFile):
        file = Path(folder) / "any.baked"
        file.write_bytes(given)
        read_baked(file)


def read_sealed_header(given: bytes) -> None:
    """Map a file of sound arrays behind any header, with a checksum that is right."""
    start = 8 + int.from_bytes(baked()[:8], "little")
    header = len(given).to_bytes(8, "little") + given
    read_baked_file(header + baked()[start:-4] + zlib.crc32(header).to_bytes(4, "little"))


def read_values(given: bytes) -> None:
    """Read values of each kind, a line each, and compare what orders them with the oracle."""
    texts = [line for line in given.decode("utf-8", "replace").split("\n") if line.strip()]
    assert [WORDS.normalize(text) for text in texts] == [oracle.words(text) for text in texts]
    assert [POSTAL.normalize(text) for text in texts] == [oracle.postal(text) for text in texts]
    for one, other in pairwise(texts):
        _compare(one, other)
    for moment in map(parse_instant, texts):
        assert moment is None or parse_instant(format_instant(moment)) == moment


def _compare(one: str, other: str) -> None:
    ranks, numbers = (number_key(one), number_key(other)), (oracle.number(one), oracle.number(other))
    assert (ranks[0] == ranks[1]) is (numbers[0] == numbers[1])
    assert (ranks[0] < ranks[1]) is (numbers[0] < numbers[1])


_PARSER = QueryParser(STORES)


def read_point(given: bytes) -> None:
    """Take coordinates from a text: each is a decimal."""
    text = given.decode("utf-8", "replace")
    propose_notation(text, [text])
    for order, name in product(POINTS.values(), COORDINATES):
        found = coordinate(text, order, name)
        assert found is None or NUMBER_PATTERN.fullmatch(found)


def read_coordinates(given: bytes) -> None:
    """Read a text as a point, a box and a radius; what is read is written as it can be read again."""
    text = given.decode("utf-8", "replace")
    with suppress(ValueError):
        point = parse_point(text)
        assert parse_point(",".join(map(repr, point))) == point
    with suppress(ValueError):
        box = parse_box(text)
        assert parse_box(",".join(map(repr, box))) == box
        assert box.south <= box.north
    with suppress(UnprocessableContent):
        radius = _PARSER.parse([("near", "0,0"), ("radius", text)], strict=True).radius
        assert not radius or 0 < radius < math.inf


def read_search(given: bytes) -> None:
    """Split a text into words as it is indexed and as it is searched for; both equal a naive reader."""
    text = given.decode("utf-8", "replace")
    assert {word for line in words_of_lines(text) for word in line} == indexed([text])
    try:
        terms = parse_terms(text)
    except ValueError:
        assert len(text) > MAX_CHARACTERS or len(tokens(text)) > MAX_WORDS
        return
    assert list(terms) == sorted(set(terms))
    assert bool(terms) == bool(tokens(text))
    assert all(term.word for term in terms)
