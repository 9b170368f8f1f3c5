"""`store-directory mapping`."""

from pathlib import Path

import orjson
import pytest

from tests.directory import company, store, write_directory
from tests.program import run, run_here, usage
from tests.zip_archives import zipped

HEADER = "Filial-Nr;Straße;Ort;Land;Breite;Länge\n"
ROWS = "1;Am Markt 2;Köln;DE;50,9375;6,9603\n2;Große Gasse 3;Ulm;DE;48,3984;9,9916\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "filialen.csv"
    file.write_text(HEADER + ROWS, "utf-8")
    return file


def proposal(path: Path, *options: str) -> str:
    ended = run_here("mapping", path, *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def failure(path: Path, *options: str) -> str:
    ended = run_here("mapping", path, *options)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: ")
    return ended.stderr.removeprefix("Error: ").rstrip("\n")


@pytest.mark.process
def test_it_is_utf_8_whatever_the_terminal_is(file: Path) -> None:
    ended = run("mapping", file, PYTHONIOENCODING="latin-1")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert 'address_1 = "Straße"\n' in ended.stdout


def test_the_encoding_is_declared_in_the_mapping(file: Path, tmp_path: Path) -> None:
    file.write_bytes((HEADER + ROWS).encode("cp1252"))
    assert "declare it (--encoding windows-1252)" in failure(file)
    text = proposal(file, "--encoding", "windows-1252")
    assert '\n[stores]\nencoding = "windows-1252"\ndecimal = ","\n' in text
    (tmp_path / "mapping.toml").write_text(text, "utf-8")
    assert run_here("check", file, "--mapping", tmp_path / "mapping.toml").returncode == 0


def test_utf_16_and_geojson_are_known_by_content_and_json_has_no_encoding(file: Path, tmp_path: Path) -> None:
    file.write_bytes((HEADER + ROWS).encode("utf-16"))
    text = proposal(file)
    assert "\n# Assumed about the file: UTF-16; semicolons.\n" in text
    assert "encoding" not in text
    shop = {"type": "Feature", "properties": {"Ort": "Ulm"}, "geometry": {"type": "Point", "coordinates": [9.99, 48.4]}}
    features = tmp_path / "export.json"
    features.write_bytes(orjson.dumps({"type": "FeatureCollection", "features": [shop]}))
    text = proposal(features, "--encoding", "windows-1252")
    assert '\ncity = "Ort"\n' in text
    assert '\nlatitude = "geometry.latitude"\n' in text
    assert "encoding" not in text


def test_a_folder_with_the_empty_mapping_of_a_shell_and_an_archive_are_read_for_stores(tmp_path: Path) -> None:
    folder = write_directory(tmp_path / "data", [store("s1")], [company()])
    (folder / "mapping.toml").write_bytes(b"")
    assert proposal(folder).startswith('# Proposed for "stores.json" from ')
    assert 'store_id = "store_id"\n' in proposal(folder)
    assert "[companies]" not in proposal(folder)
    (folder / "companies.json").unlink()
    assert '[companies]\nfrom = "stores"\n' in proposal(folder)
    archive = tmp_path / "shops.zip"
    archive.write_bytes(zipped({"filialen.csv": (HEADER + ROWS).encode()}))
    assert proposal(archive).startswith('# Proposed for "filialen.csv" from ')


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.xls", b"\xd0\xcf", "files of this format are not read: save it as an Excel workbook (.xlsx)"),
        ("a.xlsx", b"PK\x03\x04", "a.xlsx: not a workbook that can be read: "),
        ("a.csv", b"a;b,c\n", "a.csv:1: the header has commas and semicolons, and which of them delimit"),
        ("a.json", b'{"a": 1}', "a.json: expected an array of records, or an object with one array"),
    ],
)
def test_a_file_that_cannot_be_opened_is_one_line_of_error(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(content)
    found = failure(tmp_path / name)
    assert why in found
    assert "\n" not in found


def test_a_missing_file_and_a_folder_without_stores_are_errors(tmp_path: Path) -> None:
    assert "there is no such file or folder" in failure(tmp_path / "gone.csv")
    assert "stores: the file is missing: put stores.csv" in failure(tmp_path)


def test_a_wrong_option_or_no_file_exits_with_2(file: Path) -> None:
    assert usage("mapping").exit_code == 2
    assert usage("mapping", "https://x.example/a.csv").exit_code == 2
    ended = usage("mapping", file, "--encoding", "klingon")
    assert "--encoding: 'klingon' is not the name of an encoding" in ended.stderr
