"""A file that is not UTF-8 is refused with what it seems to be and what to do."""

import gzip
from pathlib import Path

import pytest

from service.loading.diagnostics import Diagnostic
from tests.loading.data_files import load_stores, packed, refusal

HEADER = "store_id,company_id,address_1,city,country\r\n"
TEXT = f"{HEADER}s1,c1,1 Elm St,Ada,CA\r\ns2,c1,1 Rue É,Montréal,CA\r\n"
WHAT_TO_DO = "save it as UTF-8 (in a spreadsheet program: CSV UTF-8)"


def refused(folder: Path, content: bytes, name: str = "stores.csv") -> Diagnostic:
    fault = refusal(load_stores(folder, content, name))
    assert "not UTF-8: " in fault.why
    return fault


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@pytest.mark.parametrize("packing", ["", ".gz"])
def test_a_text_of_single_bytes_is_taken_for_one_of_the_usual_ones(tmp_path: Path, encoding: str, packing: str) -> None:
    name = f"stores.csv{packing}"
    fault = refused(tmp_path, packed(TEXT.encode(encoding), name), name)
    assert fault.line == 3
    assert "byte 0xc9" in fault.why
    assert fault.why.endswith(f"it seems to be Windows-1252 or Latin-1: {WHAT_TO_DO}")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [TEXT, HEADER], ids=["any text", "ASCII alone"])
def test_utf_16_is_known_with_its_mark_and_without(tmp_path: Path, encoding: str, text: str) -> None:
    fault = refused(tmp_path, text.encode(encoding))
    assert fault.line == 1
    assert fault.why.endswith(f"it seems to be UTF-16: {WHAT_TO_DO}")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (gzip.compress(TEXT.encode()), "it is compressed with gzip: its name must end in .gz"),
        (packed(TEXT.encode(), ".zst"), "it is compressed with Zstandard: its name must end in .zst"),
        (b"PK\x03\x04\x14\x00\x06\x00\xff", "it is a workbook or a ZIP archive: save it as CSV UTF-8, or unpack it"),
    ],
    ids=["gzip", "Zstandard", "a workbook"],
)
def test_other_files_under_the_name_of_a_text_are_known(tmp_path: Path, content: bytes, told: str) -> None:
    assert refused(tmp_path, content).why.endswith(told)


def test_a_nul_in_a_cell_costs_its_record_alone(tmp_path: Path) -> None:
    (fault,) = load_stores(tmp_path, TEXT.replace("Ada", "A\0da").encode()).report.errors
    assert (fault.code, fault.line, fault.field) == ("text", 2, "city")
