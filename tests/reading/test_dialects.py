"""A spreadsheet's dialect of CSV gives the same tables as the strict file, or is refused with what to declare."""

import csv
import io
from collections.abc import Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from service.model.records import STORES
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import DELIMITERS, is_delimiter, open_csv
from service.reading.formats.table_file import Finds, TableOptions, finds_nothing
from service.reading.mapping.declaration import NO_MAPPING
from service.reading.mapping.mapped_records import MappedRecords, has_columns
from service.reading.text import plain_text
from tests.loading.data_files import (
    COMPANIES_FILE,
    REQUIRED as NAMES,
    STORE_FIELDS,
    as_csv,
    as_lines,
    dataset,
    load_files,
    load_stores,
    rows,
    store,
)

STORES_OF_ALL_KINDS = [
    store("s1", name='A "quoted",;\t|\r\nbroken name', latitude="43.70", longitude="-79.40", created_at="2024-05-31"),
    store("s2", address_2="\ttab", province="ON", postal_code="M5V 2T6", is_open=False),
    store("é", city="東京", phone_number="+1 (555) 0100", updated_at="2024-05-31 10:00"),
]
HEADER = ",".join(NAMES)
ROW = "s1,c1,1 Elm St,Ada,CA"
OTHER = "STORE-ID;company_id;address 1;city;country"
finds_stores = partial(has_columns, mapping=NO_MAPPING, resource=STORES)


def written(delimiter: str, header: Sequence[str] = STORE_FIELDS, *, quoting: int = csv.QUOTE_MINIMAL) -> str:
    """Return the stores as a spreadsheet program writes them."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n", quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(header)
    writer.writerows([record.get(field, "") for field in STORE_FIELDS] for record in STORES_OF_ALL_KINDS)
    return text.getvalue()


HUMAN = [field.replace("_", " ").title() for field in STORE_FIELDS]
DIALECTS = {
    "semicolons": written(";").encode(),
    "all quoted": written(";", quoting=csv.QUOTE_ALL).encode(),
    "sep": f"sep=;\r\n{written(';')}".encode(),
    "quoted sep": f'"sep=\t"\n{written(chr(9))}'.encode(),
    "another separator": f"SEP=~\r\n{written('~')}".encode(),
    "UTF-16, big-endian": b"\xfe\xff" + written(";").encode("utf-16-be"),
    "UTF-16 and tabs, as Excel's Unicode text": written("\t").encode("utf-16"),
    "names with spaces": written(",", HUMAN).encode(),
    "names with hyphens": written(";", [field.replace("_", "-").upper() for field in STORE_FIELDS]).encode(),
    "names in camel case": written(",", [name.replace(" ", "") for name in HUMAN]).encode(),
    "empty columns": written(",", [*STORE_FIELDS, "", "", ""]).encode(),
    "empty rows": written(",").replace("\r\ns2", "\r\n,,,,,\r\n,,,,,,,,,,,,,,,,,,,,,,,\r\n\r\ns2").encode()
    + b",,,\r\n",
    "empty rows before the header": b";;;;;\r\n\r\n" + written(";").encode(),
    "rows of quoted empty cells before the header": b'"";""\r\n\r\n""\r\n' + written(";").encode(),
}


@pytest.mark.parametrize(("dialect", "extension"), list(zip(DIALECTS, cycle(["csv", "tsv", "txt", "tab"]))))
def test_a_dialect_gives_the_tables_of_its_strict_twin(tmp_path: Path, dialect: str, extension: str) -> None:
    strict = load_stores(tmp_path / "strict", as_csv(STORES_OF_ALL_KINDS, end="\r\n"))
    loaded = load_stores(tmp_path / "dialect", DIALECTS[dialect], f"stores.{extension}")
    assert loaded.report == strict.report
    assert loaded.report.errors == loaded.report.warnings == []
    assert rows(loaded) == rows(strict)
    assert dataset(loaded).version == dataset(strict).version


@pytest.mark.parametrize(
    ("text", "assumed"),
    [
        (HEADER, []),
        (HEADER.replace(",", ";"), ["semicolons"]),
        (HEADER.replace(",", "\t"), ["tabs"]),
        (HEADER.replace(",", "|"), ["bars"]),
        (f"sep=;\n{HEADER.replace(',', ';')}", []),
        (f"{HEADER.replace('store_id', 'Store ID')}\n", ['columns "Store ID" → store_id']),
        (OTHER, ["semicolons", 'columns "STORE-ID" → store_id, "address 1" → address_1']),
    ],
)
def test_what_is_assumed_is_reported(text: str, assumed: list[str]) -> None:
    assert MappedRecords(open_csv(text.encode(), finds=finds_stores), NO_MAPPING, STORES).assumed == assumed


@pytest.mark.parametrize(
    ("header", "delimiter"),
    [
        *(("a,b", ","), ("a;b", ";"), ('"a,x";"b,y"', ";"), ('a;"b,c"', ";"), ('"a;b",c', ",")),
        *(('"a\n;b"|c', "|"), ('"a""|"";",b', ","), ('5" x;6" y', ";"), ("a", ","), ('"a;b"', ",")),
    ],
)
def test_a_delimiter_is_found_outside_quotes(header: str, delimiter: str) -> None:
    expected = next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter, strict=True))
    assert open_csv(f"{header}\n1{delimiter}2\n".encode()).names == expected


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (f"{HEADER},a;b", [*NAMES, "a;b"]),
        (f"{HEADER},a|b;c\td", [*NAMES, "a|b;c\td"]),
        (f"{HEADER},a,b".replace(",", ";", 5), [*NAMES, "a,b"]),
        ("Store ID\tcompany,id\tcompany id\taddress-1\tcity\tcountry", None),
        (f'x;"a,{HEADER},b', ['x;"a', *NAMES, "b"]),  # a strict file with semicolons and quotes within its cells
    ],
)
def test_the_delimiter_with_which_the_columns_are_found_is_taken(header: str, names: list[str] | None) -> None:
    assert open_csv(header.encode(), finds=finds_stores).names == (names or header.split("\t"))


@pytest.mark.parametrize(
    ("header", "declare"),
    [
        ("a,b;c", 'commas and semicolons, and which of them delimit columns is unclear: declare delimiter = "," or'),
        ("\n;;;\nstore_id;company_id;x,y", 'declare delimiter = "," or delimiter = ";" in mapping.toml'),
        ("a|b\tc", r'tabs and bars, and which of them delimit columns is unclear: declare delimiter = "\t" or'),
    ],
)
@pytest.mark.parametrize("finds", [finds_nothing, finds_stores])
def test_an_unclear_delimiter_is_refused_with_what_to_declare(header: str, declare: str, finds: Finds) -> None:
    with pytest.raises(FileError) as refused:
        open_csv(header.encode(), finds=finds)
    assert declare in refused.value.why
    assert refused.value.line == header.count("\n") + 1


def test_a_declared_delimiter_wins() -> None:
    assert open_csv(b"sep=,\na,b;c", options=TableOptions(delimiter=";")).names == ["a,b", "c"]
    assert open_csv(b"a,b;c", options=TableOptions(delimiter=",")).names == ["a", "b;c"]
    assert open_csv("a¦b".encode(), options=TableOptions(delimiter="¦")).names == ["a", "b"]
    assert open_csv(b"a;b", options=TableOptions(delimiter=";")).assumed == []


def test_what_cannot_be_a_delimiter_is_refused() -> None:
    for delimiter in ("", ";;", '"', "\n", "\r", "\0", "a", "0"):
        assert not is_delimiter(delimiter)
        with pytest.raises(FileError, match="cannot be a delimiter"):
            open_csv(b"a,b", options=TableOptions(delimiter=delimiter))
    for text in (b"sep=a\nx,y", b"sep=1\n"):
        with pytest.raises(FileError, match="cannot be a delimiter") as refused:
            open_csv(text)
        assert refused.value.line == 1


def test_errors_have_their_lines_after_a_separator_line_and_blank_rows(tmp_path: Path) -> None:
    lines = ["sep=;", ";;;;", f"{HEADER};", ";;;;;;", ROW, ";;", ";c1;a;b;c", "s3;c1;a;b", "s4;c1;a;b;c;;x", ""]
    report = load_stores(tmp_path, "\r\n".join(lines).replace(",", ";").encode()).report
    assert [(error.code, error.line, error.record, error.field) for error in report.errors] == [
        ("missing", 7, 2, "store_id"),
        ("cells", 8, 3, None),
        ("cells", 9, 4, None),
    ]
    assert report.totals.stores == 1


def test_a_truncated_last_record_is_refused_in_every_dialect(tmp_path: Path) -> None:
    for text in (f"{HEADER}\n{ROW[:9]}", f"{HEADER},,\n{ROW}", f"sep=;\n{HEADER}\n{ROW[:9]}".replace(",", ";")):
        assert "truncated" in load_stores(tmp_path, text.encode()).report.errors[0].why


@pytest.mark.parametrize("read", ["csv", "json", "jsonl", "ndjson"])
def test_files_in_formats_that_were_always_ignored_are_so_beside_one_that_never_was(tmp_path: Path, read: str) -> None:
    ignored = ["geojson", "ndgeojson", "parquet", "geoparquet.zst", "tsv", "tab.gz", "txt", "xlsx"]
    files = {"companies.csv": COMPANIES_FILE, "companies.txt": b"notes"}
    files |= {f"stores.{ending}": b"no data" for ending in ignored}
    stores = as_csv([store()], NAMES) if read == "csv" else as_lines([[store()] if read == "json" else store()])
    assert load_files(tmp_path, files | {f"stores.{read}": stores}).report.errors == []


def test_a_text_beside_a_file_in_another_format_is_ignored_but_not_beside_a_workbook(tmp_path: Path) -> None:
    files = {"companies.csv": COMPANIES_FILE, "stores.tsv": b""}
    for others, why in ((["geojson"], "JSON"), ([], "header"), (["xlsx"], "header"), (["xlsx", "tab"], "several")):
        loaded = load_files(tmp_path, files | {f"stores.{other}": b"[]" for other in others})
        assert why in loaded.report.errors[0].why


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
TABLES = st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=4)


@given(
    table=TABLES,
    dialect=st.fixed_dictionaries(
        {
            "delimiter": st.sampled_from(list(DELIMITERS)),
            "lineterminator": st.sampled_from(["\n", "\r\n", "\r"]),
            "quoting": st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
        }
    ),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030"]),
    said=st.booleans(),
)
def test_a_table_is_as_written(table: list[list[str]], dialect: dict[str, Any], encoding: str, *, said: bool) -> None:
    if any(each in cell for each in "\r\n" for row in table for cell in row):
        dialect["quoting"] = csv.QUOTE_ALL  # some Pythons quote only the line ending that they write
    text = io.StringIO(newline="")
    writer = csv.writer(text, **dialect)
    writer.writerow(["a", "b", "c,;|"])
    writer.writerows(table)
    first_line = f"sep={dialect['delimiter']}{dialect['lineterminator']}" if said else ""
    stored = (first_line + text.getvalue()).encode(encoding)
    file = open_csv(plain_text(stored, None, encoding), finds=lambda names: list(names) == ["a", "b", "c,;|"])
    batches = list(file.batches(["c,;|", "a"]))
    kept = [row for row in table if any(row)]
    assert [cell for batch in batches for cell in batch.columns["a"]] == [row[0] for row in kept]
    assert [cell for batch in batches for cell in batch.columns["c,;|"]] == [row[2] for row in kept]
    assert [number for batch in batches for number in batch.numbers] == list(range(1, len(kept) + 1))
    assert [batch.unreadable for batch in batches] == [[]] * len(batches)


@given(st.text('ab,;|\t"\n =', max_size=30))
def test_any_header_is_decided_or_refused_with_its_line(text: str) -> None:
    for finds in (finds_nothing, finds_stores):
        try:
            file = open_csv(text.encode(), finds=finds)
        except FileError as error:
            assert error.line is None or 1 <= error.line <= 1 + text.count("\n")  # noqa: PT017
        else:
            assert file.names[-1]
