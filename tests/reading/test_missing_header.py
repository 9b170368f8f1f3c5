"""A table without a header is refused as that; a header in unusual words is a header."""

from pathlib import Path

import pytest

from service.dataset import ReadOptions
from service.loading.dataset import load
from service.reading.diagnostics import FileError
from service.reading.formats.csv_file import open_csv
from service.reading.formats.missing_header import find_data
from service.reading.proposal.column_choice import recognizes
from tests.loading.data_files import load_stores, refusal

INSERT = "insert a header line above it, with the names of the columns, or declare columns in mapping.toml"

WITHOUT_HEADER = [
    ("1,Acme,1 Elm St,Ada,CA\n2,Acme,22 Oak Ave,Bo,CA\n", "1 Elm St"),
    (
        "101;Blumen Beet;Torstr. 12;10119;Berlin;52,5292;13,4011\n102;Blumen Beet;Markt 7;22767;Bonn;53,5503;9,9416",
        "10119",
    ),
    ("s1,Acme,Elm St,Ada,CA,43.6532,-79.3832\n", "43.6532"),
    ("7|Café Nord|31.05.2024|ja\n8|Café Süd|01.06.2024|nein\n", "31.05.2024"),
    ("Ada,x@shop.example,open\n\nBo,bo@shop.example,open\nBo,,open\n", "x@shop.example"),
    (
        "1,Berlin,Berlin,10119\n2,Bonn,NRW,53111\n",  # repeated, so they cannot be names
        "10119",
    ),
]


@pytest.mark.parametrize(("text", "value"), WITHOUT_HEADER, ids=range(len(WITHOUT_HEADER)))
def test_a_first_line_with_data_is_refused_as_that(text: str, value: str, tmp_path: Path) -> None:
    why = f"the first line looks like data ('{value}'): {INSERT}"
    refused = refusal(load_stores(tmp_path, text.encode()))
    assert (refused.why, refused.line) == (why, 1)
    with pytest.raises(FileError) as error:
        open_csv(f"sep={';' if ';' in text else '|' if '|' in text else ','}\n\n{text}".encode(), finds=recognizes)
    assert (error.value.why, error.value.line) == (why, 3)


def test_a_mapping_of_names_that_the_file_does_not_have_is_no_reason_for_another_error(tmp_path: Path) -> None:
    (tmp_path / "shops.csv").write_text(WITHOUT_HEADER[0][0], "utf-8")
    (tmp_path / "mapping.toml").write_text('[stores.fields]\ncity = "Town"\n', "utf-8")
    loaded = load(tmp_path / "shops.csv", options=ReadOptions(mapping=str(tmp_path / "mapping.toml")))
    assert {each.why.partition(" (")[0] for each in loaded.report.errors} == {"the first line looks like data"}


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
