"""A file that is not UTF-8 is refused with a description of its encoding and what to do."""

import codecs
import gzip
from pathlib import Path

import pytest

from service.reading.diagnostics import Diagnostic
from tests.loading.data_files import load_stores, packed, refusal

HEADER = "store_id,company_id,address_1,city,country\r\n"
TEXT = f"{HEADER}s1,c1,1 Elm St,Ada,CA\r\ns2,c1,1 Rue É,Montréal,CA\r\n"
OR_SAVE_IT = "or save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"


def refused(folder: Path, content: bytes, name: str = "stores.csv") -> Diagnostic:
    error = refusal(load_stores(folder, content, name))
    assert "not UTF-8: " in error.why
    return error


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_a_single_byte_encoding_is_described_as_the_usual_ones(tmp_path: Path, encoding: str, packing: str) -> None:
    name = f"stores.csv{packing}"
    error = refused(tmp_path, packed(TEXT.encode(encoding), name), name)
    assert error.line == 3
    assert "byte 0xc9" in error.why
    assert error.why.endswith(
        f"it looks like Windows-1252 or Latin-1: declare it (--encoding windows-1252), {OR_SAVE_IT}"
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [TEXT, HEADER], ids=["any text", "ASCII alone"])
def test_utf_16_without_a_byte_order_mark_is_refused_with_its_name(tmp_path: Path, encoding: str, text: str) -> None:
    error = refused(tmp_path, text.encode(encoding))
    assert error.line == 1
    assert error.why.endswith(
        f"it looks like UTF-16 without a byte order mark: declare it (--encoding {encoding}), {OR_SAVE_IT}"
    )


@pytest.mark.parametrize("mark", [codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE])
def test_utf_32_is_refused_with_its_name(tmp_path: Path, mark: bytes) -> None:
    encoding = "utf-32-le" if mark == codecs.BOM_UTF32_LE else "utf-32-be"
    assert "UTF-32: declare it (--encoding utf-32)" in refused(tmp_path, mark + TEXT.encode(encoding)).why


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (gzip.compress(TEXT.encode()), "it is compressed with gzip: its name must end in .gz"),
        (packed(TEXT.encode(), ".zst"), "it is compressed with Zstandard: its name must end in .zst"),
        (b"PK\x03\x04\x14\x00\x06\x00\xff", "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it"),
    ],
    ids=["gzip", "Zstandard", "a workbook"],
)
def test_other_kinds_of_file_are_detected(tmp_path: Path, content: bytes, reported: str) -> None:
    assert refused(tmp_path, content).why.endswith(reported)


def test_a_nul_in_a_cell_affects_only_its_record(tmp_path: Path) -> None:
    (error,) = load_stores(tmp_path, TEXT.replace("Ada", "A\0da").encode()).report.errors
    assert (error.code, error.line, error.field) == ("text", 2, "city")
