"""The manifest: the time of the data, and the checks of every file."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from service.dataset import Totals
from service.loading.dataset import Loaded
from tests.loading.data_files import COMPANIES_FILE, STORE_FIELDS, as_csv, dataset, load_files, packed, refusal, store

FILES = {"companies.csv": COMPANIES_FILE, "stores.csv.gz": packed(as_csv([store(), store()], STORE_FIELDS), ".gz")}
RECORDS = {"companies.csv": 1, "stores.csv.gz": 2}

Listing = dict[str, object]


def listings() -> dict[str, Listing]:
    return {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "records": RECORDS[name]}
        for name, content in FILES.items()
    }


def load_with(folder: Path, manifest: object, **more: bytes) -> Loaded:
    return load_files(folder, FILES | more | {"manifest.json": json.dumps(manifest).encode()})


def test_the_time_of_the_data_comes_from_the_manifest_if_it_has_one(tmp_path: Path) -> None:
    loaded = load_with(tmp_path, {"generated_at": "2024-05-31T10:00:00Z", "files": listings(), "unknown": 1})
    assert dataset(loaded).generated_at == datetime(2024, 5, 31, 10, tzinfo=UTC)
    assert loaded.report.errors == []
    for loaded in (load_files(tmp_path, FILES), load_with(tmp_path, {"files": listings()})):
        assert dataset(loaded).generated_at is None


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    ("listing", "why"),
    [
        ({"sha256": "0" * 64}, "SHA-256"),
        ({"records": 3}, "3"),
        ({"records": None}, "no record count"),
    ],
)
def test_a_file_that_differs_from_its_listing_refuses_the_dataset(
    tmp_path: Path, name: str, listing: Listing, why: str
) -> None:
    files = listings()
    files[name] |= listing
    error = refusal(load_with(tmp_path, {"files": files}))
    assert error.file == name
    assert why in error.why


def test_the_record_count_includes_invalid_records(tmp_path: Path) -> None:
    text = as_csv([store("s1"), store("s1"), store("s2", city="")], STORE_FIELDS) + b"\nx\n"
    files = listings() | {"stores.csv": {"sha256": hashlib.sha256(text).hexdigest(), "records": 4}}
    del files["stores.csv.gz"]
    content = {"companies.csv": COMPANIES_FILE, "stores.csv": text}
    loaded = load_files(tmp_path, content | {"manifest.json": json.dumps({"files": files}).encode()})
    assert dataset(loaded).totals == Totals(stores=1, companies=1, skipped=2, repeated=1)


def test_a_missing_listed_file_and_an_unlisted_data_file_refuse_the_dataset(tmp_path: Path) -> None:
    for name in ("gone.txt", "stores.json", "x" * 300):
        files = listings() | {name: {"sha256": "0" * 64, "records": 1}}
        assert refusal(load_with(tmp_path, {"files": files})).file == name
    for name in FILES:
        files = listings()
        del files[name]
        error = refusal(load_with(tmp_path, {"files": files}))
        assert (error.file, error.why) == (name, "manifest.json does not list the file")


def test_other_files_are_checked_by_digest_only(tmp_path: Path) -> None:
    licence = {"sha256": hashlib.sha256(b"MIT").hexdigest().upper()}
    manifest = {"files": listings() | {"LICENSE": licence}}
    assert load_with(tmp_path, manifest, LICENSE=b"MIT", README=b"").dataset is not None
    assert refusal(load_with(tmp_path, manifest, LICENSE=b"BSD")).file == "LICENSE"


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"[]", b"null", b"{}", b'{"files": []}', b'{"files": {"stores.csv": "00"}}'),
        *(b'{"files": {"stores.csv": {}}}', b'{"files": {"stores.csv": {"sha256": 1}}}'),
        b'{"files": {"stores.csv": {"sha256": "0", "records": true}}}',
        *(b'{"files": {"stores.csv": {"sha256": "0", "records": 1.5}}}', b'{"files": {}, "generated_at": "today"}'),
        *(b'{"files": {}, "generated_at": 1717149600}', b'{"files": {}} {}', b'{"files": {}, "unknown": "\xff"}'),
        b'{"unknown": ' + b"[" * 100_000,
        b'{"files": {}, "unknown": ' + b"[" * 500 + b"]" * 500 + b"}",
        *(b'{"files": {"%b": {"sha256": "0"}}}' % name for name in (b"", b"..", b".", b"a/b", b"a\\\\b", b"\\u0000")),
    ],
)
def test_a_malformed_manifest_refuses_the_dataset(tmp_path: Path, text: bytes) -> None:
    assert refusal(load_files(tmp_path, FILES | {"manifest.json": text})).file == "manifest.json"
