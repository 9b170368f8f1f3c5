"""CSV that is none: a malformed record is an invalid record, and a table without a header is refused as that."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from service.dataset import InvalidRecords, ReadOptions, Rejected
from service.loading.dataset import accept, load
from service.reading.batch import BATCH_SIZE
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import RowStream, open_csv
from service.reading.formats.table_file import find_data
from service.reading.proposal.table_options import recognizes
from tests.loading.data_files import load_stores, refusal, rows

HEADER = "store_id,company_id,address_1,city,country\n"
GOOD = ("s{},c1,1 Elm St,Ada,CA", 's{},c1,"1 Elm St",Ada,CA', 's{},c1,"1 ""Elm""\nSt, 2",Ada,CA', "\n\ns{},c1,x,y,z")
BAD = ('s{},c1,"1 Elm" St,Ada,CA', 's{},c1,"a"b"c",Ada,CA', 's{},"c1"x', "s{},c1,Ada")


def ids(text: str) -> tuple[list[str], list[int], list[int]]:
    """Return the first cells of the records of a CSV text, their lines, and the lines of the invalid records."""
    batches = list(open_csv(text.encode()).batches(["store_id"]))
    numbers = [number for batch in batches for number in (*batch.numbers, *(each.record for each in batch.unreadable))]
    assert sorted(numbers) == list(range(1, 1 + len(numbers)))
    return (
        [str(cell) for batch in batches for cell in batch.columns["store_id"]],
        [line or 0 for batch in batches for line in batch.lines()],
        [each.line or 0 for batch in batches for each in batch.unreadable],
    )


@given(st.lists(st.sampled_from([*GOOD, *BAD]), max_size=30), st.sampled_from(["\n", "\r\n", "\r"]))
def test_the_records_around_malformed_ones_are_read_with_their_lines(forms: list[str], end: str) -> None:
    text, line, good, lines, bad = HEADER, 2, [], [], []
    for number, form in enumerate(forms):
        first = line + len(form) - len(form.lstrip("\n"))
        if form in GOOD:
            good.append(f"s{number}")
            lines.append(first)
        else:
            bad.append(first)
        text += form.format(number) + "\n"
        line += 1 + form.count("\n")
    assert ids(text.replace("\n", end)) == (good, lines, bad)


def parsed_again_from_each_line(lines: list[str]) -> Iterator[tuple[int, list[str], str]]:
    """Yield the line, the cells and the error of each row; one that is malformed ends with its first line."""
    line = 0
    while line < len(lines):
        reader = csv.reader(lines[line:], strict=True)
        try:
            yield line + 1, next(reader), ""
            line += reader.line_num
        except csv.Error as error:
            line += 1
            yield line, [], str(error)


@settings(max_examples=100)
@given(
    forms=st.lists(st.sampled_from(["a", 'x","', '"', '"y', '"",b', ",", '"""', 'é"', 'z",'])),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    ended=st.booleans(),
    size=st.sampled_from([1, 2, 3, 100]),
)
def test_lines_within_a_quote_are_read_as_if_each_was_parsed_to_the_end(
    forms: list[str], end: str, *, ended: bool, size: int
) -> None:
    text = end.join(forms) + end * ended
    stream = RowStream(text.encode(), ",")
    found: list[tuple[int, Sequence[str], str]] = []
    while (read := stream.read(size)).rows:
        assert len(read.rows) <= size
        why = [read.malformed.get(index, "") for index in range(len(read.rows))]
        found += zip(read.lines, read.rows, (each.partition("CSV: ")[2].partition(";")[0] for each in why), strict=True)
    expected = list(parsed_again_from_each_line(list(io.StringIO(text, newline=""))))
    assert found == expected
    assert stream.unclosed == max((at for at, _, error in expected if error.startswith("unexpected end")), default=0)


def test_records_are_read_in_full_batches_however_many_are_malformed_and_an_open_quote_costs_one() -> None:
    text = HEADER + ("s1,c1,a,b,c\n" + BAD[0] + "\n") * 2_000
    sizes = [len(batch.numbers) + len(batch.unreadable) for batch in open_csv(text.encode()).batches(["city"])]
    assert sizes == [BATCH_SIZE] * 3 + [4_000 - 3 * BATCH_SIZE]
    good, lines, bad = ids(HEADER + "s1,c1,a,b,c\n" + 's2,c1,"Joe,b,c\n' + "s3,c1,a,b,c\n" * 3_000)
    assert (len(good), lines[:2], lines[-1], bad) == (3_001, [2, 4], 3_003, [3])


def test_a_malformed_record_is_reported_with_its_line_and_what_to_do(tmp_path: Path) -> None:
    text = HEADER + "s1,c1,1 Elm St,Ada,CA\n\n" + 's2,c1,"1 Elm" St,Ada,CA\n' + "s3,c1,1 Elm St,Ada,CA,?\ns4,c1,a,b,c\n"
    loaded = load_stores(tmp_path, text.encode())
    assert len(rows(loaded)) == 2
    assert (loaded.report.totals.skipped, loaded.report.totals.stores) == (2, 2)
    assert accept(loaded, InvalidRecords.SKIP) is loaded.dataset
    with pytest.raises(Rejected, match=r"stores\.csv:4: .*\(and 1 more\)"):
        accept(loaded, InvalidRecords.REFUSE)
    found = [(each.code, each.line, each.record) for each in loaded.report.errors]
    assert found == [("cells", 4, 2), ("cells", 5, 3)]
    assert str(loaded.report.errors[0]) == (
        "stores.csv:4: the record that begins here is not valid CSV: ',' expected after '\"'; "
        'if quotes are ordinary characters, declare quote = "" in mapping.toml'
    )


INSERT = "insert a header line above it, with the names of the columns, or declare columns in mapping.toml"

WITHOUT_HEADER = [
    ("1,Acme,1 Elm St,Ada,CA\n2,Acme,22 Oak Ave,Bo,CA\n", "1 Elm St"),
    ("101;Beet;Torstr. 12;10119;Berlin;52,5292;13,4011\n102;Beet;Markt 7;22767;Bonn;53,5503;9,9416", "10119"),
    ("s1,Acme,Elm St,Ada,CA,43.6532,-79.3832\n", "43.6532"),
    ("7|Café Nord|31.05.2024|ja\n8|Café Süd|01.06.2024|nein\n", "31.05.2024"),
    ("Ada,x@shop.example,open\n\nBo,bo@shop.example,open\nBo,,open\n", "x@shop.example"),
    ("1,Berlin,Berlin,10119\n2,Bonn,NRW,53111\n", "10119"),  # repeated, so they cannot be names
]


@pytest.mark.parametrize(("text", "value"), WITHOUT_HEADER, ids=range(len(WITHOUT_HEADER)))
def test_a_first_line_with_data_is_refused_as_that(text: str, value: str, tmp_path: Path) -> None:
    why = f"the first line looks like data ('{value}'): {INSERT}"
    refused = refusal(load_stores(tmp_path, text.encode()))
    assert (refused.why, refused.line) == (why, 1)
    (tmp_path / "mapping.toml").write_text('[stores.fields]\ncity = "Town"\n', "utf-8")
    loaded = load(tmp_path / "stores.csv", options=ReadOptions(mapping=str(tmp_path / "mapping.toml")))
    assert {each.why for each in loaded.report.errors} == {why}  # and not that of a column that is missing
    with pytest.raises(FileError) as error:
        open_csv(f"sep={';' if ';' in text else '|' if '|' in text else ','}\n\n{text}".encode(), finds=recognizes)
    assert (error.value.why, error.value.line) == (why, 3)


@pytest.mark.parametrize(
    "text",
    [
        "Kod,Sieć,Ulica,Miasto,Otwarte\n1,Acme,Rynek 1,Łódź,tak\n2,Acme,Rynek 2,Ustka,nie\n",
        "店舗,住所,緯度,経度\n1,東京,35.6895,139.6917\n2,大阪,34.6937,135.5023\n",
        "Filiale,2019,2020,2021\nNord,2020,2019,10\nSüd,12,3,2021\n",  # one column per year
        "Filiale,01.01.2024,01.02.2024\nNord,120,31\n",
        "0,1,2,3,4\n1,Acme,Elm St,5,4\n2,Acme,Oak Ave,4,5\n",  # columns without names, as programs number them
        "Filiale,Kaffee,WLAN,Kuchen\nNord,Kaffee,,Kuchen\nSüd,,WLAN,Kuchen\n",  # check marks
        "Kod,Ulica,Miasto\n1,Rynek,Ustka\nKod,Ulica,Miasto\n2,Nowa,Ustka\n",  # a header in the midst
        "Kiosk,Typ\nKiosk,Laden\n",
        "Kod,Ulica\n",
        "open,x\nopen,x\nno,y\n",  # names of fields by other words
        "Estrazione del 2024-05-31\n",
        'a\n1,43.6532,"',
    ],
)
def test_a_header_in_unusual_words_is_no_data(text: str, tmp_path: Path) -> None:
    assert "looks like data" not in refusal(load_stores(tmp_path, text.encode())).why
    assert open_csv(text.encode(), finds=recognizes).names


def test_few_of_very_many_columns_are_compared() -> None:
    assert find_data(["", *["x"] * 200, "43.6532"], [["", *["x"] * 200, "43.6532"]]) is None
