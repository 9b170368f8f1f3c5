"""Zip archives of data files: read like a folder, within bounds, and never extracted."""

import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from service.loading.dataset import Loaded, load
from service.reading import text as decompression
from service.reading.diagnostics import FileError
from service.reading.files.container import MAX_ENTRIES, ZipArchive
from service.spool import SpoolError, Spools
from tests.loading.data_files import COMPANIES_FILE, as_csv, dataset, load_files, packed, refusal, rows, store
from tests.thoroughness import some_of
from tests.zip_archives import zipped

STORES_FILE = as_csv([store("s1"), store("s2")])
BOTH = {"companies.csv": COMPANIES_FILE, "stores.csv": STORES_FILE}
MEGABYTE = 1 << 20


def load_archive(folder: Path, stored: bytes) -> Loaded:
    file = folder / "data.zip"
    file.write_bytes(stored)
    return load(file)


def why(stored: bytes) -> str:
    with pytest.raises(FileError) as caught:
        ZipArchive(stored)
    return caught.value.why


@pytest.mark.parametrize("folder", ["", "export/", "export/2024-05/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_archive_gives_the_same_data_as_its_folder(tmp_path: Path, folder: str, method: int) -> None:
    mac = {"__MACOSX/._stores.csv": b"\0", f"{folder}.DS_Store": b"\0", f"{folder}readme.txt": b"hello"}
    mac |= {".cache/stores.csv": b"\0", f"{folder}._stores.csv": b"\0"}
    archive = load_archive(tmp_path, zipped({folder + name: content for name, content in BOTH.items()} | mac, method))
    expected = load_files(tmp_path / "folder", BOTH)
    assert dataset(archive).version == dataset(expected).version
    assert not archive.assumed
    assert list(tmp_path.glob("**/stores.csv")) == [tmp_path / "folder" / "stores.csv"]


def test_the_files_at_the_top_or_in_the_only_folder_with_data_are_used(tmp_path: Path) -> None:
    old, nested = {"old/stores.csv": b"", "old/companies.csv": b""}, {f"d/{name}": each for name, each in BOTH.items()}
    for files in (BOTH | old, {"readme.txt": b"x", **nested}):
        loaded = load_archive(tmp_path, zipped(files))
        assert (loaded.report.errors, len(rows(loaded))) == ([], 2)


def test_an_archive_with_one_data_file_is_like_that_file_and_errors_have_file_and_line(tmp_path: Path) -> None:
    stores = as_csv([store("s1"), store("s2", city="")])
    loaded = load_archive(tmp_path, zipped({"d/Filialen.CSV": stores, "d/readme.txt": b""}))
    assert len(rows(loaded)) == 1
    assert [line.partition(":")[0] for line in loaded.assumed] == ["Filialen.CSV"]
    assert [(error.code, error.file, error.line) for error in loaded.report.errors] == [("missing", "Filialen.CSV", 3)]


@pytest.mark.parametrize("stores", ["stores.tsv", "stores.geojson", "stores.txt"])
def test_the_companies_of_an_archive_are_not_its_only_data_file_in_any_format(tmp_path: Path, stores: str) -> None:
    content = b"[]" if stores.endswith("json") else BOTH["stores.csv"]
    loaded = load_archive(tmp_path, zipped({stores: content, "companies.csv": COMPANIES_FILE, "notes.json": b"{}"}))
    assert {error.file for error in loaded.report.errors} == ({stores} if content == b"[]" else set())


def test_a_manifest_in_an_archive_is_checked(tmp_path: Path) -> None:
    listed = ", ".join(f'"{name}": {{"sha256": "00"}}' for name in (*BOTH, "gone.txt"))
    manifest = {"manifest.json": b'{"files": {%b}}' % listed.encode()}
    errors = load_archive(tmp_path, zipped(BOTH | manifest)).report.errors
    differs = "the SHA-256 of the file does not match manifest.json"
    whys = [differs, differs, "the archive does not have this file"]
    assert [(error.file, error.why) for error in errors] == list(zip((*BOTH, "gone.txt"), whys, strict=True))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"readme.md": b""}, "the archive has no data file, such as stores.csv"),
        ({}, "the archive has no data file, such as stores.csv"),
        ({"stores.zip": zipped(BOTH)}, "the archive has no data file: 'stores.zip' is an archive itself, unpack it"),
        ({"a/stores.csv": b"", "b/companies.csv": b""}, "data files in several folders ('a', 'b'): put them into one"),
        ({"../stores.csv": b""}, "unsafe path: '../stores.csv'"),
        *(({name: b""}, "unsafe path") for name in ("a/../../stores.csv", "/etc/stores.csv", "C:/stores.csv")),
        *(({name: b""}, "unsafe path") for name in ("..\\stores.csv", "a//stores.csv", "./stores.csv")),
        ({"": b""}, "unsafe path: ''"),
    ],
)
def test_archives_without_data_and_with_unsafe_paths_are_refused(files: dict[str, bytes], message: str) -> None:
    assert message in why(zipped(files))


def test_an_empty_file_is_named_as_one() -> None:
    assert why(b"") == "the file is empty"


def test_a_name_that_ends_at_a_nul_is_refused() -> None:
    stored = zipped({"stores.csvX../x": b""}).replace(b"stores.csvX../x", b"stores.csv\0../x")
    assert "unsafe path" in why(stored)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_repeated_name_is_refused() -> None:
    found = why(zipped([("stores.csv", b"a"), ("stores.csv", b"b")]))
    assert found == "the archive has several entries with the name 'stores.csv'"


def test_a_file_that_is_encrypted_or_compressed_in_an_unusual_way_or_twice_is_refused(tmp_path: Path) -> None:
    encrypted = bytearray(zipped(BOTH))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.index(signature) + offset] |= 1
    refused = [(bytes(encrypted), "encrypted")]
    unusual = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    refused += [(zipped({"stores.csv": STORES_FILE}, each), "Deflate") for each in unusual]
    for ending in (".gz", ".zst"):
        twice = f"compressed twice; add it to the archive without {ending}"
        refused.append((zipped({f"stores.csv{ending}": packed(STORES_FILE, ending)}), twice))
    for stored, message in refused:
        assert message in refusal(load_archive(tmp_path, stored)).why


def test_a_bomb_is_refused_before_it_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped({"stores.csv": b" " * (32 * MEGABYTE)})
    monkeypatch.setattr(decompression, "MAX_SIZE", 4 * MEGABYTE)
    tracemalloc.start()
    refused = refusal(load_archive(tmp_path, bomb))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "expands to more than" in refused.why
    assert peak < 24 * MEGABYTE


def test_files_that_share_their_bytes_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "MAX_SIZE", MEGABYTE)
    stored = zipped({"stores.csv": b" " * MEGABYTE, "companies.csv": b" " * MEGABYTE})
    archive = ZipArchive(stored)
    assert len(archive.read("stores.csv")) == MEGABYTE
    with pytest.raises(FileError, match="expands to more than"):
        archive.read("companies.csv")


@pytest.mark.parametrize("size", [0, 1, 100, 0x7FFFFFFF])
@pytest.mark.parametrize("field", [20, 24], ids=["compressed", "expanded"])
def test_sizes_that_lie_are_refused(tmp_path: Path, size: int, field: int) -> None:
    stored = bytearray(zipped({"stores.csv": STORES_FILE * 50}))
    struct.pack_into("<I", stored, stored.index(b"PK\x01\x02") + field, size)
    assert "the archive is damaged" in refusal(load_archive(tmp_path, bytes(stored))).why


def test_too_many_entries_are_refused_before_their_names_are_read() -> None:
    assert len(ZipArchive(zipped({"stores.csv": b""} | {f"{n}.txt": b"" for n in range(MAX_ENTRIES - 1)})).names)
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, 1_000_000 * len(entry), 0, 0)
    stored = entry * 1_000_000 + end
    tracemalloc.start()
    assert why(stored) == "the archive has more than 1,000 entries"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MEGABYTE


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    stored = zipped(BOTH)
    for length in some_of(range(len(stored)), 7):
        assert load_archive(tmp_path, stored[:length]).dataset is None


def test_a_spool_that_cannot_be_written_is_no_error_of_the_file_that_is_read(tmp_path: Path) -> None:
    (file := tmp_path / "stores.csv").write_bytes(b"x" * 100_000)
    with zipfile.ZipFile(archive := tmp_path / "stores.zip", "w") as entries:
        entries.write(file, file.name)
    spools = Spools(tmp_path / "missing", 1 << 10)
    with pytest.raises(SpoolError):
        decompression.copy_stored(file, spools)
    with pytest.raises(SpoolError):
        ZipArchive(archive.read_bytes(), spools).read(file.name)
